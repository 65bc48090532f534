// The key that stands for a text: XXH64 of its bytes with seed 0 (Y. Collet, the specification of xxHash), as a signed
// number. The same on every machine and for ever: it is written into checkpoints. -1, which is no key, becomes 0.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps {

constexpr const char *text_hash = "xxh64"; // its name in the options of a table

uint64_t xxh64(const char *text, size_t bytes);
int64_t text_key(const char *text, size_t bytes);

} // namespace ps
