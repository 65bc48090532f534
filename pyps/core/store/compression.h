// How deltas of replicas become shorter on their way to their keys' owners. A delta that goes by itself is split: what
// is sent of it now, which can be written shorter, and the rest, which stays at the replica and goes with a later
// delta. So what is left out is late, but never lost.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/messages.h"
#include "wire/packing.h"

namespace ps {

// Plain data: it is part of a store's header.
class Compression {
public:
    Compression() = default; // deltas are sent whole
    // What a text asks for: "bfloat16" rounds each element to the nearest bfloat16, ties to even; "top_k:share=0.1"
    // sends the elements that are the largest by magnitude, and zeros instead of the others; "none" or an empty text.
    // Throws PS_EINVAL, also if it is not for values of this dtype.
    static Compression read(const std::string &text, int32_t dtype);
    static bool takes(int32_t dtype); // whether values of this dtype can be compressed
    std::string describe() const; // with all settings; empty: none

    const Packing &packing() const { return packing_; } // of what is sent

    // Makes a delta the rest of itself and `sent`, as long as the delta, what goes now; only if its length is one that
    // becomes shorter. Their sum is the delta, exactly. Returns whether there is a rest. `room` is for what it
    // computes; the same one should be passed each time.
    bool split(char *delta, Bytes *sent, Bytes *room) const;

private:
    Packing packing_;
};

} // namespace ps
