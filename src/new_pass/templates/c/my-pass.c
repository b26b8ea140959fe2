/* A plugin with the pass `my-pass{limit=32}`: warns of kernels that need more registers than a limit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuweld-plugin.h"

/* The options, in the order of their values. */
enum { LIMIT };

static const cuweld_option options[] = {
    {"limit", CUWELD_INTEGER, "32", "The most registers that a kernel may need."},
};

/* What is known while the lines of the text are read. A row is a line, so that no id is above their number. */
typedef struct state {
  const cuweld_call *call;
  size_t lines;
  char *is_kernel; /* by the id of a symbol */
} state;

static void read_line(state *state, const char *line) {
  unsigned long function, symbol;
  const char *registers;
  long long limit = state->call->options[LIMIT].integer, count;
  if (sscanf(line, " %%%lu ", &symbol) == 1 && symbol < state->lines && strstr(line, " other=ENTRY")) {
    state->is_kernel[symbol] = 1;
    state->call->count(state->call->context, "kernels", 1);
    return;
  }
  if (sscanf(line, " fn%lu %%%lu:", &function, &symbol) != 2 || symbol >= state->lines || !state->is_kernel[symbol]) return;
  registers = strstr(line, " registers=");
  if (!registers || (count = atoll(registers + strlen(" registers="))) <= limit) return;
  char row[32], message[80];
  snprintf(row, sizeof row, "fn%lu", function);
  snprintf(message, sizeof message, "needs %lld registers, more than %lld", count, limit);
  /* What is shown begins with the name of the row. */
  cuweld_finding warning = {.severity = CUWELD_WARNING, .code = "many-registers", .message = message, .row = row};
  state->call->report(state->call->context, &warning);
}

static int32_t run(const cuweld_call *call, cuweld_output *output) {
  size_t i;
  char *text = malloc(call->size + 1), *line, *next;
  state state = {call, 1, NULL};
  (void)output; /* stays empty: the module does not change */
  if (!text) return CUWELD_FAILED;
  memcpy(text, call->input, call->size);
  text[call->size] = 0;
  for (i = 0; i < call->size; i++) state.lines += text[i] == '\n';
  state.is_kernel = calloc(state.lines, 1);
  for (line = text; state.is_kernel && line; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    read_line(&state, line);
  }
  free(state.is_kernel);
  free(text);
  return CUWELD_DONE;
}

/* Frees what `run` has put out. */
static void release(cuweld_output *output) {
  free(output->data);
  output->data = NULL;
}

static const cuweld_pass passes[] = {
    {"my-pass", "Warn of kernels that need more registers than a limit", "classified", NULL, options, 1, run, release},
};
static const cuweld_plugin_info plugin = {CUWELD_PLUGIN_ABI, CUWELD_LIR_GRAMMAR, 1, passes};

const cuweld_plugin_info *cuweld_plugin(void) { return &plugin; }
