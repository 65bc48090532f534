// A node's values for the protocol of a channel. The server uses the store in shared memory beside the workers, and
// takes the same latches.
//
// Where keys may be any numbers, only those that were used here have rows. This class makes the rows, with values of
// zeros where the keys begin. latch() fails for a key that has no room for a row, so such a key is refused before
// (make_rows, admit). Rows stay as long as the node.
#pragma once

#include "protocol/homes.h"
#include "protocol/ports.h"
#include "store/latch.h"
#include "store/slabs.h"

namespace ps {

class StoreValues : public Values {
public:
    StoreValues(Segment &segment, Slabs &slabs, uint32_t channel); // claims the channel's slot; throws PS_ENOMEM
    ~StoreValues() override;

    bool make_rows(const std::vector<Key> &keys); // for keys that have none; false if one has no room

    bool admit(Key key) override;
    bool latch(Key key) override;
    void unlatch() override;

    Standing standing(Key key) const override;
    void for_each_here(const std::function<void(Key key)> &body) const override;
    uint64_t whole_bytes(Key key) const override { return segment_.whole_bytes(key); }
    bool fits_replica(Key key, Operation operation) const override;
    void prefetch_place(Key key) const override;
    void prefetch(Key key) const override;
    void pull(Key key, Bytes *value) override;
    void push(Key key, const Bytes &delta) override;
    void set(Key key, const Bytes &value) override;
    void await(Key key) override;
    void forget(Key key) override;
    void own(Key key, const char *whole) override;
    void give(Key key, NodeId to, Bytes *wholes) override;
    void share(Key key) override;
    bool has_room_to_share(Key key) const override;
    void unshare(Key key) override;
    bool take_changed(Key key) override;
    void take_changes(std::vector<Key> *keys) override {
        segment_.changes(channel_).take([&](Row row) { keys->push_back(segment_.key(row)); });
    }
    void copy(Key key, const Bytes &value) override;
    void refresh(Key key, const Bytes &value, const Bytes &sent) override;
    bool take_delta(Key key, Bytes *delta) override;
    bool retire(Key key, Bytes *delta) override;
    void apply(Bytes *whole, const Bytes &delta, Key key) const override;

    Latches &latches() { return latches_; }

protected:
    virtual void begin(Key) {} // a key that may be any number is used for the first time: it gets its first value here

private:
    Row make_row(Key key); // no_row if there is no room
    bool begins_here(Key key) const { return homes_.base(key) == segment_.header().node; }

    template <class Body>
    void with(Key key, Body &&body);
    void run(Key key, int32_t operation, char *value);
    void apply(char *whole, const char *delta, const LengthClass &c) const;
    void require_latched(Key key) const;
    const LengthClass &class_of(Place place) const { return segment_.length_class(place.length_class()); }
    SharedHead *head_of(Place place) const { return segment_.shared(class_of(place), place.index()); }

    Segment &segment_;
    Slabs &slabs_;
    const uint32_t channel_;
    const HomeRule homes_; // the homes at the beginning, when all nodes are members
    Holder me_;
    Latches latches_;
    Key latched_ = no_key;
    Row row_{no_row}; // the row of that key
    Place place_{0}; // the place of that key
    Bytes first_; // room for the first value of a key
};

} // namespace ps
