// A step of the protocol: something that is done under a key's latch, at once or later.
#pragma once

#include <utility>

#include "protocol.h"

namespace ps {

// Releases the latch when it goes out of scope.
class Latched {
public:
    explicit Latched(Values &values) : values_(values) {}
    ~Latched() { values_.unlatch(); }
    Latched(const Latched &) = delete;
    Latched &operator=(const Latched &) = delete;

private:
    Values &values_;
};

// Does it under the key's latch. False: it cannot be done now and must wait.
template <class Body>
bool Protocol::do_now(Key key, Body &&body) {
    if (parked_.count(key) || !values_.latch(key)) return false;
    Latched latched(values_);
    body();
    return true;
}

template <class Body>
void Protocol::step(Key key, Body &&body) {
    if (!do_now(key, body)) parked_.add(key, {std::forward<Body>(body)});
}

} // namespace ps
