/* A plugin in C with the pass `rename{from="old",to="new"}`: every name that is `old`, or ends with `.old` as sections
 * of a function do, becomes `new` in the text.
 *
 *   cc -shared -fPIC -Iplugin/include -o rename.so examples/plugin-c/rename.c
 *   cuweld opt a.cubin --arch=sm_90 --load-pass-plugin ./rename.so --passes 'classify,rename{from="old",to="new"}' -o a.lir */
#include <stdlib.h>
#include <string.h>

#include "cuweld-plugin.h"

static int32_t fail(cuweld_output *output, const char *message) {
  output->size = strlen(message);
  output->data = malloc(output->size + 1);
  if (output->data) memcpy(output->data, message, output->size);
  return CUWELD_FAILED;
}

/* Letters of a plain name, without the dot: what is behind one is a name of its own here. */
static int in_name(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '@' || c == '?';
}

/* The options, in the order of their values. */
enum { FROM, TO };

static const cuweld_option options[] = {
    {"from", CUWELD_STRING, "''", "The name to replace."},
    {"to", CUWELD_STRING, "''", "Its new name."},
};

static int32_t run(const cuweld_call *call, cuweld_output *output) {
  const char *from = call->options[FROM].string, *to = call->options[TO].string;
  const uint8_t *input = call->input;
  if (!*from || !*to) return fail(output, "it needs the options 'from' and 'to'");
  size_t size = call->size, old_size = strlen(from), new_size = strlen(to), count = 0, replaced = 0, i, out = 0;
  for (i = 0; i + old_size <= size; i++) count += memcmp(input + i, from, old_size) == 0;
  uint8_t *text = malloc(size + count * new_size + 1);
  if (!text) return fail(output, "out of memory");
  for (i = 0; i < size;) {
    int here = i + old_size <= size && memcmp(input + i, from, old_size) == 0;
    int begins = i == 0 || !in_name(input[i - 1]);
    int ends = i + old_size >= size || (!in_name(input[i + old_size]) && input[i + old_size] != '.');
    if (here && begins && ends) {
      memcpy(text + out, to, new_size);
      out += new_size;
      replaced++;
      i += old_size;
    } else {
      text[out++] = input[i++];
    }
  }
  output->data = text;
  output->size = out;
  call->count(call->context, "names", replaced);
  if (replaced == 0) {
    cuweld_finding finding = {.severity = CUWELD_WARNING, .code = "no-such-name", .message = "nothing has the name to replace"};
    call->report(call->context, &finding);
  }
  return CUWELD_DONE;
}

static void release(cuweld_output *output) {
  free(output->data);
  output->data = NULL;
}

static const cuweld_pass passes[] = {{"rename", "Give a name another name", "classified", NULL, options, 2, run, release}};
static const cuweld_plugin_info plugin = {CUWELD_PLUGIN_ABI, CUWELD_LIR_GRAMMAR, 1, passes};

const cuweld_plugin_info *cuweld_plugin(void) { return &plugin; }
