#include "store/promises.h"

#include <numeric>

namespace ps {

bool Promises::has_room_for(Kept kept, uint64_t more) const {
    uint64_t all = std::accumulate(promised_.begin(), promised_.end(), more);
    for (const auto &[operation, bytes] : to_operations_) all += bytes;
    return has_room(segment_, kept, all);
}

bool Promises::promise(uint32_t channel, Kept kept, uint64_t promised, uint64_t more) {
    if (!segment_.header().memory_limit) return true;
    std::lock_guard<std::mutex> lock(mutex_);
    promised_[channel] = promised;
    if (!has_room_for(kept, more)) return false;
    promised_[channel] += more;
    return true;
}

bool Promises::promise_to(uint32_t worker, uint64_t operation, const ByChannel &bytes) {
    if (!segment_.header().memory_limit) return true;
    std::lock_guard<std::mutex> lock(mutex_);
    uint64_t all = 0;
    for (const auto &[channel, part] : bytes) all += part;
    if (all > 0 && !has_room_for(Kept::alone, all)) return false;
    for (const auto &[channel, part] : bytes)
        if (part > 0) to_operations_[{channel, worker, operation}] = part;
    return true;
}

bool Promises::take(uint32_t channel, uint32_t worker, uint64_t operation, uint64_t promised, uint64_t bytes) {
    if (!segment_.header().memory_limit) return true;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        auto found = to_operations_.find({channel, worker, operation});
        if (found != to_operations_.end()) {
            to_operations_.erase(found);
            promised_[channel] = promised + bytes;
            return true;
        }
    }
    return promise(channel, Kept::alone, promised, bytes);
}

void Promises::note(uint32_t channel, uint64_t promised) {
    if (!segment_.header().memory_limit) return;
    std::lock_guard<std::mutex> lock(mutex_);
    promised_[channel] = promised;
}

void Promises::forget(uint32_t channel) {
    std::lock_guard<std::mutex> lock(mutex_);
    to_operations_.erase(to_operations_.lower_bound({channel, 0, 0}), to_operations_.lower_bound({channel + 1, 0, 0}));
}

} // namespace ps
