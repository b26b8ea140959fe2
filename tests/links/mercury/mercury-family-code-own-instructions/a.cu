__global__ void scale(double *p)
{
    p[0] = p[1] * p[2];
}
