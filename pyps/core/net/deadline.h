// When a call that may wait several times gives up. The time runs from the call's first wait, so that a call that does
// not wait never asks for the time.
#pragma once

#include <algorithm>

#include "segment/process.h"

namespace ps {

class Deadline {
public:
    explicit Deadline(double seconds) : seconds_(seconds) {}

    double left() { // seconds
        double now = monotonic_seconds();
        if (end_ == 0) end_ = now + seconds_;
        return std::max(end_ - now, 0.0);
    }

private:
    const double seconds_;
    double end_ = 0; // 0: nothing was waited for yet
};

} // namespace ps
