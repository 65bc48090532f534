#include "store/promises.h"

#include <numeric>

namespace ps {

bool Promises::has_room_for(Kept kept, const Load &more) const {
    uint64_t all = std::accumulate(promised_.begin(), promised_.end(), uint64_t(0));
    for (const auto &[operation, bytes] : to_operations_) all += bytes;
    return has_room(segment_, kept, more, all);
}

bool Promises::promise(uint32_t channel, Kept kept, uint64_t promised, const Load &more) {
    if (!segment_.header().memory_limit) return true;
    std::lock_guard<std::mutex> lock(mutex_);
    promised_[channel] = promised;
    if (!has_room_for(kept, more)) return false;
    promised_[channel] += more.bytes();
    return true;
}

bool Promises::promise_to(uint32_t worker, uint64_t operation, const Load &all, const ByChannel &parts) {
    if (!segment_.header().memory_limit) return true;
    std::lock_guard<std::mutex> lock(mutex_);
    if (all.bytes() > 0 && !has_room_for(Kept::alone, all)) return false;
    for (const auto &[channel, part] : parts)
        if (part.bytes() > 0) to_operations_[{channel, worker, operation}] = part.bytes();
    return true;
}

bool Promises::take(uint32_t channel, uint32_t worker, uint64_t operation, uint64_t promised, const Load &more) {
    if (!segment_.header().memory_limit) return true;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        auto found = to_operations_.find({channel, worker, operation});
        if (found != to_operations_.end()) {
            to_operations_.erase(found);
            promised_[channel] = promised + more.bytes();
            return true;
        }
    }
    return promise(channel, Kept::alone, promised, more);
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
