// Memory for values: for each length class a pool for keys that only this node has, and one for shared keys.
//
// Used by the threads of the server's channels, one at a time, and before these start by the thread that makes the
// node. Workers only read and write values that exist. Places change under the key's latch, or before anything else
// uses the store.
#pragma once

#include <mutex>
#include <vector>

#include "store/pool.h"

namespace ps {

class Slabs {
public:
    explicit Slabs(Segment &segment);

    // So many keys of each length class will be held now. Call it before any other.
    void expect(const std::vector<uint64_t> &keys);
    // Absent, awaited -> owned; `whole`: value and state, or null for zeros.
    Place hold(Place place, const char *whole = nullptr);
    Place drop(Place place); // owned, shared -> absent

    Place hold_replica(Place place); // absent, awaited -> shared, as a replica of zeros
    Place share(Place place); // owned -> shared; copies the value
    Place unshare(Place place); // shared -> owned; copies the value; a replica's delta is forgotten

    // Where a value's slot tells its row (LengthClass::row_at): so that values can be moved and whole slabs emptied.
    void note_row(Place place, Row row) const; // of an owned value; the caller holds its key's latch
    Row row_at(uint32_t length_class, uint32_t slot) const; // no_row: no value, or it is not known yet whose
    bool give_back_kept(uint32_t length_class); // see Pool
    Pool::Slots close(uint32_t length_class);
    Place move_from_closed(Place place, Row row); // stays where it is if there is no room elsewhere
    bool open(uint32_t length_class);

    // For the thread that makes room and takes it: if there are several channels, no other one takes it in between.
    std::unique_lock<std::mutex> alone_with_room() { return alone(room_mutex_); }

private:
    std::unique_lock<std::mutex> alone(std::mutex &mutex) const; // locks the mutex if there are several channels

    Place place_at(Place place, Residence residence, uint32_t index) const;
    void count(std::atomic<uint64_t> &what, int change, uint64_t bytes);

    Segment &segment_;
    std::mutex mutex_; // guards the pools and their counters if there are several channels
    std::mutex room_mutex_; // is taken before the other one
    std::vector<Pool> owned_, shared_; // by length class
};

// Of a range: the keys whose home this node is at first.
void hold_first_keys(Segment &segment, Slabs &slabs);

} // namespace ps
