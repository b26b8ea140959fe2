#pragma once

class Shape {
 public:
  __device__ virtual ~Shape() {}
  __device__ virtual float area() const = 0;
  __device__ virtual int corners() const { return 0; }
};

class Named {
 public:
  __device__ virtual const char *name() const = 0;
};

class Circle : public Shape, public Named {
 public:
  __device__ explicit Circle(float r) : r(r) {}
  __device__ float area() const override;
  __device__ const char *name() const override;

 protected:
  float r;
};

class Polygon : public virtual Shape {
 public:
  __device__ explicit Polygon(int n) : n(n) {}
  __device__ int corners() const override { return n; }

 protected:
  int n;
};

class Square final : public Polygon, public Named {
 public:
  __device__ explicit Square(float a) : Polygon(4), a(a) {}
  __device__ float area() const override { return a * a; }
  __device__ const char *name() const override;

 private:
  float a;
};

extern __device__ Shape *make(int kind, float size);
extern __device__ float total_area(Shape *const *shapes, int n);
