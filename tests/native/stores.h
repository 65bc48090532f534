// Values of nodes for tests of the protocol, one number per key: plain ones, with a check that each call fits what the
// key is, and those of a real store in memory.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <utility>
#include <vector>

#include "protocol/copies.h"
#include "protocol/homes.h"
#include "ps.h"
#include "require.h"
#include "store/store_values.h"
#include "store/store_whereabouts.h"

namespace ps {

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

// Keys at which a worker has stopped with the latch in its hand.
class Stops {
public:
    explicit Stops(uint64_t num_keys) : at(num_keys) {}
    virtual ~Stops() = default;
    std::vector<bool> at;
};

// `body()` under the key's latch, also where a worker has stopped.
template <class Body>
void under_latch(Values &values, Key key, Body &&body) {
    std::vector<bool> &stops = dynamic_cast<Stops &>(values).at;
    bool stopped = stops[key];
    stops[key] = false;
    REQUIRE(values.latch(key));
    body();
    values.unlatch();
    stops[key] = stopped;
}

inline int64_t number_at(Values &values, Key key) {
    Bytes value;
    under_latch(values, key, [&] { values.pull(key, &value); });
    return number_of(value);
}

inline int64_t number_at(const Copy &copy) { return number_of(Bytes(copy.whole.get(), copy.whole.get() + 8)); }

inline bool owns(const Values &values, Key key) {
    Standing standing = values.standing(key);
    return standing == Standing::owned || standing == Standing::shared;
}

class NumberStore : public Values, public Stops {
public:
    struct Value {
        Standing standing = Standing::absent;
        int64_t number = 0, delta = 0;
        bool changed = false; // since the protocol took it; of what is shared
        NodeId seen_at = no_node;
    };

    explicit NumberStore(uint64_t num_keys) : Stops(num_keys), values(num_keys), rows(num_keys, true) {}

    bool sends_parts = false; // of each delta, as one that is compressed, the highest bit

    void begin_with(const FirstHomes &homes) override {
        first = &homes;
        for (Key key = 0; key < values.size(); key++)
            if (homes.is_here(key)) values[key].standing = Standing::owned;
    }

    std::unique_ptr<Whereabouts> whereabouts();

    uint64_t for_some_here(uint64_t from, const std::function<void(Key)> &body) const override {
        const Key key = from;
        if (rows[key] || first->rule().space().is_range()) body(key);
        return key + 1 < values.size() ? key + 1 : 0;
    }

    bool latch(Key key) override {
        REQUIRE(latched == nobody);
        if (at[key]) return false;
        latched = key;
        values[key].standing = standing(key);
        rows[key] = true;
        erased = false;
        return true;
    }
    void unlatch() override {
        REQUIRE(latched != nobody);
        if (erased) rows[latched] = false;
        latched = nobody;
    }

    Standing standing(Key key) const override {
        if (rows[key] || first->rule().space().is_range()) return values[key].standing;
        return first->is_here(key) ? Standing::owned : Standing::absent;
    }
    bool has_row(Key key) const override { return rows[key]; }
    uint64_t whole_bytes(Key) const override { return 8; }
    uint64_t value_bytes(Key) const override { return 8; }
    bool fits_replica(Key, Operation operation) const override { return operation != Operation::set; }
    void pull(Key key, Bytes *value) override {
        require(key, {Standing::owned, Standing::shared, Standing::replica});
        erased = false;
        *value = bytes_of(values[key].number);
    }
    void push(Key key, const Bytes &value) override {
        require(key, {Standing::owned, Standing::shared, Standing::replica});
        erased = false;
        Value &v = values[key];
        v.number += number_of(value);
        if (v.standing == Standing::replica) v.delta += number_of(value);
        note_changed(key);
    }
    void set(Key key, const Bytes &value) override {
        require(key, {Standing::owned, Standing::shared});
        erased = false;
        values[key].number = number_of(value);
        note_changed(key);
    }
    void read(Key key, Bytes *whole) override {
        require(key, {Standing::owned, Standing::shared});
        erased = false;
        *whole = bytes_of(values[key].number);
    }
    void replace(Key key, const char *whole) override {
        require(key, {Standing::owned, Standing::shared});
        erased = false;
        values[key].number = number_of(Bytes(whole, whole + 8));
        if (values[key].standing == Standing::shared) values[key].changed = true;
    }
    void write_whole(Key key, int64_t number) { // as a worker does that loads a checkpoint
        values[key].number = number;
        if (values[key].standing == Standing::shared) values[key].changed = true;
        changes.push_back(key);
    }
    Bytes first_whole(Key) const override { return bytes_of(0); }
    void await(Key key) override { become(key, {Standing::absent}, Standing::awaited); }
    void forget(Key key) override { become(key, {Standing::awaited}, Standing::absent); }
    void own(Key key, const char *value) override {
        Value &v = values[key];
        int64_t added = v.standing == Standing::replica ? v.delta : 0;
        become(key, {Standing::absent, Standing::awaited, Standing::replica, Standing::closed}, Standing::owned);
        v = Value{Standing::owned, number_of(Bytes(value, value + 8)) + added, 0, false, no_node};
    }
    void give(Key key, NodeId to, Bytes *given) override {
        Bytes value = bytes_of(values[key].number);
        given->insert(given->end(), value.begin(), value.end());
        become(key, {Standing::owned, Standing::shared}, Standing::absent);
        values[key].seen_at = to;
        values[key].changed = false;
    }
    bool has_room_to_share(Key) const override { return true; }
    void share(Key key) override { become(key, {Standing::owned}, Standing::shared); }
    void unshare(Key key) override {
        become(key, {Standing::shared}, Standing::owned);
        values[key].changed = false;
    }
    bool take_changed(Key key) override {
        require(key, {Standing::shared});
        return std::exchange(values[key].changed, false);
    }
    void take_changes(std::vector<Key> *keys) override { *keys = std::exchange(changes, {}); }
    void copy(Key key, const Bytes &value) override {
        become(key, {Standing::absent, Standing::awaited}, Standing::replica);
        values[key] = Value{Standing::replica, number_of(value), 0, false, no_node};
    }
    void refresh(Key key, const Bytes &value, const Bytes &sent) override {
        require(key, {Standing::replica});
        values[key].number = number_of(value) + values[key].delta + (sent.empty() ? 0 : number_of(sent));
    }
    bool take_part(Key key, Bytes *part) override {
        if (!sends_parts) return take_delta(key, part);
        require(key, {Standing::replica, Standing::closed});
        if (!std::exchange(values[key].changed, false)) return false;
        int64_t &delta = values[key].delta;
        const int64_t largest = delta > 0 ? int64_t(1) << (63 - __builtin_clzll(uint64_t(delta))) : delta;
        delta -= largest;
        *part = bytes_of(largest);
        return true;
    }
    bool take_delta(Key key, Bytes *delta) override {
        require(key, {Standing::replica, Standing::closed});
        const bool any = std::exchange(values[key].changed, false) || values[key].delta != 0;
        if (any) *delta = bytes_of(std::exchange(values[key].delta, 0));
        return any;
    }
    void close(Key key) override {
        REQUIRE(values[key].standing == Standing::replica);
        values[key].standing = Standing::closed;
    }
    bool retire(Key key, Bytes *delta) override {
        bool any = take_delta(key, delta);
        values[key].standing = Standing::awaited;
        return any;
    }
    void erase(Key key) override {
        require(key, {Standing::owned});
        values[key].number = 0;
        if (!first->is_here(key)) values[key].standing = Standing::absent;
        erased = true;
    }
    void apply(Bytes *whole, const char *delta, Key) const override {
        *whole = bytes_of(number_of(*whole) + number_of(Bytes(delta, delta + 8)));
    }
    void assign(Bytes *whole, const char *value, Key) const override { whole->assign(value, value + 8); }

private:
    friend class NumberWhereabouts;
    static constexpr Key nobody = UINT64_MAX;

    const FirstHomes *first = nullptr;
    std::vector<Value> values;
    std::vector<bool> rows; // by key
    bool erased = false; // the key whose latch is held, and nothing was done to it since
    Key latched = nobody;
    std::vector<Key> changes; // each time that a key becomes changed

    void note_changed(Key key) {
        Value &value = values[key];
        if (value.standing == Standing::owned || std::exchange(value.changed, true)) return;
        changes.push_back(key);
    }

    void require(Key key, std::initializer_list<Standing> allowed) const {
        REQUIRE(latched == key);
        bool fits = false;
        for (Standing standing : allowed) fits |= values[key].standing == standing;
        REQUIRE(fits);
    }
    void become(Key key, std::initializer_list<Standing> from, Standing to) {
        require(key, from);
        erased = false;
        values[key].standing = to;
    }
};

class NumberWhereabouts : public Whereabouts {
public:
    explicit NumberWhereabouts(NumberStore &store) : store_(store) {}

    void find(const std::vector<Key> &keys, std::vector<NodeId> *nodes) const override {
        for (size_t i = 0; i < keys.size(); i++) {
            const NumberStore::Value &value = store_.values[keys[i]];
            if (value.standing == Standing::absent) (*nodes)[i] = value.seen_at;
        }
    }
    void note_owner(const std::vector<Key> &keys, const AnswerBatch &answer, NodeId owner) override {
        for (uint32_t i = 0; i < answer.count; i++) {
            NumberStore::Value &value = store_.values[keys[answer.position(i)]];
            if (value.standing == Standing::absent) value.seen_at = owner;
        }
    }

private:
    NumberStore &store_;
};

inline std::unique_ptr<Whereabouts> NumberStore::whereabouts() { return std::make_unique<NumberWhereabouts>(*this); }

// Of a node that often has no room.
class TightStore : public NumberStore {
public:
    using NumberStore::NumberStore;
    bool has_room_to_share(Key) const override { return (asked_++ * 0x9e3779b97f4a7c15 >> 60) % 3 == 0; }

private:
    mutable uint64_t asked_ = 0;
};

struct MemoryParts {
    explicit MemoryParts(uint64_t num_keys) {
        int64_t length = 1;
        ps_node_options options{};
        options.num_keys = int64_t(num_keys);
        options.value_lengths = &length;
        options.num_lengths = 1;
        options.dtype = PS_INT64;
        options.max_workers = 1;
        segment = Segment::create(options);
        slabs = std::make_unique<Slabs>(*segment);
    }
    std::shared_ptr<Segment> segment;
    std::unique_ptr<Slabs> slabs;
};

class MemoryStore : private MemoryParts, public StoreValues, public Stops {
public:
    explicit MemoryStore(uint64_t num_keys)
        : MemoryParts(num_keys), StoreValues(*segment, *slabs, 0), Stops(num_keys) {}

    void begin_with(const FirstHomes &homes) override {
        StoreValues::begin_with(homes);
        for (Key key = 0; key < at.size(); key++)
            if (homes.is_here(key)) under_latch(*this, key, [&] { own(key, bytes_of(0).data()); });
    }

    bool latch(Key key) override { return !at[key] && StoreValues::latch(key); }

    std::unique_ptr<Whereabouts> whereabouts() { return std::make_unique<StoreWhereabouts>(*segment); }
};

// A node's store, where its workers look for keys, and where they have stopped.
struct Store {
    std::unique_ptr<Values> values;
    std::unique_ptr<Whereabouts> whereabouts;
    std::vector<bool> *stops;
};

template <class Kind>
Store make_store(uint64_t num_keys) {
    auto store = std::make_unique<Kind>(num_keys);
    Kind *pointer = store.get();
    return {std::move(store), pointer->whereabouts(), &pointer->at};
}

} // namespace ps
