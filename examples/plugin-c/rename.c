/* A plugin in C with the pass `rename{args=["old","new"]}`: every name that is `old`, or ends with `.old` as sections
 * of a function do, becomes `new` in the text.
 *
 *   cc -shared -fPIC -Iplugin/include -o rename.so examples/plugin-c/rename.c
 *   cuweld opt a.cubin --arch=sm_90 --load-pass-plugin ./rename.so --passes 'classify,rename{args=["old","new"]}' -o a.lir */
#include <stdlib.h>
#include <string.h>

#include "cuweld-plugin.h"

static int32_t fail(cuweld_output *output, const char *message) {
  output->size = strlen(message);
  output->data = malloc(output->size + 1);
  if (output->data) memcpy(output->data, message, output->size);
  return 1;
}

/* Letters of a plain name, without the dot: what is behind one is a name of its own here. */
static int in_name(uint8_t c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' || c == '@' || c == '?';
}

static int32_t run(const uint8_t *input, size_t size, const char *const *args, size_t arg_count, cuweld_output *output) {
  if (arg_count != 2 || !*args[0] || !*args[1]) return fail(output, "it takes two arguments, the old and the new name");
  size_t old_size = strlen(args[0]), new_size = strlen(args[1]), count = 0, i, out = 0;
  for (i = 0; i + old_size <= size; i++) count += memcmp(input + i, args[0], old_size) == 0;
  uint8_t *text = malloc(size + count * new_size + 1);
  if (!text) return fail(output, "out of memory");
  for (i = 0; i < size;) {
    int here = i + old_size <= size && memcmp(input + i, args[0], old_size) == 0;
    int begins = i == 0 || !in_name(input[i - 1]);
    int ends = i + old_size >= size || (!in_name(input[i + old_size]) && input[i + old_size] != '.');
    if (here && begins && ends) {
      memcpy(text + out, args[1], new_size);
      out += new_size;
      i += old_size;
    } else {
      text[out++] = input[i++];
    }
  }
  output->data = text;
  output->size = out;
  return 0;
}

static void release(cuweld_output *output) {
  free(output->data);
  output->data = NULL;
}

static const cuweld_pass passes[] = {{"rename", "Give a name another name", "classified", NULL, run, release}};
static const cuweld_plugin_info plugin = {CUWELD_PLUGIN_ABI, CUWELD_LIR_GRAMMAR, 1, passes};

const cuweld_plugin_info *cuweld_plugin(void) { return &plugin; }
