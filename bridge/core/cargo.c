#include "cargo.h"

#include <stdlib.h>

#define TH_STORAGE_FREEMEM 4

typedef struct piece {
   void *data;
   void (*free)(void *);
} piece;

struct br_cargo {
   int64_t count, room;
   piece *pieces;
};

br_cargo *br_cargo_new(void) { return calloc(1, sizeof(br_cargo)); }

void br_cargo_free(br_cargo *cargo)
{
   for (int64_t i = 0; i < cargo->count; i++) cargo->pieces[i].free(cargo->pieces[i].data);
   free(cargo->pieces);
   free(cargo);
}

int64_t br_cargo_add(br_cargo *cargo, void *data, void (*give_back)(void *))
{
   if (cargo->count == cargo->room) {
      int64_t room = cargo->room ? 2 * cargo->room : 8;
      piece *pieces = realloc(cargo->pieces, (size_t)room * sizeof *pieces);
      if (!pieces) return -1;
      cargo->pieces = pieces;
      cargo->room = room;
   }
   cargo->pieces[cargo->count] = (piece){data, give_back};
   return cargo->count++;
}

static void unload(void *cargo, void *data)
{
   (void)data;
   br_cargo_free(cargo);
}

static br_th_allocator unloading = {NULL, NULL, unload};

void br_cargo_load(br_cargo *cargo, br_storage *storage)
{
   storage->allocator = &unloading;
   storage->allocatorContext = cargo;
   storage->flag |= TH_STORAGE_FREEMEM;
}

void *br_cargo_find(const br_storage *storage, int64_t number, void (*give_back)(void *))
{
   if (storage->allocator != &unloading) return NULL;
   const br_cargo *cargo = storage->allocatorContext;
   if (number < 0 || number >= cargo->count || cargo->pieces[number].free != give_back) return NULL;
   return cargo->pieces[number].data;
}
