// Requests for keys that have no rows because they were not used often enough: a pull gets their first values, a push
// changes nothing.
#include <algorithm>
#include <iterator>

#include "counting.h"
#include "server/serving.h"

namespace ps {

// Counts a use of each key of this channel that has no row. Returns those that get none yet, sorted.
std::vector<Key> Serving::count_uses(const FrameHeader &header, const std::vector<Key> &keys) {
    std::vector<Key> rowless;
    for (Key key : keys) {
        if (!is_mine(header, key) || !protocol_.awaits_admission(key)) continue;
        use_counts_->prefetch(key);
        rowless.push_back(key);
    }
    std::sort(rowless.begin(), rowless.end());
    rowless.erase(std::unique(rowless.begin(), rowless.end()), rowless.end());
    auto is_enough = [&](Key key) { return use_counts_->count(key); };
    rowless.erase(std::remove_if(rowless.begin(), rowless.end(), is_enough), rowless.end());
    return rowless;
}

// Returns what is left of the request.
RequestBatch Serving::answer_unadmitted(const RequestBatch &batch, ValueBytes values, bool forwarded,
                                        const std::vector<Key> &unadmitted) {
    const bool pull = batch.operation == Operation::pull;
    AnswerBatch answer = AnswerBatch::to(batch);
    answer.forwarded = forwarded;
    answer.whole = false;
    RequestBatch rest = batch;
    rest.keys.clear();
    rest.positions.clear();
    const char *value = values.at;
    for (uint32_t i = 0; i < batch.keys.size(); i++) {
        const Key key = batch.keys[i];
        const char *end = pull ? value : value + segment_.value_bytes(key);
        if (!std::binary_search(unadmitted.begin(), unadmitted.end(), key)) {
            rest.keys.push_back(key);
            rest.positions.push_back(batch.position(i));
            rest.values.insert(rest.values.end(), value, end);
        } else {
            answer.positions.push_back(batch.position(i));
            if (pull) {
                const Bytes whole = values_.first_whole(key);
                answer.values.insert(answer.values.end(), whole.data(), whole.data() + segment_.value_bytes(key));
            }
        }
        value = end;
    }
    answer.count = uint32_t(answer.positions.size());
    if (!pull) count_in(segment_.header().pushes_dropped, answer.count);
    mailbox_.answer_whole(answer);
    return rest;
}

// Without those that this node keeps without rows. They are where a localize is to bring them.
std::vector<Key> Serving::admitted(const std::vector<Key> &keys) const {
    std::vector<Key> found;
    std::copy_if(keys.begin(), keys.end(), std::back_inserter(found),
                 [&](Key key) { return !protocol_.awaits_admission(key); });
    return found;
}

} // namespace ps
