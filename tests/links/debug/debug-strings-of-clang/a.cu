#define G __attribute__((global))
#define D __attribute__((device))
extern "C" D int vprintf(const char*, const char*);
struct S { int a; const char *n; double d[3]; };
D S table[2] = {{1,"one",{1,2,3}},{2,"two",{4,5,6}}};
D int other(int, const char *);
template<class T> D T twice(T x){ return x+x; }
namespace { D int hidden(int x){ return x*3; } }
G void k1(int *p){ int v=twice(*p)+hidden(2); vprintf("v %d\n",(const char*)&v); *p=other(v,"k1 says"); }
