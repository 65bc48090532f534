// Which pushes a value has. Each push to a key adds a bit of its own with a place between it and the next, so that a
// value shows what it has twice.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "../require.h"
#include "protocol/messages.h"

namespace ps::losses {

class Pushes {
public:
    static constexpr int most = 30;

    explicit Pushes(uint64_t num_keys) : begun_(num_keys), acknowledged_(num_keys) {}

    static int64_t operand(int push) { return int64_t(1) << (2 * push); }

    bool can_begin(Key key, int more) const { return begun_[key] + more <= most; }
    int begin(Key key) { return begun_[key]++; }
    void acknowledge(Key key, int push, uint64_t worker) { acknowledged_[key][push] = worker; }

    int64_t acknowledged(Key key, uint64_t to) const { // the operands
        int64_t all = 0;
        for (auto [push, worker] : acknowledged_[key])
            if (worker == to) all |= operand(push);
        return all;
    }

    int64_t acknowledged(Key key) const {
        int64_t all = 0;
        for (auto [push, worker] : acknowledged_[key]) all |= operand(push);
        return all;
    }

    // It has nothing twice, and nothing that was never pushed.
    void check(Key key, int64_t value) const {
        REQUIRE((value & 0x2aaaaaaaaaaaaaaa) == 0 && value >= 0);
        REQUIRE(value < operand(begun_[key]));
    }
    // And those acknowledged pushes whose worker fits.
    template <class Fits>
    void check(Key key, int64_t value, Fits &&fits) const {
        check(key, value);
        for (auto [push, worker] : acknowledged_[key])
            if (fits(worker)) REQUIRE(value & operand(push));
    }

private:
    std::vector<int> begun_; // by key
    std::vector<std::map<int, uint64_t>> acknowledged_; // by key: push, worker
};

} // namespace ps::losses
