/* The C ABI of cuweld's pass plugins, version 2; docs/framework/writing-passes.md tells how to use it.
 *
 * A plugin is a shared library that exports `cuweld_plugin`. A pass of it gets a module in text form
 * (docs/framework/lir.md) and gives back a module in text form; cuweld parses and verifies that before it goes on.
 * Beside that it can report findings and count. Nothing may unwind (C++ exceptions, longjmp) into cuweld. */
#ifndef CUWELD_PLUGIN_H
#define CUWELD_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define CUWELD_PLUGIN_ABI 2u /* this file */
#define CUWELD_LIR_GRAMMAR 1u /* the number after `lir` in the first line of a text */

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that the plugin owns until cuweld hands them to `release`. */
typedef struct cuweld_output {
  uint8_t *data;
  size_t size;
} cuweld_output;

/* What values an option takes. */
enum {
  CUWELD_BOOL = 1,    /* true or false */
  CUWELD_INTEGER = 2, /* a whole number */
  CUWELD_STRING = 3,  /* a text */
  CUWELD_STRINGS = 4  /* a list of texts */
};

/* An option of a pass. Names and values that pipelines give are checked before an input is opened. */
typedef struct cuweld_option {
  const char *name;          /* its key in pipelines; letters, digits, '-'; not "bytes", which every plugin's pass has */
  uint32_t type;             /* CUWELD_BOOL, ... */
  const char *default_value; /* as pipelines spell it: "false", "32", "'a text'", "['a', 'b']" */
  const char *doc;           /* a sentence */
} cuweld_option;

/* The value of an option, or its default. The fields of other types are 0 and NULL. */
typedef struct cuweld_value {
  int64_t integer;            /* of CUWELD_INTEGER; 0 or 1 of CUWELD_BOOL */
  const char *string;         /* of CUWELD_STRING */
  const char *const *strings; /* of CUWELD_STRINGS */
  size_t string_count;
} cuweld_value;

/* How bad a finding is. */
enum {
  CUWELD_REMARK = 1,  /* what the pass decided, shown with --remarks */
  CUWELD_INFO = 2,    /* for information */
  CUWELD_WARNING = 3, /* the link goes on and succeeds */
  CUWELD_ERROR = 4    /* the link goes on, to find more, and fails */
};

/* A finding. Texts need not stay valid after the call of `report`. */
typedef struct cuweld_finding {
  uint32_t severity;        /* CUWELD_WARNING, ... */
  const char *code;         /* lower-case letters, digits, '-': shown as extension/CODE; NULL: extension/finding */
  const char *message;      /* one line; of a remark, what follows the name of the row */
  const char *row;          /* the id of the row that it is about, such as "fn3", or NULL */
  const char *const *notes; /* what more is known, a line each */
  size_t note_count;
  const char *const *helps; /* what can be done, a line each */
  size_t help_count;
} cuweld_finding;

/* What a pass is given. All of it stays valid during the call of `run`, and no longer. */
typedef struct cuweld_call {
  const uint8_t *input; /* the module, as UTF-8 */
  size_t size;
  const cuweld_value *options; /* one for each option of the pass, in its order */
  size_t option_count;
  void *context; /* for the functions below, which only the thread of the call may use */
  void (*report)(void *context, const cuweld_finding *finding);
  void (*count)(void *context, const char *name, uint64_t more); /* adds to a counter, which --stats shows */
} cuweld_call;

/* What `run` returns. */
enum {
  CUWELD_DONE = 0,    /* the new module is in `output`; left as it is, all zero: the module does not change */
  CUWELD_FAILED = 1,  /* the link ends; what is wrong is in `output`, as text */
  CUWELD_CRASHED = 2  /* the same, of a fault of the pass: cuweld leaves a reproducer */
};

typedef struct cuweld_pass {
  const char *name;        /* in pipelines; letters, digits, '-' */
  const char *summary;     /* one line */
  const char *requires;    /* the phase that a module must have reached, such as "classified" */
  const char *establishes; /* the phase that it has reached afterwards, or NULL if that is the same */
  const cuweld_option *options;
  size_t option_count;
  /* Runs the pass. May be called again, not from two threads at once. */
  int32_t (*run)(const cuweld_call *call, cuweld_output *output);
  /* Takes back what `run` put into `output`; called once for each call of `run` that left data there. */
  void (*release)(cuweld_output *output);
} cuweld_pass;

typedef struct cuweld_plugin_info {
  uint32_t abi;     /* CUWELD_PLUGIN_ABI */
  uint32_t grammar; /* CUWELD_LIR_GRAMMAR */
  size_t pass_count;
  const cuweld_pass *passes;
} cuweld_plugin_info;

/* What cuweld looks up. The table and all that it points to have to stay valid: plugins are never unloaded. */
const cuweld_plugin_info *cuweld_plugin(void);

#ifdef __cplusplus
}
#endif
#endif
