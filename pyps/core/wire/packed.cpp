#include "wire/packed.h"

#include <cstring>
#include <string>

namespace ps {

namespace {

// Calls body(Element(), Position()) with the types that deltas of so many bytes have.
template <class Body>
void with_types(const Packing &packing, uint64_t delta_bytes, Body &&body) {
    const bool is_short = packing.position_bytes(delta_bytes) == sizeof(uint16_t);
    if (packing.element_bytes() == sizeof(float))
        is_short ? body(float(), uint16_t()) : body(float(), uint32_t());
    else
        is_short ? body(double(), uint16_t()) : body(double(), uint32_t());
}

template <class Element>
void put_halves(FrameWriter &writer, const Bytes &delta) {
    auto *from = reinterpret_cast<const Element *>(delta.data());
    std::vector<uint16_t> halves(delta.size() / sizeof(Element));
    for (size_t i = 0; i < halves.size(); i++) {
        const auto number = float(from[i]);
        uint32_t bits;
        std::memcpy(&bits, &number, sizeof bits);
        halves[i] = uint16_t(bits >> 16);
    }
    writer.put(halves);
}

template <class Element>
void get_halves(FrameReader &reader, Bytes *delta) {
    const uint64_t length = delta->size() / sizeof(Element);
    const char *from = reader.skip(length * sizeof(uint16_t));
    auto *to = reinterpret_cast<Element *>(delta->data());
    bool is_signal = false; // a NaN that arithmetic changes
    for (uint64_t i = 0; i < length; i++) {
        uint16_t half;
        std::memcpy(&half, from + i * sizeof half, sizeof half);
        is_signal |= (half & 0x7fff) > 0x7f80 && !(half & 0x40);
        const uint32_t bits = uint32_t(half) << 16;
        float number;
        std::memcpy(&number, &bits, sizeof number);
        to[i] = Element(number);
    }
    if (is_signal) throw Malformed("an element of a delta is a signalling NaN");
}

template <class Element, class Position>
void put_elements(FrameWriter &writer, const Bytes &delta) {
    auto *from = reinterpret_cast<const Element *>(delta.data());
    std::vector<Position> positions;
    std::vector<Element> elements;
    for (uint64_t i = 0; i < delta.size() / sizeof(Element); i++) {
        if (from[i] == 0) continue;
        positions.push_back(Position(i));
        elements.push_back(from[i]);
    }
    writer.put(uint32_t(positions.size()));
    writer.put(positions);
    writer.put(elements);
}

template <class Element, class Position>
void get_elements(FrameReader &reader, uint64_t most, Bytes *delta) {
    const uint64_t length = delta->size() / sizeof(Element);
    const auto count = reader.get<uint32_t>();
    if (count > most)
        throw Malformed("a delta has " + std::to_string(count) + " elements of at most " + std::to_string(most));
    const char *positions = reader.skip(uint64_t(count) * sizeof(Position));
    const char *elements = reader.skip(uint64_t(count) * sizeof(Element));
    auto *to = reinterpret_cast<Element *>(delta->data());
    for (uint64_t i = 0, next = 0; i < count; i++) {
        Position position;
        Element element;
        std::memcpy(&position, positions + i * sizeof position, sizeof position);
        std::memcpy(&element, elements + i * sizeof element, sizeof element);
        if (position < next || position >= length)
            throw Malformed("the positions of a delta's elements do not rise, or are not below " +
                            std::to_string(length));
        if (element == 0) throw Malformed("an element of a delta is zero");
        to[position] = element;
        next = uint64_t(position) + 1;
    }
}

} // namespace

void put_packed(FrameWriter &writer, const Packing &packing, const Bytes &delta) {
    with_types(packing, delta.size(), [&](auto element, auto position) {
        if (packing.kind() == Packing::Kind::bfloat16)
            put_halves<decltype(element)>(writer, delta);
        else
            put_elements<decltype(element), decltype(position)>(writer, delta);
    });
}

Bytes get_packed(FrameReader &reader, const Packing &packing, uint64_t delta_bytes) {
    Bytes delta(delta_bytes);
    with_types(packing, delta_bytes, [&](auto element, auto position) {
        if (packing.kind() == Packing::Kind::bfloat16)
            get_halves<decltype(element)>(reader, &delta);
        else
            get_elements<decltype(element), decltype(position)>(reader, packing.most_elements(delta_bytes), &delta);
    });
    return delta;
}

} // namespace ps
