// Arithmetic on values, one row per dtype.
#pragma once

#include <cstdint>

#include "store/rules.h"

namespace ps {

const char *name_of_dtype(int32_t dtype);
uint32_t element_bytes(int32_t dtype); // 0 if the dtype is unknown

// value[i] += update[i]. Integers wrap around; the 16-bit floats add in float32 and round to the nearest, ties to even.
Apply add_kernel(int32_t dtype);
Merge merge_kernel(int32_t dtype); // the same

} // namespace ps
