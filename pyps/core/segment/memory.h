// How much memory the host can still give. A memfd has no size limit of its own: without asking, the kernel would kill
// processes where an error is wanted.
#pragma once

#include <cstdint>

namespace ps {

uint64_t available_memory(); // bytes; of the host and of every control group above this process, the smallest

} // namespace ps
