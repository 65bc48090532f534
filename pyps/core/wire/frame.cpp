#include "wire/frame.h"

#include "wire/shape.h"

namespace ps {

FrameHeader decode_header(FrameReader &reader, uint64_t cluster, const Shape &shape) {
    auto header = reader.get<FrameHeader>();
    if (header.magic != wire_magic) throw Malformed("it does not begin like a message of this protocol");
    if (header.version != wire_version)
        throw Malformed("it has version " + std::to_string(header.version) + " of the protocol, this node has " +
                        std::to_string(wire_version));
    if (header.kind < Kind::hello || header.kind > last_kind)
        throw Malformed("its kind, " + std::to_string(int(header.kind)) + ", is unknown");
    if (header.cluster != cluster) throw Malformed("it is meant for another cluster");
    if (is_about_keys(header.kind) && header.count == 0) throw Malformed("it is about no key");
    if (header.from >= shape.places())
        throw Malformed("it comes from node " + std::to_string(header.from) + " of " + std::to_string(shape.places()));
    bool is_for_any = header.channel == any_channel && header.kind == Kind::request && shape.channels().channels() > 1;
    if (header.channel >= shape.channels().channels() && !is_for_any)
        throw Malformed("it is for channel " + std::to_string(header.channel) + " of " +
                        std::to_string(shape.channels().channels()));
    return header;
}

} // namespace ps
