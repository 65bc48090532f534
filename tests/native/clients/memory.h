// Memory of a worker, and what must be in it: nothing else may ever be written there.
#pragma once

#include <algorithm>
#include <cstring>

#include "surroundings.h"

namespace ps::clients {

class Memory {
public:
    static constexpr uint64_t size = 256;

    Memory() : bytes_(size, 0x5a), expected_(bytes_) {}

    char *at(uint64_t offset) { return bytes_.data() + offset; }
    const char *at(uint64_t offset) const { return bytes_.data() + offset; }
    void write(uint64_t offset, const Bytes &value) { // by its worker
        std::copy(value.begin(), value.end(), bytes_.begin() + long(offset));
        expect(offset, value.data(), value.size());
    }
    void expect(uint64_t offset, const char *value, uint64_t bytes) {
        std::copy(value, value + bytes, expected_.begin() + long(offset));
    }
    void check() const { REQUIRE(bytes_ == expected_); }

private:
    Bytes bytes_, expected_;
};

} // namespace ps::clients
