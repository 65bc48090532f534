// Which writes of workers the values of keys have, of those that a worker may ask for again after the loss of a node:
// what it has not been told yet that it was done. Each of its writes says how far that is.
//
// Writes are noted by worker and operation, since most operations write many keys, are noted at once, and are forgotten
// at once. Where a key stands among those of an operation is looked up only after a loss and for keys that move.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "flat_map.h"
#include "messages.h"

namespace ps {

class Recent {
public:
    bool has(Key key, const Origin &origin) const {
        const Done *done = find(origin);
        bool found = false;
        if (done) done->for_each_position(key, [&](uint32_t position) { found |= position == origin.position; });
        return found;
    }

    bool has_any_of(const Origin &operation) const { return find(operation); } // a write, whatever its position

    void note(Key key, const Origin &origin) {
        if (!has(key, origin)) begin(origin).add({key}, {origin.position});
    }
    void note(Key key, const std::vector<Origin> &origins) {
        for (const Origin &origin : origins) note(key, origin);
    }
    // Many keys of one operation, whose position in `origin` is not used.
    void note(const Origin &origin, const std::vector<Key> &keys, const std::vector<uint32_t> &positions) {
        begin(origin).add(keys, positions);
    }

    std::vector<Origin> of(Key key) const {
        std::vector<Origin> origins;
        for (const auto &[worker, known] : workers_)
            for (const auto &[operation, done] : known.operations)
                done.for_each_position(key, [&, worker = worker, operation = operation](uint32_t position) {
                    origins.push_back({worker.first, worker.second, position, operation, done.behind});
                });
        return origins;
    }

    // What workers of other nodes did is asked for by nobody.
    void forget_all_but(const std::vector<NodeId> &nodes) {
        for (auto next = workers_.begin(); next != workers_.end();) {
            auto here = next++;
            if (!std::count(nodes.begin(), nodes.end(), here->first.first)) workers_.erase(here);
        }
    }

private:
    static constexpr size_t most_workers = 4096; // those beyond that which have not written for longest are forgotten

    class Done {
    public:
        uint32_t behind = 0;

        void add(const std::vector<Key> &keys, const std::vector<uint32_t> &positions) {
            keys_.insert(keys_.end(), keys.begin(), keys.end());
            positions_.insert(positions_.end(), positions.begin(), positions.end());
        }

        template <class Body>
        void for_each_position(Key key, Body &&body) const {
            for (; before_.size() < keys_.size();
                 before_.push_back(std::exchange(last_[keys_[before_.size()]], next())));
            const size_t *last = last_.find(key);
            for (size_t i = last ? *last : 0; i > 0; i = before_[i - 1]) body(positions_[i - 1]);
        }

    private:
        size_t next() const { return before_.size() + 1; }

        std::vector<Key> keys_;
        std::vector<uint32_t> positions_;
        mutable FlatMap<size_t> last_; // by key: 1 + where it stands last, of the first before_.size() keys
        mutable std::vector<size_t> before_; // the same for where the key stands before that, or 0
    };

    struct Worker {
        std::map<uint64_t, Done> operations;
        uint64_t last_note = 0;
    };

    const Done *find(const Origin &origin) const {
        auto worker = workers_.find({origin.node, origin.worker});
        if (worker == workers_.end()) return nullptr;
        auto done = worker->second.operations.find(origin.operation);
        return done == worker->second.operations.end() ? nullptr : &done->second;
    }

    Done &begin(const Origin &origin) {
        Worker &worker = workers_[{origin.node, origin.worker}];
        worker.last_note = ++notes_;
        const uint64_t first = origin.operation - std::min<uint64_t>(origin.behind, origin.operation);
        worker.operations.erase(worker.operations.begin(), worker.operations.lower_bound(first));
        Done &done = worker.operations[origin.operation];
        done.behind = origin.behind;
        if (workers_.size() > most_workers) forget_one();
        return done;
    }

    void forget_one() {
        workers_.erase(std::min_element(workers_.begin(), workers_.end(), [](const auto &a, const auto &b) {
            return a.second.last_note < b.second.last_note;
        }));
    }

    std::map<std::pair<NodeId, uint32_t>, Worker> workers_;
    uint64_t notes_ = 0;
};

} // namespace ps
