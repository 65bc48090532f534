// Which writes of workers the value of a key has, of those that a worker may ask for again after the loss of a node.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "messages.h"

namespace ps {

class Recent {
public:
    bool has(Key key, const Origin &origin) const {
        auto found = writes_.find(key);
        return found != writes_.end() &&
               std::find(found->second.begin(), found->second.end(), origin) != found->second.end();
    }
    void note(Key key, const Origin &origin) {
        if (!has(key, origin)) writes_[key].push_back(origin);
    }
    void note(Key key, const std::vector<Origin> &origins) {
        for (const Origin &origin : origins) note(key, origin);
    }
    std::vector<Origin> of(Key key) const {
        auto found = writes_.find(key);
        return found == writes_.end() ? std::vector<Origin>() : found->second;
    }
    void forget(Key key) { writes_.erase(key); }

private:
    std::unordered_map<Key, std::vector<Origin>> writes_;
};

} // namespace ps
