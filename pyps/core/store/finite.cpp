#include "store/finite.h"

#include "ps.h"
#include "store/processors.h"

namespace ps {

namespace {

// The exponent of what is not finite has all bits set.
template <class Bits, Bits exponent>
[[gnu::always_inline]] inline void look(const char *numbers, uint64_t count, bool *finite) {
    auto *bits = reinterpret_cast<const Bits *>(numbers);
    Bits odd = 0;
    for (uint64_t i = 0; i < count; i++) odd |= (bits[i] & exponent) == exponent;
    *finite = !odd;
}

using Look = void (*)(const char *numbers, uint64_t count, bool *finite);

ForProcessor<Look> look_of(int32_t dtype) {
    switch (dtype) {
    case PS_FLOAT64: return for_processors<look<uint64_t, 0x7ff0000000000000>>;
    case PS_FLOAT16: return for_processors<look<uint16_t, 0x7c00>>;
    case PS_BFLOAT16: return for_processors<look<uint16_t, 0x7f80>>;
    default: return for_processors<look<uint32_t, 0x7f800000>>;
    }
}

} // namespace

bool are_finite(int32_t dtype, const char *numbers, uint64_t count) {
    bool finite = true;
    look_of(dtype).best()(numbers, count, &finite);
    return finite;
}

} // namespace ps
