// A node's server may see to its keys in several threads. Each has a channel: a part of the key space with a protocol
// of its own, whose messages go to the same channel of the other nodes. So channels share nothing but memory and
// sockets, and each is as if it were the only one.
#pragma once

#include <cstdint>

#include "messages.h"

namespace ps {

constexpr uint32_t most_channels = 64;
constexpr uint32_t any_channel = 255; // in a message: its keys may be of all, and any channel can begin with it

// Which channel a key is in. All nodes, and all workers, compute the same.
class ChannelRule {
public:
    ChannelRule() = default; // one channel
    ChannelRule(uint32_t channels, NodeId nodes) : channels_(channels), nodes_(nodes) {}

    uint32_t channels() const { return channels_; }
    uint32_t channel(Key key) const { return channels_ == 1 ? 0 : uint32_t(key / nodes_ % channels_); }

    // Keys of one home are numbered, key / nodes. Within its channel a number has this place,
    uint64_t place(uint64_t number) const { return channels_ == 1 ? number : number / channels_; }
    // and so many of the first numbers are in a channel.
    uint64_t count(uint64_t numbers, uint32_t channel) const { return (numbers + channels_ - 1 - channel) / channels_; }

private:
    uint32_t channels_ = 1;
    NodeId nodes_ = 1;
};

// The keys of one channel; by default all keys, in the only one.
struct ChannelKeys {
    ChannelRule rule;
    uint32_t number = 0;

    bool has(Key key) const { return rule.channel(key) == number; }
};

} // namespace ps
