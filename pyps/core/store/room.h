// Whether a node's memory limit has room for keys that it asks for. That is looked at before they are asked for: once a
// key's home knows that it is to live here, it has to.
#pragma once

#include <cstdint>

#include "segment/segment.h"

namespace ps {

enum class Kept { alone, shared }; // values by this node alone; also by others

// For so many bytes of such values, in slots that are free or in slabs to come; true without a limit.
bool has_room(Segment &segment, Kept kept, uint64_t bytes);

// What those of the keys take that are not here.
uint64_t bytes_of_absent(const Segment &segment, const uint64_t *keys, uint64_t num_keys);

} // namespace ps
