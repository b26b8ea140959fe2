__global__ void run(int *p) { *p = 1; }
void launch(int *p) { run<<<1, 1>>>(p); }
