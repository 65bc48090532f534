// Goes over many keys, and prefetches memory for those that come next.
#pragma once

#include <cstddef>
#include <vector>

#include "protocol.h"

namespace ps {

constexpr size_t entries_ahead = 24, values_ahead = 12; // how many keys ahead

template <class Body>
void Protocol::for_each(const std::vector<Key> &keys, Body &&body) {
    for (size_t i = 0; i < keys.size(); i++) {
        if (i + entries_ahead < keys.size()) {
            values_.prefetch_place(keys[i + entries_ahead]);
            homes_.prefetch(keys[i + entries_ahead]);
        }
        if (i + values_ahead < keys.size()) values_.prefetch(keys[i + values_ahead]);
        body(i, keys[i]);
    }
}

} // namespace ps
