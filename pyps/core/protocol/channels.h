// A node's server may have several threads. Each is a channel: it has a part of the keys and a protocol of its own, and
// exchanges messages with the same channel of other nodes. So channels share only memory and sockets, and each works as
// if it were the only one.
#pragma once

#include <cstdint>

#include "key_space.h"

namespace ps {

constexpr uint32_t most_channels = 64;
// In a message: its keys may be of all channels, and any channel can start with it.
constexpr uint32_t any_channel = 255;

// Which channel a key belongs to. All nodes and all workers compute the same.
class ChannelRule {
public:
    ChannelRule() = default; // one channel
    ChannelRule(uint32_t channels, NodeId nodes, const KeySpace &space)
        : channels_(channels), nodes_(nodes), space_(space) {}

    uint32_t channels() const { return channels_; }
    uint32_t channel(Key key) const { return channels_ == 1 ? 0 : uint32_t(space_.turn(key) / nodes_ % channels_); }

    // The keys of a range at one home are numbered: key / nodes. This is a number's place among those of its channel.
    uint64_t place(uint64_t number) const { return channels_ == 1 ? number : number / channels_; }
    // How many of the first so many numbers belong to a channel.
    uint64_t count(uint64_t numbers, uint32_t channel) const { return (numbers + channels_ - 1 - channel) / channels_; }

private:
    uint32_t channels_ = 1;
    NodeId nodes_ = 1;
    KeySpace space_ = KeySpace::any();
};

// The keys of one channel; by default there is one channel with all keys.
struct ChannelKeys {
    ChannelRule rule;
    uint32_t number = 0;

    bool has(Key key) const { return rule.channel(key) == number; }
};

} // namespace ps
