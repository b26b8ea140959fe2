struct Big { double v[40]; int tag; }; struct Three { int a, b, c; };
__device__ __noinline__ double eval(Big b, double x) { double s = 0; for (int i = 0; i < 40; i++) s += b.v[i] * exp(x * i); return s + sin(x) + b.tag; }
__device__ __noinline__ Three turn(Three t) { return {t.c, t.a * t.b, t.b}; }
