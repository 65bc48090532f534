// The keys of a channel that can be let go by where they are: those that only this node has, and that began here.
#pragma once

#include <cstdint>

#include "segment/segment.h"

namespace ps {

class KeysAtHome {
public:
    KeysAtHome(const Segment &segment, uint32_t channel)
        : segment_(segment), first_homes_(segment.first_homes()), channel_(channel) {}

    Key at(Row row) const { // no_key: the row has none of them
        if (segment_.place(row).residence() != Residence::owned) return no_key;
        const Key key = segment_.key(row);
        if (key == no_key || first_homes_.home(key) != segment_.header().node) return no_key;
        return segment_.channel_rule().channel(key) == channel_ ? key : no_key;
    }

private:
    const Segment &segment_;
    const HomeRule first_homes_;
    const uint32_t channel_;
};

} // namespace ps
