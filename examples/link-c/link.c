/* Links objects in memory: link ARCH OUTPUT INPUT... */
#include <cuweld.h>
#include <stdio.h>
#include <stdlib.h>

static void *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END)) return NULL;
  *size = (size_t)ftell(file);
  rewind(file);
  void *bytes = malloc(*size + 1);
  if (!bytes || fread(bytes, 1, *size, file) != *size) return NULL;
  fclose(file);
  return bytes;
}

static int tell(const char *pass, size_t number, size_t of, void *data) {
  (void)of;
  if (getenv("VERBOSE")) printf("%zu %s\n", number, pass);
  ++*(size_t *)data;
  return getenv("CANCEL") != NULL; /* anything but 0 ends the link */
}

static void show(const cuweld_linked *linked) {
  for (size_t i = 0; i < cuweld_linked_finding_count(linked); ++i) {
    cuweld_finding finding;
    cuweld_linked_finding(linked, i, &finding);
    printf("%s: %s\n%s", finding.code, finding.message, finding.explanation);
  }
}

int main(int argc, char **argv) {
  if (argc < 4) return 2;
  cuweld_linker *linker;
  if (cuweld_linker_create(argv[1], &linker)) {
    printf("'%s' is no architecture\n", argv[1]);
    return 2;
  }
  const char *toolkit = "13.0.88";
  size_t passes = 0;
  const char *map = "true";
  cuweld_status status = cuweld_linker_set(linker, "toolkit", &toolkit, 1);
  if (!status) status = cuweld_linker_set(linker, "map", &map, 1);
  if (!status) status = cuweld_linker_set_progress(linker, tell, &passes);
  for (int i = 3; i < argc && !status; ++i) {
    size_t size = 0;
    void *bytes = read_file(argv[i], &size);
    if (!bytes) {
      printf("cannot read '%s'\n", argv[i]);
      return 2;
    }
    status = cuweld_linker_add(linker, bytes, size, CUWELD_KIND_ANY, argv[i]);
    free(bytes); /* the linker has a copy */
  }
  cuweld_linked *linked = NULL;
  if (!status) status = cuweld_linker_link(linker, &linked);
  if (status) printf("error %d: %s\n", status, cuweld_linker_error(linker));
  show(linked);
  size_t size;
  const uint8_t *cubin = cuweld_linked_cubin(linked, &size);
  if (cubin) {
    FILE *file = fopen(argv[2], "wb");
    if (!file || fwrite(cubin, 1, size, file) != size || fclose(file)) return 2;
    cuweld_statistics statistics = cuweld_linked_statistics(linked);
    printf("cuweld %s: %zu inputs of %llu bytes, %llu bytes of output, %s passes\n", cuweld_version(), statistics.inputs,
           (unsigned long long)statistics.input_bytes, (unsigned long long)statistics.output_bytes, passes ? "some" : "no");
  }
  if (getenv("MAP") && cuweld_linked_map(linked)) puts(cuweld_linked_map(linked)); /* JSON */
  cuweld_linked_destroy(linked);
  cuweld_linker_destroy(linker);
  return status ? 1 : 0;
}
