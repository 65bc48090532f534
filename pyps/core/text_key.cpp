#include "text_key.h"

#include <cstring>

namespace ps {

namespace {

constexpr uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F, prime3 = 0x165667B19E3779F9,
                   prime4 = 0x85EBCA77C2B2AE63, prime5 = 0x27D4EB2F165667C5;
constexpr size_t stripe = 32; // bytes, a lane of 8 for each of four sums

uint64_t turned(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

template <class Word>
Word next(const char **text) { // the hosts of this project are little-endian, as is the definition
    Word word;
    std::memcpy(&word, *text, sizeof word);
    *text += sizeof word;
    return word;
}

uint64_t with(uint64_t sum, uint64_t lane) { return turned(sum + lane * prime2, 31) * prime1; }

uint64_t sum_of_stripes(const char **text, const char *end) {
    uint64_t sums[4] = {prime1 + prime2, prime2, 0, 0 - prime1};
    while (size_t(end - *text) >= stripe)
        for (uint64_t &sum : sums) sum = with(sum, next<uint64_t>(text));
    uint64_t whole = turned(sums[0], 1) + turned(sums[1], 7) + turned(sums[2], 12) + turned(sums[3], 18);
    for (uint64_t sum : sums) whole = (whole ^ with(0, sum)) * prime1 + prime4;
    return whole;
}

} // namespace

uint64_t xxh64(const char *text, size_t bytes) {
    const char *end = text + bytes;
    uint64_t sum = (bytes >= stripe ? sum_of_stripes(&text, end) : prime5) + bytes;
    while (end - text >= 8) sum = turned(sum ^ with(0, next<uint64_t>(&text)), 27) * prime1 + prime4;
    if (end - text >= 4) sum = turned(sum ^ next<uint32_t>(&text) * prime1, 23) * prime2 + prime3;
    while (text < end) sum = turned(sum ^ next<uint8_t>(&text) * prime5, 11) * prime1;
    sum = (sum ^ sum >> 33) * prime2;
    sum = (sum ^ sum >> 29) * prime3;
    return sum ^ sum >> 32;
}

int64_t text_key(const char *text, size_t bytes) {
    const int64_t key = int64_t(xxh64(text, bytes));
    return key == -1 ? 0 : key;
}

} // namespace ps
