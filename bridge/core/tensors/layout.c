#include "tensors/layout.h"

size_t br_element_size(int dtype)
{
   static const unsigned char sizes[BR_TYPES] = {1, 1, 2, 4, 8, 2, 4, 8, 1, 1, 2, 4, 8, 2, 4, 8};
   return sizes[dtype];
}
