// What simulated workers share: a shape of values, and the world in which they live.
#pragma once

#include <cstring>
#include <set>
#include <vector>

#include "../require.h"
#include "../seeds.h"
#include "../stores.h"
#include "protocol/homes.h"
#include "wire/shape.h"

namespace ps::clients {

constexpr uint64_t cluster = 0x1234'5678'9abc'def0;

// Values have one length, or lengths that differ from key to key; servers have one channel or several.
struct WideShape : Shape {
    WideShape(uint64_t num_keys, bool is_range, NodeId nodes, uint32_t num_channels, bool is_uniform,
              NodeId joining = 0)
        : num_keys(num_keys), is_range(is_range), nodes(nodes), joining(joining), num_channels(num_channels),
          is_uniform(is_uniform) {}

    KeySpace keys() const override { return is_range ? KeySpace::range(num_keys) : KeySpace::any(); }
    HomeRule homes() const { return {places(), HomeRule::first_nodes(nodes), keys()}; } // at the start
    NodeId places() const override { return NodeId(nodes + joining); }
    ChannelRule channels() const override { return {num_channels, 1, keys()}; } // few keys, and yet several channels
    uint64_t value_bytes(Key key) const override { return is_uniform ? 8 : 8 * (1 + key % 3); }
    uint64_t uniform_bytes() const override { return is_uniform ? 8 : 0; }

    const uint64_t num_keys;
    const bool is_range; // else the keys of the range are any keys to the servers
    const NodeId nodes, joining; // at the start, and those that may join
    const uint32_t num_channels;
    const bool is_uniform;
};

// A key's number as its value, as long as the key's is.
inline Bytes widen(const Shape &shape, Key key, int64_t number) {
    Bytes value;
    for (uint64_t i = 0; i < shape.value_bytes(key) / 8; i++) {
        Bytes part = bytes_of(number + int64_t(i));
        value.insert(value.end(), part.begin(), part.end());
    }
    return value;
}

inline int64_t narrow(const Shape &shape, Key key, const char *value) {
    int64_t number;
    std::memcpy(&number, value, 8);
    Bytes whole = widen(shape, key, number);
    REQUIRE(std::memcmp(whole.data(), value, whole.size()) == 0);
    return number;
}

// What one key of an operation is to do, as the world has noted it.
struct Plan {
    int64_t operand = 0; // of a push or a set
    int64_t floor = 0;   // of what a pull finds; or the number of a push
};

class Surroundings : public Chance {
public:
    explicit Surroundings(uint64_t seed) : Chance(seed), skips_intents(seed % 8 == 5) {}
    virtual ~Surroundings() = default;

    double now = 0; // seconds
    const bool skips_intents; // nodes do so at times

    // Part of a round: a node chooses anew, and hears of what its server has answered without its protocol.
    void choose(Protocol &protocol, Key num_keys) {
        if (!skips_intents) return;
        protocol.let_keys_go_home(draw(4) > 0);
        protocol.note_use({draw(num_keys)});
    }

    virtual void post_to_server(uint64_t worker, NodeId to, Bytes message) = 0;
    virtual void post_to_worker(NodeId from, uint64_t worker, Bytes message) = 0;
    virtual void post_through(NodeId from, NodeId through, uint64_t worker, Bytes message) = 0;

    // The operation begins now, and has ended.
    virtual Plan plan(uint64_t worker, Operation operation, Key key) = 0;
    virtual void finish(uint64_t worker, Operation operation, Key key, const Plan &plan, int64_t value) = 0;
    virtual void hear_lost(uint64_t worker, Key key, NodeId lost_with) = 0;

    // A request comes to a server. Whether its key was not used often enough to exist; then nothing is done.
    virtual bool turns_away(const Protocol &, Key, const Request &) { return false; }
};

} // namespace ps::clients
