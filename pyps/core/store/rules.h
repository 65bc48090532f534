// What a push does to a key's value: one row per rule, with a function per dtype. A length class names the rule of its
// keys (LengthClass::rule); batches, replicas, relocation and the undo areas ask the row and know no rule by name.
//
// A rule may keep state beside the value: it lies behind the value in the key's slot, starts as zeros, moves with the
// value and is put back with it. Replicas have none.
#pragma once

#include <cstdint>
#include <vector>

#include "ps.h"

namespace ps {

constexpr int32_t num_dtypes = PS_INT64 + 1;

// Of `length` elements each; `state` is null unless the rule has one.
using Apply = void (*)(char *value, const char *delta, uint32_t length, char *state);

struct Rule {
    const char *name;
    Apply apply[num_dtypes];
    Apply merge[num_dtypes]; // one delta of two; null: each goes to the owner by itself, none are collected at replicas
    bool at_replicas; // to a replica's value at once; else what was pushed shows with the owner's next value
    uint64_t (*state_bytes)(uint32_t length); // null: no state
};

using Rules = std::vector<Rule>;
enum BuiltInRule : uint32_t { add_rule, set_rule };
const Rules &built_in_rules();

// What pushes to a store do: one of these rules, whose numbers mean the same in every process that uses the store.
struct PushRule {
    const Rules *rules = &built_in_rules();
    uint32_t number = add_rule;

    uint64_t state_bytes(uint32_t length) const;
    void require(int32_t dtype) const; // throws PS_EINVAL unless it is there and for that dtype
};

} // namespace ps
