#define G __attribute__((global))
#define D __attribute__((device))
extern "C" D int vprintf(const char*, const char*);
template<class T> D T twice(T x){ return x+x; }
namespace { D int hidden(int x){ return x*5; } }
D int other(int x, const char *s){ switch(x){case 1: return s[0]; case 2: return s[1]+hidden(x); case 5: return twice(x); case 7: return s[2]; case 9: return 3; default: vprintf(s,0);} return twice(x); }
G void k2(int *p){ *p=other(*p,"k2 says"); }
