#include "store/rules.h"

#include <cstring>

#include "errors.h"
#include "store/kernels.h"

namespace ps {

namespace {

template <uint32_t bytes>
void copy(char *value, const char *delta, uint32_t length, char *) {
    std::memcpy(value, delta, uint64_t(length) * bytes);
}

Rule make_add() {
    Rule rule{"add", {}, {}, true, nullptr};
    for (int32_t dtype = 0; dtype < num_dtypes; dtype++) rule.apply[dtype] = rule.merge[dtype] = add_kernel(dtype);
    return rule;
}

// A replica collects nothing: two values that were set cannot be merged.
Rule make_set() {
    Rule rule{"set", {}, {}, false, nullptr};
    for (int32_t dtype = 0; dtype < num_dtypes; dtype++)
        rule.apply[dtype] = element_bytes(dtype) == 8 ? copy<8> : element_bytes(dtype) == 4 ? copy<4> : copy<2>;
    return rule;
}

} // namespace

const Rules &built_in_rules() {
    static const Rules rules = {make_add(), make_set()};
    return rules;
}

uint64_t PushRule::state_bytes(uint32_t length) const {
    const Rule &rule = (*rules)[number];
    return rule.state_bytes ? rule.state_bytes(length) : 0;
}

void PushRule::require(int32_t dtype) const {
    if (number >= rules->size())
        fail(PS_EINVAL, Where{-1, number, int64_t(rules->size())}, "rule %u is unknown; there are %zu", number,
             rules->size());
    const Rule &rule = (*rules)[number];
    if (!rule.apply[dtype]) fail(PS_EINVAL, Where{-1, dtype, number}, "rule %s is not for dtype %d", rule.name, dtype);
    if (rule.at_replicas && (rule.state_bytes || !rule.merge[dtype]))
        fail(PS_EINVAL, Where{-1, number, 0},
             "rule %s cannot be applied at replicas: it needs a way to merge deltas, and no state", rule.name);
}

} // namespace ps
