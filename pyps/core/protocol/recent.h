// Which writes of workers the value of a key has, of those that a worker may ask for again after the loss of a node:
// what it has not been told yet that it was done. Each of its writes says how far that is.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "messages.h"

namespace ps {

class Recent {
public:
    bool has(Key key, const Origin &origin) const {
        auto found = by_key_.find(key);
        return found != by_key_.end() &&
               std::find(found->second.begin(), found->second.end(), origin) != found->second.end();
    }

    void note(Key key, const Origin &origin) {
        if (has(key, origin)) return;
        by_key_[key].push_back(origin);
        std::deque<Done> &done = by_worker_[{origin.node, origin.worker}];
        done.push_back({origin.operation, key});
        const uint64_t first = origin.operation - std::min<uint64_t>(origin.behind, origin.operation);
        for (; done.front().operation < first; done.pop_front()) forget(done.front().key, origin, first);
    }
    void note(Key key, const std::vector<Origin> &origins) {
        for (const Origin &origin : origins) note(key, origin);
    }

    std::vector<Origin> of(Key key) const {
        auto found = by_key_.find(key);
        return found == by_key_.end() ? std::vector<Origin>() : found->second;
    }
    void forget(Key key) { by_key_.erase(key); }

private:
    struct Done {
        uint64_t operation;
        Key key;
    };

    // What the worker did before this operation.
    void forget(Key key, const Origin &worker, uint64_t first) {
        auto found = by_key_.find(key);
        if (found == by_key_.end()) return;
        std::vector<Origin> &writes = found->second;
        writes.erase(std::remove_if(writes.begin(), writes.end(),
                                    [&](const Origin &write) {
                                        return write.node == worker.node && write.worker == worker.worker &&
                                               write.operation < first;
                                    }),
                     writes.end());
        if (writes.empty()) by_key_.erase(found);
    }

    std::unordered_map<Key, std::vector<Origin>> by_key_;
    std::map<std::pair<NodeId, uint32_t>, std::deque<Done>> by_worker_; // in the order in which they were noted
};

} // namespace ps
