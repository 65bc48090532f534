// What is done with the gradients of a push before they are applied here or sent to other nodes.
#pragma once

#include <vector>

#include "segment/segment.h"

namespace ps {

class Gradients {
public:
    // Whether pushes bring gradients, or something else that may be merged before the owner applies it.
    static bool are_pushed_to(const Segment &segment) {
        return !segment.rule().at_replicas && segment.rule().merge[segment.header().dtype];
    }
    // The request with each key once, at its first place, and the sum of its gradients. The result is for this call of
    // the request only. Throws PS_EINVAL for a gradient that is not finite, if such are refused.
    ps_request collect(const Segment &segment, const ps_request &request);

private:
    bool has_repeats(const int64_t *keys, int64_t num_keys);
    void find_repeats(const int64_t *keys, int64_t num_keys);
    int clear_table(int64_t num_keys);
    uint64_t next(uint64_t place) const { return (place + 1) & (table_.size() - 1); }
    void sum(const Segment &segment, const ps_request &request);

    std::vector<uint32_t> table_; // of keys, by their hash: a position + 1, or 0
    std::vector<int64_t> keys_; // each key once
    std::vector<uint32_t> of_; // for each key of the request: its position in keys_
    std::vector<uint64_t> at_; // where each key's sum begins in sums_
    std::vector<char> sums_;
};

} // namespace ps
