/* Functions of a library that is opened at run time, as a struct of pointers to them. */
#ifndef BRIDGE_SYMBOLS_H
#define BRIDGE_SYMBOLS_H

#include <stddef.h>

typedef struct br_symbol {
   const char *name;
   size_t field;       /* where in the struct the pointer goes */
} br_symbol;

/* Fill the struct at `functions`. The name of the first one that the library lacks, NULL: none; its pointer stays as it
   was, all others are filled. */
const char *br_symbols(void *library, const br_symbol *wanted, size_t count, void *functions);

#endif
