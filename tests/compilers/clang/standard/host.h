// What the units share: C++ with the host's standard library, of which only what stands in headers is there.
#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#define KERNEL extern "C" __attribute__((nvptx_kernel))

struct shape {
  virtual ~shape() = default;
  virtual double area() const = 0;
  virtual std::string_view name() const { return "shape"; }
};

struct coloured : virtual shape {
  int colour = 3;
  double area() const override { return colour; }
};

struct solid : virtual shape {
  double density = 2;
  std::string_view name() const override;
};

struct box : coloured, solid {
  double side;
  explicit box(double s) : side(s) {}
  double area() const override;
};

struct add { int by; };
struct scale { float by; };
struct swap_with { int *other; };
using change = std::variant<add, scale, swap_with>;

int run(change, int);
inline int shared_count = 0;
template <class T> inline T limit = T(100);
template <class T> T clamp(T x) { shared_count++; return std::min(x, limit<T>); }
extern template double clamp(double);
