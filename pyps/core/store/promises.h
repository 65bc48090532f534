// Room that the channels of a node have promised to keys which it has asked for and which are not here yet, so that all
// together keep the node's memory limit.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "store/room.h"

namespace ps {

class Promises {
public:
    explicit Promises(Segment &segment) : segment_(segment), promised_(segment.header().num_channels) {}

    // By a channel that has promised so many bytes before: whether there is room for `more`. True: they are promised.
    bool promise(uint32_t channel, Kept kept, uint64_t before, uint64_t more);
    void note(uint32_t channel, uint64_t bytes); // that it has promised now

private:
    Segment &segment_;
    std::mutex mutex_; // guards what follows
    std::vector<uint64_t> promised_; // bytes, by channel
};

} // namespace ps
