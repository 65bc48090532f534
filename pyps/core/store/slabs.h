// Memory for values: per length class a pool for the keys that only this node has, and one for shared keys.
//
// Used by the threads of the server's channels, one at a time, and before they start by the one that makes the node.
// Workers only ever read and write values that are there. Places are changed under the key's latch, or before anything
// else knows the store.
#pragma once

#include <mutex>
#include <vector>

#include "store/pool.h"

namespace ps {

class Slabs {
public:
    explicit Slabs(Segment &segment);

    // So many keys of each length class will be held now; before any other is.
    void expect(const std::vector<uint64_t> &keys);
    Place hold(Place place, const char *whole = nullptr); // absent, awaited -> owned; value and state; null: zeros
    Place drop(Place place); // owned, shared -> absent

    Place hold_replica(Place place); // absent, awaited -> shared, a replica of zeros
    Place share(Place place);        // owned -> shared, the value is copied
    Place unshare(Place place);      // shared -> owned, likewise; a replica's delta is forgotten

private:
    std::unique_lock<std::mutex> alone(); // of several channels

    Place place_at(Place place, Residence residence, uint32_t index) const;
    void count(std::atomic<uint64_t> &what, int change, uint64_t bytes);

    Segment &segment_;
    std::mutex mutex_; // guards the pools and what they count, where there are several channels
    std::vector<Pool> owned_, shared_; // by length class
};

} // namespace ps
