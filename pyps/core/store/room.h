// Whether a node's memory limit has room for keys. This is checked before the node asks for them: once a key's home
// knows that it is to live here, it must come.
#pragma once

#include <cstdint>

#include "segment/segment.h"

namespace ps {

enum class Kept { alone, shared }; // alone: only this node has the value; shared: others have replicas

// Whether there is room for so many bytes of such values, in free slots or in new slabs; always true without a limit.
bool has_room(Segment &segment, Kept kept, uint64_t bytes);

// Bytes of the values of those keys that are not here.
uint64_t bytes_of_absent(const Segment &segment, const uint64_t *keys, uint64_t num_keys);

} // namespace ps
