// Messages that were refused by the server or a worker are counted, and the reason of the first one is kept.
#pragma once

#include <cstdio>
#include <vector>

#include "protocol/messages.h"
#include "segment/segment.h"

namespace ps {

inline void count_refusal(Header &header, const char *reason) {
    if (header.refused.fetch_add(1, std::memory_order_relaxed) > 0) return;
    std::snprintf(header.first_refusal, sizeof header.first_refusal, "%s", reason);
    header.refusal_kept.store(1, std::memory_order_release);
}

inline const char *first_refusal(const Header &header) {
    return header.refusal_kept.load(std::memory_order_acquire) ? header.first_refusal : "";
}

// Call take(i) for each key of a message. If one is refused, the others are taken nevertheless.
template <class Take>
void take_each(Header &header, const std::vector<Key> &keys, Take &&take) {
    for (size_t i = 0; i < keys.size(); i++) {
        try {
            take(i);
        } catch (const Unexpected &error) {
            count_refusal(header, error.what());
        }
    }
}

} // namespace ps
