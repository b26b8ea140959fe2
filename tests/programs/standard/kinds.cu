#include <cuda/std/variant>

struct Square {
  float side;
  __device__ float area() const { return side * side; }
};
struct Circle {
  float radius;
  __device__ float area() const { return 3.14159f * radius * radius; }
};

__device__ float kind(int which, float value) {
  cuda::std::variant<Square, Circle> shape = Square{value};
  if (which) shape = Circle{value};
  return cuda::std::visit([](const auto& of) { return of.area(); }, shape);
}
