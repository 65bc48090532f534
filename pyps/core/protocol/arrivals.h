// The keys that are on their way to a node, and what waits for them. For most keys this is one localize only, which is
// kept in 16 bytes.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "flat_map.h"
#include "messages.h"

namespace ps {

using Waiting = std::variant<Request, Want, Delta>;

struct Arrival {
    std::vector<uint64_t> waiters;
    std::vector<Waiting> queue;
    std::vector<Relocate> next; // orders to hand the key on, one after each time that it comes, in this order
    std::vector<Request> late; // that the home has passed on behind such an order
};

class Arrivals {
public:
    bool empty() const { return waiters_.empty() && others_.empty(); }
    bool count(Key key) const { return waiters_.count(key) || (!others_.empty() && others_.count(key)); }

    // Add the first one that waits for the key; nothing may wait for it yet.
    void add(Key key, uint64_t waiter) { waiters_[key] = waiter; }
    // Null if nothing waits, or more than one waiter.
    const uint64_t *only_waiter(Key key) const { return waiters_.find(key); }
    void remove_waiter(Key key) { waiters_.erase(key); }

    Arrival &operator[](Key key) { // made if there is none
        Arrival &arrival = others_[key];
        if (const uint64_t *waiter = waiters_.find(key)) {
            arrival.waiters.push_back(*waiter);
            waiters_.erase(key);
        }
        return arrival;
    }

    Arrival extract(Key key) { // the key must have one
        (*this)[key];
        return std::move(others_.extract(key).mapped());
    }

    template <class Body>
    void for_each_key(Body &&body) const {
        waiters_.for_each([&](Key key, uint64_t) { body(key); });
        for (const auto &[key, arrival] : others_) body(key);
    }
    template <class Fits>
    bool any_order(Fits &&fits) const {
        return std::any_of(others_.begin(), others_.end(), [&](const auto &known) {
            return std::any_of(known.second.next.begin(), known.second.next.end(), fits);
        });
    }
    void clear() { *this = Arrivals(); }

private:
    FlatMap<uint64_t> waiters_;
    std::unordered_map<Key, Arrival> others_;
};

} // namespace ps
