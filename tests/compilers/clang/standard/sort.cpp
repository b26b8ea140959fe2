#include "host.h"

KERNEL void sort_all(int *data, int n) {
  std::sort(data, data + n, std::greater<>());
  std::stable_partition(data, data + n, [](int x) { return x % 2; });
  data[0] = clamp(std::accumulate(data, data + n, 0));
}

KERNEL void heap(double *data, int n) {
  std::make_heap(data, data + n);
  std::sort_heap(data, data + n);
  std::nth_element(data, data + n / 2, data + n);
  data[0] = clamp(data[n / 2]);
}

KERNEL void rows(int *out, int n) {
  std::vector<std::array<int, 3>> all;
  for (int i = 0; i < n; i++)
    all.push_back({i, n - i, i * i});
  std::sort(all.begin(), all.end(), [](auto &a, auto &b) { return std::tie(a[1], a[0]) < std::tie(b[1], b[0]); });
  out[0] = all.front()[2] + shared_count;
}
