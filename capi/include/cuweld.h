// The C interface of cuweld, the open CUDA device linker; docs/using/library.md tells how to use it.
// Made by cbindgen of capi/src: `cargo xtask bless capi`.

#ifndef CUWELD_H
#define CUWELD_H

#include <stddef.h>
#include <stdint.h>

// What a call returns.
typedef enum {
  // It did what it is for.
  CUWELD_STATUS_OK = 0,
  // A pointer is null where none may be, a text is no UTF-8, or the linker has linked already.
  CUWELD_STATUS_INVALID = 1,
  // There is no such architecture.
  CUWELD_STATUS_UNKNOWN_ARCH = 2,
  // There is no such setting, or it does not take the value.
  CUWELD_STATUS_BAD_SETTING = 3,
  // The bytes are of another kind than was said.
  CUWELD_STATUS_OTHER_KIND = 4,
  // All inputs have more bytes than the setting `input-limit` allows.
  CUWELD_STATUS_TOO_LARGE = 5,
  // The link failed; the findings say why.
  CUWELD_STATUS_FAILED = 6,
  // The function that is told of progress ended the link.
  CUWELD_STATUS_CANCELLED = 7,
  // A fault in cuweld. No output is handed out.
  CUWELD_STATUS_FAULT = 8,
} cuweld_status;

// How bad a finding is. A link has an output if nothing is worse than `ERROR_LINE`.
typedef enum {
  // Part of a report that was asked for.
  CUWELD_SEVERITY_REPORT = 0,
  // nvlink says nothing here.
  CUWELD_SEVERITY_NOTE = 1,
  // For information.
  CUWELD_SEVERITY_INFO = 2,
  // The link goes on and succeeds.
  CUWELD_SEVERITY_WARNING = 3,
  // nvlink writes an error line, and links.
  CUWELD_SEVERITY_ERROR_LINE = 4,
  // The link goes on to find more, and fails.
  CUWELD_SEVERITY_ERROR = 5,
  // The link ends here.
  CUWELD_SEVERITY_FATAL = 6,
} cuweld_severity;

// What an input is.
typedef enum {
  // What its bytes say.
  CUWELD_KIND_ANY = 0,
  // A device ELF file.
  CUWELD_KIND_CUBIN = 1,
  // PTX: text, to the first NUL.
  CUWELD_KIND_PTX = 2,
  // LTO-IR as the compiler writes it.
  CUWELD_KIND_LTO_IR = 3,
  // A fatbin: code for several targets.
  CUWELD_KIND_FATBIN = 4,
  // A host object with device code.
  CUWELD_KIND_OBJECT = 5,
  // An archive of host objects.
  CUWELD_KIND_LIBRARY = 6,
} cuweld_kind;

// What came of a link: the output, if there is one, and findings. It does not change: any number of
// threads may read it.
typedef struct cuweld_linked cuweld_linked;

// A link that is to be done. It may be handed from thread to thread, and belongs to one at a time.
typedef struct cuweld_linker cuweld_linker;

// Is told of each pass before it runs: its name, its number from 1, their number, and what was
// given with the function. Anything but 0 cancels the link. It may be called on another thread
// than that which links, never on two at once.
typedef int (*cuweld_progress)(const char *pass, size_t number, size_t of, void *data);

// A finding. The texts stay as long as what it is a finding of.
typedef struct {
  // How bad it is.
  cuweld_severity severity;
  // What it is about, such as "link/undefined": `cuweld explain` says more.
  const char *code;
  // What nvlink would say, or one line that begins with "cuweld: ".
  const char *message;
  // What more is known and what can be done: lines that begin with "note: " and "help: ", or "".
  const char *explanation;
} cuweld_finding;

// How much was linked.
typedef struct {
  // Inputs that were added.
  size_t inputs;
  // Their bytes.
  uint64_t input_bytes;
  // Bytes of the output.
  uint64_t output_bytes;
} cuweld_statistics;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Returns the version of the library, such as "0.1.0".
const char *cuweld_version(void);

// Begins a link for a target such as "sm_90". Without one the place for it gets null.
//
// Conditions:
// `arch` is null or ends with NUL.
cuweld_status cuweld_linker_create(const char *arch, cuweld_linker **linker);

// Frees what `cuweld_linker_create` made, linked or not. Null is nothing.
void cuweld_linker_destroy(cuweld_linker *linker);

// Sets what a word names, such as "toolkit", "debug" or "kernels-used": docs/using/library.md lists
// the words. A setting that is on or off takes no value, "true" or "false".
//
// Conditions:
// `word` and each of `count` values end with NUL or are null.
cuweld_status cuweld_linker_set(cuweld_linker *linker, const char *word, const char *const *values, size_t count);

// Tells a function of each pass. Null tells nobody.
//
// Conditions:
// The function may be called with `data` on another thread, until the link has ended; it does not
// unwind.
cuweld_status cuweld_linker_set_progress(cuweld_linker *linker, cuweld_progress function, void *data);

// Adds an input: a copy of its bytes, what it is (a number of `cuweld_kind`), and the name that
// messages use.
//
// Conditions:
// `data` is null or has so many bytes; `name` is null or ends with NUL.
cuweld_status cuweld_linker_add(cuweld_linker *linker, const void *data, size_t size, uint32_t kind, const char *name);

// Returns what the last call for this linker that failed says of it: "" if none did. It stays until
// the next call.
const char *cuweld_linker_error(const cuweld_linker *linker);

// Links, which a linker does once. What came of it is handed out also where the link fails: the
// findings say why.
cuweld_status cuweld_linker_link(cuweld_linker *linker, cuweld_linked **linked);

// Frees what `cuweld_linker_link` made. Null is nothing.
void cuweld_linked_destroy(cuweld_linked *linked);

// Returns the output, and its size in bytes if `size` is not null. It stays as long as what it is
// the output of; null if there is none.
const uint8_t *cuweld_linked_cubin(const cuweld_linked *linked, size_t *size);

// Returns the number of findings.
size_t cuweld_linked_finding_count(const cuweld_linked *linked);

// Reads a finding, counted from 0.
cuweld_status cuweld_linked_finding(const cuweld_linked *linked, size_t index, cuweld_finding *finding);

// Returns how much was linked: nothing if there is no output.
cuweld_statistics cuweld_linked_statistics(const cuweld_linked *linked);

// Returns the map of the output as JSON, if the setting `map` asks for it: what lies where, and which
// input it came from. docs/using/files.md says what it holds. Null if there is none.
const char *cuweld_linked_map(const cuweld_linked *linked);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* CUWELD_H */
