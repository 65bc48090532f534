#include "threads/passed_references.h"

#include <stdlib.h>

#define TH_STORAGE_FREEMEM 4

typedef struct reference {
   void *data;
   void (*free)(void *);
} reference;

struct br_passed {
   int64_t count, room;
   reference *references;
};

br_passed *br_passed_new(void) { return calloc(1, sizeof(br_passed)); }

void br_passed_free(br_passed *passed)
{
   for (int64_t i = 0; i < passed->count; i++) passed->references[i].free(passed->references[i].data);
   free(passed->references);
   free(passed);
}

int64_t br_passed_add(br_passed *passed, void *data, void (*give_back)(void *))
{
   if (passed->count == passed->room) {
      int64_t room = passed->room ? 2 * passed->room : 8;
      reference *references = realloc(passed->references, (size_t)room * sizeof *references);
      if (!references) return -1;
      passed->references = references;
      passed->room = room;
   }
   passed->references[passed->count] = (reference){data, give_back};
   return passed->count++;
}

static void release(void *passed, void *data)
{
   (void)data;
   br_passed_free(passed);
}

static br_th_allocator releasing = {NULL, NULL, release};

void br_passed_attach(br_passed *passed, br_storage *storage)
{
   storage->allocator = &releasing;
   storage->allocatorContext = passed;
   storage->flag |= TH_STORAGE_FREEMEM;
}

void *br_passed_find(const br_storage *storage, int64_t number, void (*give_back)(void *))
{
   if (storage->allocator != &releasing) return NULL;
   const br_passed *passed = storage->allocatorContext;
   if (number < 0 || number >= passed->count || passed->references[number].free != give_back) return NULL;
   return passed->references[number].data;
}
