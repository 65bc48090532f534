// The floating-point formats of elements: how one is read for arithmetic, and how a result is written.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ps {

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

// narrow() rounds to the nearest, ties to even. narrow_at_random() rounds down or up, each as often as the number is
// near it, by the random bits of `noise`.
struct BFloat16 {
    [[gnu::always_inline]] static float widen(uint16_t half) { return float_of(uint32_t(half) << 16); }
    [[gnu::always_inline]] static uint16_t narrow(float number) {
        uint32_t bits = bits_of(number);
        uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        uint32_t quiet_nan = bits >> 16 | 0x40;
        return uint16_t((bits & 0x7fffffff) > 0x7f800000 ? quiet_nan : rounded);
    }
    [[gnu::always_inline]] static uint16_t narrow_at_random(float number, uint32_t noise) {
        uint32_t bits = bits_of(number);
        uint32_t quiet_nan = bits >> 16 | 0x40;
        return uint16_t((bits & 0x7fffffff) > 0x7f800000 ? quiet_nan : (bits + (noise >> 16)) >> 16);
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
    // In units of the half's last place, which no half has below that of the least normal one.
    [[gnu::always_inline]] static uint16_t narrow_at_random(float number, uint32_t noise) {
        constexpr uint32_t one = 1 << 23, least_normal = (127 - 14) * one, too_large = (127 + 17) * one;
        uint32_t bits = bits_of(number), sign = bits & 0x80000000, size = bits ^ sign;
        uint32_t within = size < too_large ? size : too_large;
        uint32_t exponent = within & 0x7f800000;
        exponent = exponent < least_normal ? least_normal : exponent;
        float places = float_of(within) * float_of(254 * one - (exponent - 10 * one));
        auto whole = uint32_t(int32_t(places + float(int32_t(noise >> 19)) * 0x1p-13f));
        uint32_t half = (exponent - least_normal) / (one >> 10) + whole;
        half = half < 0x7c00 ? half : 0x7c00;
        return uint16_t(sign >> 16 | (size > 0x7f800000 ? 0x7e00 : half));
    }
};

} // namespace ps
