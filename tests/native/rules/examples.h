// The rules, of int64 values, and what they make of all that was pushed to a key.
#pragma once

#include <algorithm>
#include <vector>

#include "../check.h"
#include "errors.h"
#include "segment/segment.h"
#include "store/push_rule.h"

using namespace ps;

constexpr int64_t length = 50;
constexpr int64_t lowest_value = -1'000'000, least = -900'000; // of what is pushed: below the zeros of fresh memory

enum TestRule : uint32_t { largest_rule = set_rule + 1, scaled_rule, mean_rule, late_rule };

inline int64_t *numbers(char *at) { return reinterpret_cast<int64_t *>(at); }
inline const int64_t *numbers(const char *at) { return reinterpret_cast<const int64_t *>(at); }

inline void largest_of(char *value, const char *delta, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) numbers(value)[i] = std::max(numbers(value)[i], numbers(delta)[i]);
}

inline void largest(char *value, const char *delta, uint32_t count, char *, RuleSettings &) {
    largest_of(value, delta, count);
}

inline void scaled_add(char *value, const char *delta, uint32_t count, char *, RuleSettings &) {
    for (uint32_t i = 0; i < count; i++) numbers(value)[i] += 3 * numbers(delta)[i];
}

inline void sum(char *delta, const char *later, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) numbers(delta)[i] += numbers(later)[i];
}

// The state: the sums, and how many there were. So deltas must come one by one.
inline void mean(char *value, const char *delta, uint32_t count, char *state, RuleSettings &) {
    int64_t *sums = numbers(state), pushes = ++sums[count];
    for (uint32_t i = 0; i < count; i++) numbers(value)[i] = (sums[i] += numbers(delta)[i]) / pushes;
}
inline uint64_t mean_state(uint32_t count, int32_t, const RuleSettings &) { return (count + 1) * sizeof(int64_t); }

// The state: the sums. They need the state, so replicas only collect.
inline void late(char *value, const char *delta, uint32_t count, char *state, RuleSettings &) {
    for (uint32_t i = 0; i < count; i++) numbers(value)[i] = 2 * (numbers(state)[i] += numbers(delta)[i]);
}
inline uint64_t late_state(uint32_t count, int32_t, const RuleSettings &) { return count * sizeof(int64_t); }

inline Rule of_int64(const char *name, Apply apply, Merge merge, bool at_replicas,
                     decltype(Rule::state_bytes) state_bytes) {
    Rule rule{name, {}, {}, at_replicas, state_bytes};
    rule.apply[PS_INT64] = apply;
    rule.merge[PS_INT64] = merge;
    return rule;
}

inline const Rules &test_rules() {
    static const Rules rules = [] {
        Rules all = {built_in_rules()[add_rule], built_in_rules()[set_rule]};
        all.push_back(of_int64("largest", largest, largest_of, true, nullptr));
        all.push_back(of_int64("scaled add", scaled_add, sum, true, nullptr));
        all.push_back(of_int64("mean", mean, nullptr, false, mean_state));
        all.push_back(of_int64("late", late, sum, false, late_state));
        return all;
    }();
    return rules;
}

// All that was pushed to a key.
struct Pushed {
    int64_t sum = 0, count = 0, largest = lowest_value;

    void note(int64_t delta) { note(Pushed{delta, 1, delta}); }
    void note(const Pushed &more) {
        sum += more.sum;
        count += more.count;
        largest = std::max(largest, more.largest);
    }
};

inline int64_t expected_value(uint32_t rule, const Pushed &pushed) { // of a key that began with the lowest value
    switch (rule) {
    case largest_rule: return pushed.largest;
    case scaled_rule: return lowest_value + 3 * pushed.sum;
    case mean_rule: return pushed.count ? pushed.sum / pushed.count : lowest_value;
    default: return pushed.count ? 2 * pushed.sum : lowest_value;
    }
}

inline ps_node_options options_of(int64_t num_keys, int32_t num_nodes, int32_t dtype) {
    ps_node_options options{};
    options.num_keys = num_keys;
    options.value_lengths = &length;
    options.num_lengths = 1;
    options.dtype = dtype;
    options.num_nodes = num_nodes;
    return options;
}

inline void unfit_rules_are_refused() {
    auto refused = [](const Rules &rules, uint32_t number, int32_t dtype) {
        try {
            Segment::create(options_of(4, 2, dtype), PushRule{&rules, number});
        } catch (const Failure &failure) {
            return failure.error().code == PS_EINVAL;
        }
        return false;
    };
    Rules rules = test_rules();
    CHECK(!refused(rules, late_rule, PS_INT64));
    CHECK(refused(rules, late_rule, PS_FLOAT32));
    CHECK(refused(rules, late_rule + 1, PS_INT64));
    rules[late_rule].at_replicas = true; // they have no state
    CHECK(refused(rules, late_rule, PS_INT64));
    rules[scaled_rule].merge[PS_INT64] = nullptr;
    CHECK(refused(rules, scaled_rule, PS_INT64));
}
