// What a push does to a key's value: a table with a row per rule, which has a function for each dtype. A length class
// has the number of its keys' rule (LengthClass::rule). Batches, replicas, relocation and undo areas use the row,
// whatever rule it is.
//
// A rule may keep state beside the value. It lies behind the value in the key's slot, starts as zeros, moves with the
// value, and is put back with it. Replicas have no state.
#pragma once

#include <cstdint>
#include <vector>

#include "ps.h"

namespace ps {

constexpr int32_t num_dtypes = PS_INT64 + 1;

// `value` and `delta` have `length` elements; `state` is null unless the rule has state.
using Apply = void (*)(char *value, const char *delta, uint32_t length, char *state);

struct Rule {
    const char *name;
    Apply apply[num_dtypes];
    // Makes one delta of two; null: deltas are not collected at replicas, each goes to the owner by itself.
    Apply merge[num_dtypes];
    bool at_replicas; // a push changes a replica's value at once; else it shows only in the owner's next value
    uint64_t (*state_bytes)(uint32_t length); // bytes of state for a value; null: none
};

using Rules = std::vector<Rule>;
enum BuiltInRule : uint32_t { add_rule, set_rule };
const Rules &built_in_rules();

// The rule of a store's pushes. Its number means the same rule in every process that uses the store.
struct PushRule {
    const Rules *rules = &built_in_rules();
    uint32_t number = add_rule;

    uint64_t state_bytes(uint32_t length) const;
    void require(int32_t dtype) const; // throws PS_EINVAL unless the rule exists and has that dtype
};

} // namespace ps
