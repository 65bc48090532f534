#include "store/compression.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>

#include "errors.h"
#include "ps.h"
#include "store/formats.h"
#include "store/kernels.h"
#include "store/processors.h"
#include "store/settings.h"

namespace ps {

namespace {

struct CompressionKind {
    const char *name;
    Settings settings;
};

// By Packing::Kind. A number with its position is not shorter than two numbers, so no half of them is sent.
const CompressionKind kinds[] = {{"none", {}}, {"bfloat16", {}}, {"top_k", {{"share", 0.1, 0.5}}}};

// The bits of elements, as integers that are ordered as their magnitudes are, NaN as the largest.
template <class Element>
struct BitsOf;
template <>
struct BitsOf<float> {
    using Type = uint32_t;
    static constexpr Type magnitude = 0x7fffffff, infinity = 0x7f800000;
};
template <>
struct BitsOf<double> {
    using Type = uint64_t;
    static constexpr Type magnitude = 0x7fffffffffffffff, infinity = 0x7ff0000000000000;
};

template <class Element>
[[gnu::always_inline]] inline typename BitsOf<Element>::Type magnitude(Element number) {
    typename BitsOf<Element>::Type bits;
    std::memcpy(&bits, &number, sizeof bits);
    return bits & BitsOf<Element>::magnitude;
}

[[gnu::always_inline]] inline float as_float(float number) { return number; }

// Rounded to odd: towards zero, with the last bit set if that was not exact. So what is rounded again to fewer bits is
// what would have been rounded once.
[[gnu::always_inline]] inline float as_float(double number) {
    const auto nearest = float(number);
    const uint32_t bits = bits_of(nearest), away = magnitude(double(nearest)) > magnitude(number) ? 1 : 0;
    const uint32_t inexact = double(nearest) != number ? 1 : 0;
    return float_of((bits - away) | inexact);
}

// No finite number becomes infinite, which would have no rest.
[[gnu::always_inline]] inline float nearest_bfloat16(float number) {
    const uint32_t rounded = uint32_t(BFloat16::narrow(number)) << 16, sign = rounded & 0x80000000;
    const bool overflows = (rounded ^ sign) == 0x7f800000 && (bits_of(number) ^ sign) < 0x7f800000;
    return float_of(overflows ? sign | 0x7f7f0000 : rounded);
}

template <class Element>
[[gnu::always_inline]] inline void round_to_bfloat16(char *delta, char *sent, uint64_t length, bool *any_rest) {
    auto *__restrict kept = reinterpret_cast<Element *>(delta);
    auto *__restrict gone = reinterpret_cast<Element *>(sent);
    typename BitsOf<Element>::Type any = 0;
    for (uint64_t i = 0; i < length; i++) {
        const Element number = kept[i];
        const auto rounded = Element(nearest_bfloat16(as_float(number)));
        const Element rest = magnitude(number) < BitsOf<Element>::infinity ? number - rounded : Element(0);
        gone[i] = rounded;
        kept[i] = rest;
        any |= magnitude(rest);
    }
    *any_rest = any != 0;
}

using Round = void (*)(char *delta, char *sent, uint64_t length, bool *any_rest);

const ForProcessor<Round> round_floats = for_processors<round_to_bfloat16<float>>,
                          round_doubles = for_processors<round_to_bfloat16<double>>;

// Of several elements with the least magnitude that is sent, the first ones are.
template <class Element>
bool take_largest(char *delta, char *sent, uint64_t length, uint64_t most, Bytes *room) {
    using Bits = typename BitsOf<Element>::Type;
    room->resize(length * sizeof(Bits));
    auto *kept = reinterpret_cast<Element *>(delta), *gone = reinterpret_cast<Element *>(sent);
    auto *sizes = reinterpret_cast<Bits *>(room->data());
    for (uint64_t i = 0; i < length; i++) sizes[i] = magnitude(kept[i]);
    std::nth_element(sizes, sizes + (most - 1), sizes + length, std::greater<Bits>());
    const Bits least = sizes[most - 1];
    uint64_t equal = most - uint64_t(std::count_if(sizes, sizes + most, [=](Bits size) { return size > least; }));
    bool any_rest = false;
    for (uint64_t i = 0; i < length; i++) {
        const Bits size = magnitude(kept[i]);
        const bool goes = size > least || (size == least && equal > 0);
        equal -= goes && size == least;
        gone[i] = goes ? kept[i] : Element(0);
        kept[i] = goes ? Element(0) : kept[i];
        any_rest |= !goes && size != 0;
    }
    return any_rest;
}

} // namespace

bool Compression::takes(int32_t dtype) { return dtype == PS_FLOAT32 || dtype == PS_FLOAT64; }

Compression Compression::read(const std::string &text, int32_t dtype) {
    Compression wanted;
    if (text.empty()) return wanted;
    double share = 0;
    const CompressionKind &kind = read_named("compression", std::begin(kinds), std::end(kinds), text, &share);
    if (&kind == kinds) return wanted;
    if (!takes(dtype))
        fail(PS_EINVAL, Where{-1, dtype, 0}, "compression is %s, which is for float32 and float64, not for %s",
             kind.name, name_of_dtype(dtype));
    wanted.packing_ = Packing(Packing::Kind(&kind - kinds), element_bytes(dtype), share);
    return wanted;
}

std::string Compression::describe() const {
    if (packing_.kind() == Packing::Kind::none) return "";
    const CompressionKind &kind = kinds[size_t(packing_.kind())];
    const double share = packing_.share();
    return describe_settings(kind.name, kind.settings, &share);
}

bool Compression::split(char *delta, Bytes *sent, Bytes *room) const {
    const uint64_t length = packing_.elements(sent->size()), most = packing_.most_elements(sent->size());
    const bool is_float = packing_.element_bytes() == sizeof(float);
    bool any_rest = false;
    if (packing_.kind() == Packing::Kind::bfloat16)
        (is_float ? round_floats : round_doubles).best()(delta, sent->data(), length, &any_rest);
    else if (is_float)
        any_rest = take_largest<float>(delta, sent->data(), length, most, room);
    else
        any_rest = take_largest<double>(delta, sent->data(), length, most, room);
    return any_rest;
}

} // namespace ps
