// How much memory the host can still give. A memfd has no size limit of its own: without this check the kernel would
// kill processes where an error is wanted.
#pragma once

#include <cstdint>

namespace ps {

uint64_t available_memory(); // bytes: the least of what the host and the control groups above this process have left

} // namespace ps
