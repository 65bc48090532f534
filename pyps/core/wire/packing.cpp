#include "wire/packing.h"

#include <algorithm>
#include <cmath>

namespace ps {

uint64_t Packing::most_elements(uint64_t delta_bytes) const {
    return std::max<uint64_t>(1, uint64_t(std::llround(share_ * double(elements(delta_bytes)))));
}

uint64_t Packing::most_bytes(uint64_t delta_bytes) const {
    switch (kind_) {
    case Kind::bfloat16: return elements(delta_bytes) * sizeof(uint16_t);
    case Kind::top_k: return sizeof(uint32_t) + most_elements(delta_bytes) * (position_bytes(delta_bytes) + each_);
    default: return delta_bytes;
    }
}

} // namespace ps
