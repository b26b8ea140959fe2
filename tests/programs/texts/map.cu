#include <cstdio>
#include <cstdlib>
#include "text.h"

struct Entry {
  Word word;
  unsigned count;
  Entry *next;
};

__device__ Entry *buckets[64];

__global__ void count_words(const char *text, unsigned n) {
  cuda::std::span<const char> rest(text, n);
  while (auto word = next_word(rest)) {
    Entry *&bucket = buckets[hash_of(*word) % 64];
    Entry *entry = bucket;
    while (entry && hash_of(entry->word) != hash_of(*word)) entry = entry->next;
    if (!entry) {
      entry = (Entry *)malloc(sizeof(Entry));
      if (!entry) {
        printf("no memory for %.*s\n", int(word->length), word->begin);
        __trap();
      }
      *entry = Entry{*word, 0, bucket};
      bucket = entry;
    }
    entry->count += 1;
  }
}

__global__ void drop_words() {
  for (Entry *&bucket : buckets)
    while (bucket) {
      Entry *next = bucket->next;
      free(bucket);
      bucket = next;
    }
}
