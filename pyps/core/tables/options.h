// What a named table is made with, as the text on which nodes agree: "capacity=1000000 lengths=64 dtype=float32 ...".
// The same table has the same text, whichever process declares it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ps.h"

namespace ps {

struct TableOptions {
    int64_t num_keys = 0, capacity = 0, memory_limit = 0;
    int32_t dtype = PS_FLOAT32, eviction = PS_EVICT_NONE, admission = 0;
    double max_age = 0;
    std::vector<int64_t> lengths; // one, or with a capacity those of the classes of keys
    std::string optimizer, initializer; // with all settings
    std::string hash; // of texts; empty if keys are numbers

    // Both throw PS_EINVAL.
    static TableOptions of(const ps_node_options &options); // options that a table does not have must be 0
    static TableOptions read(const std::string &text);
    std::string text() const;
    // The rest is as for the node that has the table. Points to this object's members.
    ps_node_options for_node() const;
};

constexpr size_t most_table_name = 63; // bytes
void require_table_name(const std::string &name); // throws PS_EINVAL

} // namespace ps
