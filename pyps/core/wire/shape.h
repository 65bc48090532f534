// What a store tells those that encode and decode messages: which keys, nodes and channels there are, and how long
// values are.
#pragma once

#include "protocol/channels.h"
#include "wire/packing.h"

namespace ps {

class Shape {
public:
    virtual ~Shape() = default;
    virtual KeySpace keys() const = 0;
    virtual NodeId places() const = 0;
    virtual ChannelRule channels() const { return {}; } // how many channels each node has
    virtual uint64_t value_bytes(Key key) const = 0;
    // Of the value with the state that moves along with it.
    virtual uint64_t whole_bytes(Key key) const { return value_bytes(key); }
    virtual uint64_t total_bytes(const std::vector<Key> &keys) const {
        uint64_t total = 0;
        for (Key key : keys) total += value_bytes(key);
        return total;
    }
    virtual Packing packing() const { return {}; } // of deltas
    virtual uint64_t uniform_bytes() const { return 0; } // of every value; 0 if they differ
    virtual std::vector<uint64_t> lengths(const std::vector<Key> &keys) const { // bytes of each key's value
        std::vector<uint64_t> bytes;
        for (Key key : keys) bytes.push_back(value_bytes(key));
        return bytes;
    }
    virtual uint64_t total_whole_bytes(const std::vector<Key> &keys) const {
        uint64_t total = 0;
        for (Key key : keys) total += whole_bytes(key);
        return total;
    }
};

// Values one after another in a message; they are not copied.
struct ValueBytes {
    const char *at = nullptr;
    uint64_t bytes = 0;
};

} // namespace ps
