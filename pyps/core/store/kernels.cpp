#include "store/kernels.h"

#include <cstring>

#include "ps.h"

namespace ps {

namespace {

// Inlined, so that a function for a certain processor gets loops for that processor.
template <class Element>
[[gnu::always_inline]] inline void add_elements(char *value, const char *update, uint32_t length) {
    Element *__restrict to = reinterpret_cast<Element *>(value);
    const Element *__restrict from = reinterpret_cast<const Element *>(update);
    for (uint32_t i = 0; i < length; i++) to[i] += from[i];
}

[[gnu::always_inline]] inline uint32_t bits_of(float number) {
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits;
}

[[gnu::always_inline]] inline float float_of(uint32_t bits) {
    float number;
    std::memcpy(&number, &bits, sizeof number);
    return number;
}

struct BFloat16 {
    [[gnu::always_inline]] static float widen(uint16_t half) { return float_of(uint32_t(half) << 16); }
    [[gnu::always_inline]] static uint16_t narrow(float number) {
        uint32_t bits = bits_of(number);
        uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        uint32_t quiet_nan = bits >> 16 | 0x40;
        return uint16_t((bits & 0x7fffffff) > 0x7f800000 ? quiet_nan : rounded);
    }
};

// Both conversions have no branches. Widening: the bits of a half in the place of a float's are the number times 2^-112
// (also for a subnormal one). Narrowing: adding a power of two makes the float's own arithmetic round to the half's
// last place. After F. Giesen, "Half to float done quic", and M. Dukhan's FP16 library.
struct Float16 {
    [[gnu::always_inline]] static float widen(uint16_t half) {
        uint32_t sign = uint32_t(half & 0x8000) << 16, rest = uint32_t(half & 0x7fff) << 13;
        float number = float_of(rest) * 0x1p112f;
        uint32_t bits = bits_of(number) | (rest >= 0x0f800000 ? 0x7f800000u : 0u); // infinity and NaN
        return float_of(bits | sign);
    }
    [[gnu::always_inline]] static uint16_t narrow(float number) {
        uint32_t bits = bits_of(number), sign = bits & 0x80000000, size = bits ^ sign;
        float scaled = float_of(size) * 0x1p112f * 0x1p-110f; // overflows to infinity where a half does
        uint32_t bias = (bits << 1) & 0xff000000;
        bias = bias < 0x71000000 ? 0x71000000 : bias;
        uint32_t sum = bits_of(float_of((bias >> 1) + 0x07800000) + scaled);
        uint32_t half = (sum >> 13 & 0x7c00) + (sum & 0xfff);
        return uint16_t(sign >> 16 | (size > 0x7f800000 ? 0x7e00 : half));
    }
};

template <class Format>
[[gnu::always_inline]] inline void add_halves(char *value, const char *update, uint32_t length) {
    uint16_t *__restrict to = reinterpret_cast<uint16_t *>(value);
    const uint16_t *__restrict from = reinterpret_cast<const uint16_t *>(update);
    for (uint32_t i = 0; i < length; i++) to[i] = Format::narrow(Format::widen(to[i]) + Format::widen(from[i]));
}

using Add = void (*)(char *value, const char *update, uint32_t length);

template <Add add>
[[gnu::always_inline]] inline void call(char *value, const char *update, uint32_t length) {
    add(value, update, length);
}

template <Add add>
void portable(char *value, const char *update, uint32_t length, char *) {
    call<add>(value, update, length);
}

#if defined(__x86_64__)
template <Add add>
[[gnu::target("avx2")]] void avx2(char *value, const char *update, uint32_t length, char *) {
    call<add>(value, update, length);
}
bool has_avx2() { return __builtin_cpu_supports("avx2"); }
#else
template <Add add>
constexpr Apply avx2 = portable<add>;
bool has_avx2() { return false; }
#endif

struct Dtype {
    uint32_t bytes;
    Apply portable, avx2;
};

template <Add add>
constexpr Dtype row(uint32_t bytes) {
    return {bytes, portable<add>, avx2<add>};
}

const Dtype dtypes[] = {
    /* PS_FLOAT32  */ row<add_elements<float>>(4),
    /* PS_FLOAT64  */ row<add_elements<double>>(8),
    /* PS_FLOAT16  */ row<add_halves<Float16>>(2),
    /* PS_BFLOAT16 */ row<add_halves<BFloat16>>(2),
    /* PS_INT32    */ row<add_elements<uint32_t>>(4),
    /* PS_INT64    */ row<add_elements<uint64_t>>(8),
};
constexpr int32_t known = sizeof dtypes / sizeof dtypes[0];

} // namespace

uint32_t element_bytes(int32_t dtype) { return dtype >= 0 && dtype < known ? dtypes[dtype].bytes : 0; }

Apply add_kernel(int32_t dtype) {
    static const bool wide = has_avx2();
    return wide ? dtypes[dtype].avx2 : dtypes[dtype].portable;
}

} // namespace ps
