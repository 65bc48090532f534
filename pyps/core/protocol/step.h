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

// Do `body` under the key's latch. False: the latch is busy or other steps of the key wait, so this one must wait too.
template <class Body>
bool Protocol::do_now(Key key, Body &&body) {
    if (parked_.count(key) || !values_.latch(key)) return false;
    Latched latched(values_);
    if (is_unborn(key)) bear(key);
    body();
    return true;
}

// Do `body` under the key's latch, now or as soon as that is possible.
template <class Body>
void Protocol::step(Key key, Body &&body) {
    if (!do_now(key, body)) parked_.add(key, {std::forward<Body>(body)});
}

} // namespace ps
