#include "store/traced_values.h"

namespace ps {

void TracedValues::begin(Key key) {
    if (trace_) trace_->note(key, PS_TRACE_HERE);
}

void TracedValues::own(Key key, const char *whole) {
    bool was_replica = trace_ && standing(key) == Standing::replica;
    StoreValues::own(key, whole);
    if (was_replica) trace_->note(key, PS_TRACE_REPLICA_ENDED);
    if (trace_) trace_->note(key, PS_TRACE_RELOCATED_IN);
}

// Recorded before the key goes, so that its next owner's trace continues from here.
void TracedValues::give(Key key, NodeId to, Bytes *wholes) {
    if (trace_) trace_->note(key, PS_TRACE_RELOCATED_OUT, to);
    StoreValues::give(key, to, wholes);
}

void TracedValues::copy(Key key, const Bytes &value) {
    StoreValues::copy(key, value);
    if (trace_) trace_->note(key, PS_TRACE_REPLICA_MADE);
}

bool TracedValues::retire(Key key, Bytes *delta) {
    bool any = StoreValues::retire(key, delta);
    if (trace_) trace_->note(key, PS_TRACE_REPLICA_ENDED);
    return any;
}

} // namespace ps
