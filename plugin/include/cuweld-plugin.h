/* The C ABI of cuweld's pass plugins, version 1; docs/framework/writing-passes.md tells how to use it.
 *
 * A plugin is a shared library that exports `cuweld_plugin`. A pass of it gets a module in text form
 * (docs/framework/lir.md) and gives back a module in text form; cuweld parses and verifies that before it goes on.
 * No handle of cuweld ever reaches a plugin. Nothing may unwind (C++ exceptions, longjmp) into cuweld. */
#ifndef CUWELD_PLUGIN_H
#define CUWELD_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#define CUWELD_PLUGIN_ABI 1u /* this file */
#define CUWELD_LIR_GRAMMAR 1u /* the number after `lir` in the first line of a text */

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that the plugin owns until cuweld hands them to `release`. */
typedef struct cuweld_output {
  uint8_t *data;
  size_t size;
} cuweld_output;

typedef struct cuweld_pass {
  const char *name;        /* in pipelines; letters, digits, '-' */
  const char *summary;     /* one line */
  const char *requires;    /* the phase that a module must have reached, such as "classified" */
  const char *establishes; /* the phase that it has reached afterwards, or NULL if that is the same */
  /* Runs on `input`, which is UTF-8 and stays valid during the call, with the pipeline's `args=[...]`.
   * Returns 0 with the new module in `output` (left as it is, all zero: the module does not change), anything
   * else with what is wrong, as text, in `output`. May be called again, not from two threads at once. */
  int32_t (*run)(const uint8_t *input, size_t size, const char *const *args, size_t arg_count, cuweld_output *output);
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
