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

    explicit constexpr Divisor(uint32_t divisor)
        : divisor_(divisor), factor_(UINT64_MAX / divisor), shift_(is_power(divisor) ? bits_of(divisor) : no_shift) {}

    constexpr uint64_t quotient(uint64_t number) const {
        if (shift_ != no_shift) return number >> shift_;
        __extension__ using Wide = unsigned __int128;
        return uint64_t(Wide(number + 1) * factor_ >> 64);
    }
    constexpr uint64_t remainder(uint64_t number) const { return number - quotient(number) * divisor_; }

private:
    static constexpr uint32_t no_shift = 64;
    static constexpr bool is_power(uint32_t number) { return (number & (number - 1)) == 0; }
    static constexpr uint32_t bits_of(uint32_t power) { return power == 1 ? 0 : 1 + bits_of(power / 2); }

    uint64_t divisor_;
    uint64_t factor_;
    uint32_t shift_; // of a power of two, which is a little quicker still
};

} // namespace ps
