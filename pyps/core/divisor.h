// Quotients and remainders by a number that is not known before the program runs, without a division: whoever asks for
// thousands of keys a batch would wait 20 to 40 cycles for each.
#pragma once

#include <cstdint>

namespace ps {

// Of numbers below `beyond` by 1 to 4095. With m = floor((2^64 - 1) / d), (n + 1) * m / 2^64 lies below (n + 1) / d, by
// at most (n + 1) / 2^64, which is no more than 1 / d as long as (n + 1) * d <= 2^64: so the whole part is that of n /
// d, also where n + 1 is a multiple of d.
class Divisor {
public:
    static constexpr uint64_t beyond = uint64_t(1) << 52;

    explicit constexpr Divisor(uint32_t divisor) : divisor_(divisor), factor_(UINT64_MAX / divisor) {}

    constexpr uint64_t quotient(uint64_t number) const {
        __extension__ using Wide = unsigned __int128;
        return uint64_t(Wide(number + 1) * factor_ >> 64);
    }
    constexpr uint64_t remainder(uint64_t number) const { return number - quotient(number) * divisor_; }

private:
    uint64_t divisor_;
    uint64_t factor_;
};

} // namespace ps
