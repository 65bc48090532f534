// Room that the channels of a node have promised to keys which it has asked for and which are not here yet, so that all
// together keep the node's memory limit. Without a limit there is room for everything.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include "store/room.h"

namespace ps {

class Promises {
public:
    using ByChannel = std::map<uint32_t, uint64_t>; // bytes

    explicit Promises(Segment &segment) : segment_(segment), promised_(segment.header().num_channels) {}

    // By a channel that has promised so many bytes: whether there is room for `more`. True: they are promised too.
    bool promise(uint32_t channel, Kept kept, uint64_t promised, uint64_t more);
    // To all channels' keys of a worker's operation, or to none; each channel takes its part when it gets its keys.
    bool promise_to(uint32_t worker, uint64_t operation, const ByChannel &bytes);
    bool take(uint32_t channel, uint32_t worker, uint64_t operation, uint64_t promised, uint64_t bytes);

    void note(uint32_t channel, uint64_t promised); // that it has promised now
    void forget(uint32_t channel); // what operations were promised to it: they have ended

private:
    bool has_room_for(Kept kept, uint64_t more) const;

    Segment &segment_;
    std::mutex mutex_; // guards what follows
    std::vector<uint64_t> promised_; // bytes, by channel
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint64_t> to_operations_; // by channel, worker, operation
};

} // namespace ps
