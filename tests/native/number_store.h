// Values of a node for tests of the protocol: one number per key, and a check that each call fits what the key is.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "protocol/ports.h"

namespace ps {

inline uint64_t seed; // of the run, which a failure names
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "seed %llu: %s:%d: %s\n", static_cast<unsigned long long>(seed), __FILE__, __LINE__,  \
                         #condition);                                                                                  \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

inline Bytes bytes_of(int64_t number) {
    Bytes bytes(8);
    std::memcpy(bytes.data(), &number, 8);
    return bytes;
}

inline int64_t number_of(const Bytes &bytes) {
    REQUIRE(bytes.size() == 8);
    int64_t number;
    std::memcpy(&number, bytes.data(), 8);
    return number;
}

// A node's values: one number each.
class NumberStore : public Values {
public:
    struct Value {
        Standing standing = Standing::absent;
        int64_t number = 0, delta = 0;
        bool changed = false, added = false;
        NodeId seen_at = no_node;
    };

    explicit NumberStore(uint64_t num_keys) : values(num_keys) {}

    Standing standing(Key key) const override { return values[key].standing; }
    void pull(Key key, Bytes *value) override {
        require(key, {Standing::owned, Standing::shared, Standing::replica});
        *value = bytes_of(values[key].number);
    }
    void push(Key key, const Bytes &value) override {
        require(key, {Standing::owned, Standing::shared, Standing::replica});
        Value &v = values[key];
        v.number += number_of(value);
        v.changed = true;
        if (v.standing == Standing::replica) {
            v.delta += number_of(value);
            v.added = true;
        }
    }
    void set(Key key, const Bytes &value) override {
        require(key, {Standing::owned, Standing::shared});
        values[key].number = number_of(value);
        values[key].changed = true;
    }
    void await(Key key) override { become(key, {Standing::absent}, Standing::awaited); }
    void forget(Key key) override { become(key, {Standing::awaited}, Standing::absent); }
    void own(Key key, const Bytes &value) override {
        Value &v = values[key];
        int64_t added = v.standing == Standing::replica ? v.delta : 0;
        become(key, {Standing::absent, Standing::awaited, Standing::replica}, Standing::owned);
        v = Value{Standing::owned, number_of(value) + added, 0, true, false, no_node};
    }
    void give(Key key, NodeId to, uint64_t, Bytes *value) override {
        pull(key, value);
        become(key, {Standing::owned, Standing::shared}, Standing::absent);
        values[key].seen_at = to;
    }
    void share(Key key) override { become(key, {Standing::owned}, Standing::shared); }
    void unshare(Key key) override { become(key, {Standing::shared}, Standing::owned); }
    bool take_changed(Key key) override { return std::exchange(values[key].changed, false); }
    void copy(Key key, const Bytes &value) override {
        become(key, {Standing::absent, Standing::awaited}, Standing::replica);
        values[key] = Value{Standing::replica, number_of(value), 0, false, false, no_node};
    }
    void refresh(Key key, const Bytes &value) override {
        require(key, {Standing::replica});
        values[key].number = number_of(value) + values[key].delta;
    }
    bool take_delta(Key key, Bytes *delta) override {
        require(key, {Standing::replica});
        if (!std::exchange(values[key].added, false)) return false;
        *delta = bytes_of(std::exchange(values[key].delta, 0));
        return true;
    }
    bool retire(Key key, Bytes *delta) override {
        bool any = take_delta(key, delta);
        values[key].standing = Standing::awaited;
        return any;
    }
    void add(Bytes *to, const Bytes &value, Key) const override {
        *to = bytes_of(number_of(*to) + number_of(value));
    }

    std::vector<Value> values;

private:
    void require(Key key, std::initializer_list<Standing> allowed) const {
        bool fits = false;
        for (Standing standing : allowed) fits |= values[key].standing == standing;
        REQUIRE(fits);
    }
    void become(Key key, std::initializer_list<Standing> from, Standing to) {
        require(key, from);
        values[key].standing = to;
    }
};

} // namespace ps
