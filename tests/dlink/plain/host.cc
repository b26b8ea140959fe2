int of_host(int x) { return x; }
