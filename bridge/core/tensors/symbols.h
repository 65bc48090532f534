/* Functions of a library that is opened at run time, as a struct of pointers to them. */
#ifndef BRIDGE_SYMBOLS_H
#define BRIDGE_SYMBOLS_H

#include <stddef.h>

typedef struct br_symbol {
   const char *name;
   size_t field;       /* where in the struct the pointer goes */
} br_symbol;

/* Fill the struct at `functions`. Returns NULL, or the name of the first function that the library lacks; pointers to
   missing functions stay as they were. */
const char *br_symbols(void *library, const br_symbol *wanted, size_t count, void *functions);

#endif
