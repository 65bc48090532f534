// Splits of single deltas, compared with what follows from the definition.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "../require.h"
#include "../seeds.h"
#include "ps.h"
#include "store/compression.h"
#include "store/formats.h"

namespace ps {

template <class Element>
constexpr int32_t dtype_of() {
    return sizeof(Element) == 4 ? PS_FLOAT32 : PS_FLOAT64;
}

inline std::string draw_compression(Chance &chance) {
    const char *const texts[] = {"bfloat16", "bfloat16", "top_k:share=0.1", "top_k:share=0.3", "top_k:share=0"};
    return texts[chance.draw(5)];
}

// Of any size and sign; at times not finite, or in the middle between two numbers of fewer bits.
template <class Element>
Element draw_element(Chance &chance) {
    using Limits = std::numeric_limits<Element>;
    const Element sign = chance.draw(2) ? 1 : -1;
    switch (chance.draw(12)) {
    case 0: return sign * 0;
    case 1: return sign * Limits::infinity();
    case 2: return Limits::quiet_NaN();
    case 3: return sign * Limits::denorm_min() * Element(chance.draw(1000));
    case 4: return sign * std::numeric_limits<float>::max();
    default: break;
    }
    const bool is_tie = chance.draw(3) == 0;
    const auto digits = is_tie ? Element(2 * (128 + chance.draw(128)) + 1) : 1 + Element(chance.random()) * 0x1p-64;
    const auto nearly = is_tie && chance.draw(2) ? std::nextafter(digits, Element(chance.draw(2) ? 0 : 1024)) : digits;
    return sign * std::ldexp(nearly, int(chance.draw(200)) - 100);
}

// Of the two neighbours, ties to the one whose last bit is 0; never infinite.
inline double nearest_bfloat16_of(double number) {
    const double size = std::fabs(number);
    auto at = [](uint32_t half) { return double(BFloat16::widen(uint16_t(half))); };
    uint32_t below = 0, above = 0x7f7f; // by halving
    if (size >= at(above)) return std::copysign(at(above), number);
    while (above - below > 1) {
        const uint32_t middle = (below + above) / 2;
        (at(middle) <= size ? below : above) = middle;
    }
    const double down = size - at(below), up = at(above) - size;
    const bool rises = up < down || (up == down && above % 2 == 0);
    return std::copysign(at(rises ? above : below), number);
}

template <class Element>
void check_rounding(const std::vector<Element> &delta, const Element *sent) {
    for (size_t i = 0; i < delta.size(); i++) {
        if (std::isnan(delta[i]))
            REQUIRE(std::isnan(sent[i]));
        else if (std::isinf(delta[i]))
            REQUIRE(sent[i] == delta[i]);
        else
            REQUIRE(double(sent[i]) == nearest_bfloat16_of(double(delta[i])));
    }
}

// What stays is no larger than what is sent, and what is sent is no more than was to be.
template <class Element>
void check_choice(const std::vector<Element> &delta, const Element *sent, uint64_t most) {
    auto size = [](Element number) { return std::isnan(number) ? HUGE_VAL : std::fabs(double(number)); };
    uint64_t count = 0, zeros = 0;
    double least_sent = HUGE_VAL, most_kept = 0;
    for (size_t i = 0; i < delta.size(); i++) {
        zeros += delta[i] == 0;
        if (sent[i] == 0) {
            most_kept = std::max(most_kept, size(delta[i]));
            continue;
        }
        count++;
        REQUIRE(std::isnan(delta[i]) ? std::isnan(sent[i]) : sent[i] == delta[i]);
        least_sent = std::min(least_sent, size(delta[i]));
    }
    REQUIRE(count == std::min<uint64_t>(most, delta.size() - zeros) && most_kept <= least_sent);
}

template <class Element>
void check_split(uint64_t seed) {
    Chance chance(seed);
    const Compression compression = Compression::read(draw_compression(chance), dtype_of<Element>());
    const Packing packing = compression.packing();
    std::vector<Element> delta(1 + chance.draw(chance.draw(2) ? 8 : 300));
    for (Element &element : delta) element = draw_element<Element>(chance);
    std::vector<Element> rest = delta;
    Bytes sent(delta.size() * sizeof(Element)), room;
    if (!packing.shortens(sent.size())) return;
    const bool any = compression.split(reinterpret_cast<char *>(rest.data()), &sent, &room);
    auto *part = reinterpret_cast<const Element *>(sent.data());
    REQUIRE(any == std::any_of(rest.begin(), rest.end(), [](Element left) { return left != 0; }));
    for (size_t i = 0; i < delta.size(); i++) {
        if (std::isfinite(delta[i]))
            REQUIRE((long double)(part[i]) + rest[i] == (long double)(delta[i]));
        else
            REQUIRE(rest[i] == 0 || part[i] == 0);
    }
    if (packing.kind() == Packing::Kind::bfloat16)
        check_rounding(delta, part);
    else
        check_choice(delta, part, packing.most_elements(sent.size()));
}

} // namespace ps
