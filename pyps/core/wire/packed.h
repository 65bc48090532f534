// How a compressed delta is written in a message, as docs/wire.md has it.
#pragma once

#include "wire/frame.h"
#include "wire/packing.h"

namespace ps {

void put_packed(FrameWriter &writer, const Packing &packing, const Bytes &delta);
Bytes get_packed(FrameReader &reader, const Packing &packing, uint64_t delta_bytes); // throws Malformed

} // namespace ps
