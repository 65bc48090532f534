// Whether numbers are finite.
#pragma once

#include <cstdint>

namespace ps {

// Of `count` floating-point numbers of a dtype: neither infinite nor NaN.
bool are_finite(int32_t dtype, const char *numbers, uint64_t count);

} // namespace ps
