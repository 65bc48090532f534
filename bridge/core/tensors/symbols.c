#include "tensors/symbols.h"

#include <dlfcn.h>
#include <string.h>

const char *br_symbols(void *library, const br_symbol *wanted, size_t count, void *functions)
{
   const char *missing = NULL;
   for (size_t i = 0; i < count; i++) {
      void *f = dlsym(library, wanted[i].name);
      if (f) memcpy((char *)functions + wanted[i].field, &f, sizeof f);
      else if (!missing) missing = wanted[i].name;
   }
   return missing;
}
