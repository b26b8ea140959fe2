template<class T> __device__ __noinline__ T op(T a,int b){ T s=a; for(int i=0;i<b;i++) s=s*a+i; return s; }
__global__ void k2(int*p){ p[0]=op<int>(p[1]+1,p[2]); }
