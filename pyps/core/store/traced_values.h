// A node's values. If the node has a trace, it records what comes and goes.
#pragma once

#include "store/store_values.h"
#include "store/trace.h"

namespace ps {

class TracedValues : public StoreValues {
public:
    TracedValues(Segment &segment, Slabs &slabs, uint32_t channel, Trace *trace)
        : StoreValues(segment, slabs, channel), trace_(trace) {}

    void own(Key key, const char *whole) override;
    void give(Key key, NodeId to, Bytes *wholes) override;
    void copy(Key key, const Bytes &value) override;
    bool retire(Key key, Bytes *delta) override;

protected:
    void begin(Key key) override;

private:
    Trace *const trace_; // null: no trace was asked for
};

} // namespace ps
