#include "store/promises.h"

#include <numeric>

namespace ps {

bool Promises::promise(uint32_t channel, Kept kept, uint64_t before, uint64_t more) {
    if (!segment_.header().memory_limit) return true;
    std::lock_guard<std::mutex> lock(mutex_);
    promised_[channel] = before;
    uint64_t all = std::accumulate(promised_.begin(), promised_.end(), uint64_t(0));
    if (!has_room(segment_, kept, all + more)) return false;
    promised_[channel] += more;
    return true;
}

void Promises::note(uint32_t channel, uint64_t bytes) {
    if (!segment_.header().memory_limit) return;
    std::lock_guard<std::mutex> lock(mutex_);
    promised_[channel] = bytes;
}

} // namespace ps
