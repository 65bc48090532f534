// Quotients and remainders for a divisor that is known at run time only. They are computed by a multiplication, as a
// division takes 20 to 40 cycles and a batch may need thousands.
#pragma once

#include <cstdint>

namespace ps {

// For numbers below `beyond` and divisors from 1 to 4095. Why the quotient is exact: with m = floor((2^64 - 1) / d), (n
// + 1) * m / 2^64 is below (n + 1) / d by at most (n + 1) / 2^64, which is no more than 1 / d as long as (n + 1) * d <=
// 2^64. So its whole part is that of n / d, also where n + 1 is a multiple of d.
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
    uint32_t shift_; // used if the divisor is a power of two, as a shift is quicker still
};

} // namespace ps
