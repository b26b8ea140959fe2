#include "host.h"

template <class... F> struct overloaded : F... { using F::operator()...; };
template <class... F> overloaded(F...) -> overloaded<F...>;

int run(change c, int x) {
  return std::visit(overloaded{[&](add a) { return x + a.by; }, [&](scale s) { return int(x * s.by); },
                               [&](swap_with s) { return std::exchange(*s.other, x); }}, c);
}

template double clamp(double);

KERNEL void changes(int *data, int n) {
  change all[] = {add{3}, scale{1.5f}, swap_with{data + 1}};
  for (int i = 0; i < n; i++)
    data[i] = run(all[i % 3], data[i]) + clamp(i);
}

static std::optional<int> find(std::string_view text, char c) {
  auto at = text.find(c);
  return at == text.npos ? std::nullopt : std::optional<int>(at);
}

KERNEL void texts(int *out, char c) {
  out[0] = find("some text of a unit", c).value_or(-1) + find("another", c).value_or(-2);
}
