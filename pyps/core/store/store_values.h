// A node's values for the protocol of a channel. The server uses the store in shared memory beside the workers, and
// takes the same latches.
//
// Where keys may be any numbers, only those that were used here have rows. This class makes the rows, with their first
// values where the keys begin. latch() fails for a key that has no room for a row, so such a key is refused before
// (make_rows, admit). A row of a key that neither lives nor began here only tells where the key was seen last, and goes
// when its room is needed. If the node lets keys go, those that nobody needs go as well then, see victims.h. Any other
// row goes with unlatch(), if its value was erased and nothing was done to the key after
// that.
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "flat_map.h"
#include "protocol/homes.h"
#include "protocol/ports.h"
#include "store/compaction.h"
#include "store/latch.h"
#include "store/room.h"
#include "store/slabs.h"
#include "store/victims.h"

namespace ps {

class StoreValues : public Values {
public:
    StoreValues(Segment &segment, Slabs &slabs, uint32_t channel); // claims the channel's slot; throws PS_ENOMEM
    ~StoreValues() override;

    // For keys that have none; false if one has no room. Then `needed` are all keys whose rows must stay.
    bool make_rows(const std::vector<Key> &keys, const std::vector<Key> &needed);
    bool make_rows(const std::vector<Key> &keys) { return make_rows(keys, keys); }
    // Keys with rows that must stay though the keys do not live here.
    void keep_rows_of(std::function<bool(Key key)> keys) { keeps_row_ = std::move(keys); }
    // How a key that lives here is let go: false if it is needed.
    void let_go_by(std::function<bool(Key key)> let_go) { let_go_ = std::move(let_go); }
    // Let a key go if it was not used for so many ticks (see Ages); false if it was, or is needed.
    bool let_unused_go(Key key, uint32_t ticks);
    // Let keys go until there is room for what is to come, at most so many and none of the needed ones; false if there
    // is none then.
    bool make_room(const Load &coming, const std::function<bool()> &has_room, const std::vector<Key> &needed,
                   size_t most = SIZE_MAX);

    void begin_with(const FirstHomes &first) override { first_homes_ = &first; }
    bool admit(Key key) override;
    bool latch(Key key) override;
    void unlatch() override;

    Standing standing(Key key) const override;
    void close(Key key) override;
    bool has_row(Key key) const override { return segment_.row(key) != no_row; }
    uint64_t for_some_here(uint64_t from, const std::function<void(Key key)> &body) const override;
    uint64_t whole_bytes(Key key) const override { return segment_.whole_bytes(key); }
    uint64_t value_bytes(Key key) const override { return segment_.value_bytes(key); }
    bool fits_replica(Key key, Operation operation) const override;
    void prefetch_place(Key key) const override;
    void prefetch(Key key) const override;
    void pull(Key key, Bytes *value) override;
    void push(Key key, const Bytes &delta) override;
    void set(Key key, const Bytes &value) override;
    void read(Key key, Bytes *whole) override;
    void replace(Key key, const char *whole) override;
    Bytes first_whole(Key key) const override;
    void await(Key key) override;
    void forget(Key key) override;
    void own(Key key, const char *whole) override;
    void give(Key key, NodeId to, Bytes *wholes) override;
    void share(Key key) override;
    bool has_room_to_share(Key key) const override;
    void unshare(Key key) override;
    bool take_changed(Key key) override;
    void take_changes(std::vector<Key> *keys) override;
    void copy(Key key, const Bytes &value) override;
    void refresh(Key key, const Bytes &value, const Bytes &sent) override;
    bool take_delta(Key key, Bytes *delta) override;
    bool take_part(Key key, Bytes *part) override;
    bool retire(Key key, Bytes *delta) override;
    void erase(Key key) override;
    void apply(Bytes *whole, const char *delta, Key key) const override;
    void assign(Bytes *whole, const char *value, Key key) const override;

    Latches &latches() { return latches_; }

protected:
    virtual void begin(Key) {} // a key that may be any number is used for the first time: it gets its first value here

private:
    Row make_row(Key key); // no_row if there is no room
    bool make_room_for_rows(uint64_t rows, std::vector<Key> needed);
    bool give_up(Row row, Key key);
    bool let_one_go(const std::vector<Key> &needed); // which are sorted
    Load load_of(Place place) const; // of a key that comes here
    void note_elsewhere(Key key);
    bool enter(Row row, Place place); // into a row that no key has; false: its latch is held
    void remove_row();
    bool begins_here(Key key) const { return first_homes_->is_here(key); }

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
    const FirstHomes at_first_;
    const FirstHomes *first_homes_ = &at_first_; // the protocol's, once there is one
    Holder me_;
    Latches latches_;
    Key latched_ = no_key;
    Row row_{no_row}; // the row of that key
    Place place_{0}; // the place of that key
    bool erased_ = false; // and nothing was done to it since
    uint32_t unused_for_ = 0; // not 0: latch() fails if the row was used in so many ticks
    std::function<bool(Key key)> keeps_row_ = [](Key) { return false; }, let_go_ = keeps_row_;
    Compaction compaction_;
    std::optional<Victims> victims_; // if the node lets keys go
    // Keys that neither lived nor began here when they were listed, once each; they may have come since.
    std::deque<Key> elsewhere_;
    FlatMap<bool> is_elsewhere_;
    Bytes first_; // room for the first value of a key
    Bytes split_room_; // see Compression::split
};

} // namespace ps
