#include "store/push_rule.h"

#include <cstring>

#include "errors.h"
#include "store/kernels.h"
#include "store/optimizers/optimizers.h"

namespace ps {

namespace {

template <uint32_t bytes>
void copy(char *value, const char *delta, uint32_t length, char *, RuleSettings &) {
    std::memcpy(value, delta, uint64_t(length) * bytes);
}

Rule make_add() {
    Rule rule{"add", {}, {}, true, nullptr};
    for (int32_t dtype = 0; dtype < num_dtypes; dtype++) {
        rule.apply[dtype] = add_kernel(dtype);
        rule.merge[dtype] = merge_kernel(dtype);
    }
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
    static const Rules rules = [] {
        Rules all = {make_add(), make_set()};
        for (Rule &optimizer : make_optimizers()) all.push_back(std::move(optimizer));
        return all;
    }();
    return rules;
}

RuleSettings Rule::read_settings(const std::string &text, RuleSettings known) const {
    ps::read_settings(name, settings, text, known.number);
    if (check) check(known);
    return known;
}

std::string Rule::describe(const RuleSettings &known) const { return describe_settings(name, settings, known.number); }

PushRule PushRule::read(const std::string &text) {
    PushRule push;
    if (text.empty()) return push;
    const Rules &rules = built_in_rules();
    const Rule *begin = rules.data(), *end = begin + rules.size();
    const Rule &rule = read_named("optimizer", begin + set_rule + 1, end, text, push.settings.number);
    if (rule.check) rule.check(push.settings);
    push.number = uint32_t(&rule - begin);
    return push;
}

uint64_t PushRule::state_bytes(uint32_t length, int32_t dtype) const {
    return rule().state_bytes ? rule().state_bytes(length, dtype, settings) : 0;
}

void PushRule::require(int32_t dtype) const {
    if (number >= rules->size())
        fail(PS_EINVAL, Where{-1, number, int64_t(rules->size())}, "rule %u is unknown; there are %zu", number,
             rules->size());
    if (!rule().apply[dtype])
        fail(PS_EINVAL, Where{-1, dtype, number}, "rule %s is not for %s", rule().name, name_of_dtype(dtype));
    if (rule().at_replicas && (rule().state_bytes || !rule().merge[dtype]))
        fail(PS_EINVAL, Where{-1, number, 0},
             "rule %s cannot be applied at replicas: it needs a way to merge deltas, and no state", rule().name);
}

} // namespace ps
