// The rules that there are, and the one that a store's pushes follow.
#pragma once

#include <cstdint>
#include <string>

#include "store/rules.h"

namespace ps {

enum BuiltInRule : uint32_t { add_rule, set_rule }; // behind them come the optimizers
const Rules &built_in_rules();

// The rule of a store's pushes. Its number means the same rule in every process that uses the store.
struct PushRule {
    const Rules *rules = &built_in_rules();
    uint32_t number = add_rule;
    RuleSettings settings = {};

    // The optimizer that a text like "adagrad:lr=0.1" asks for; an empty text: pushes add. Throws PS_EINVAL.
    static PushRule read(const std::string &text);
    const Rule &rule() const { return (*rules)[number]; }
    uint64_t state_bytes(uint32_t length, int32_t dtype) const;
    void require(int32_t dtype) const; // throws PS_EINVAL unless the rule exists and has that dtype
};

} // namespace ps
