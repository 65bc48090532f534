// Room that a node's channels have promised to keys that they have asked for and that have not come yet. So all
// channels together stay within the node's memory limit. Without a limit there is always room.
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
    using ByChannel = std::map<uint32_t, Load>;

    explicit Promises(Segment &segment) : segment_(segment), promised_(segment.header().num_channels) {}

    // A channel has promised so many bytes up to now. Is there room for `more`? If so, these are promised as well.
    bool promise(uint32_t channel, Kept kept, uint64_t promised, const Load &more);
    // Promise room to an operation's keys, which are `parts` of the channels, or to none of them. Each channel calls
    // take() when it gets its keys.
    bool promise_to(uint32_t worker, uint64_t operation, const Load &all, const ByChannel &parts);
    bool take(uint32_t channel, uint32_t worker, uint64_t operation, uint64_t promised, const Load &more);

    void note(uint32_t channel, uint64_t promised); // the channel has promised so many bytes now
    void forget(uint32_t channel); // operations with keys in this channel have ended: forget what was promised to them

private:
    bool has_room_for(Kept kept, const Load &more) const;

    Segment &segment_;
    std::mutex mutex_; // guards what follows
    std::vector<uint64_t> promised_; // bytes, by channel
    std::map<std::tuple<uint32_t, uint32_t, uint64_t>, uint64_t> to_operations_; // by channel, worker, operation
};

} // namespace ps
