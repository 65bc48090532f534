// When a call that may wait several times gives up. The time begins with the call's first wait, so a call that does not
// wait never reads the clock.
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
