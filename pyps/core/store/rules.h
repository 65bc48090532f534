// What a push does to a key's value: a table with a row per rule, which has a function for each dtype. A length class
// has the number of its keys' rule (LengthClass::rule). Batches, replicas, relocation and undo areas use the row,
// whatever rule it is.
//
// A rule may keep state beside the value. It lies behind the value in the key's slot, starts as zeros, moves with the
// value, is put back with it, and becomes zeros again when the value is set. Replicas have no state.
//
// A rule may have settings, for example a learning rate. They are in the store's header (Header::settings), one copy
// for all processes of a node, and may change at any time: a batch takes the ones that it finds when it begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ps.h"
#include "store/settings.h"

namespace ps {

constexpr int32_t num_dtypes = PS_INT64 + 1;
constexpr size_t most_settings = 12;

// The values of a rule's settings, for one batch.
struct RuleSettings {
    double number[most_settings];
    uint64_t noise = 0; // for rounding at random: different in each batch, and for each key of one
    // What an optimizer computed of its settings, and of a key's count of steps, which often is the next key's too.
    uint64_t steps = 0; // 0: nothing yet
    double once[2], of_steps[2];
};

// `value` and `delta` have `length` elements; `state` is null unless the rule has state.
using Apply = void (*)(char *value, const char *delta, uint32_t length, char *state, RuleSettings &settings);
using Merge = void (*)(char *delta, const char *later, uint32_t length);

struct Rule {
    const char *name;
    Apply apply[num_dtypes];
    // Makes one delta of two; null: deltas are not collected at replicas, each goes to the owner by itself. If pushes
    // do not change replicas, the deltas of a key that comes several times in a batch are merged as well.
    Merge merge[num_dtypes];
    bool at_replicas; // a push changes a replica's value at once; else it shows only in the owner's next value
    // Bytes of state for a value; null: none.
    uint64_t (*state_bytes)(uint32_t length, int32_t dtype, const RuleSettings &settings);
    Settings settings = {};
    void (*check)(const RuleSettings &settings) = nullptr; // throws PS_EINVAL unless the settings fit together

    // Settings as the text has them, on top of these. Throws PS_EINVAL, which names what fits.
    RuleSettings read_settings(const std::string &text, RuleSettings settings) const;
    std::string describe(const RuleSettings &settings) const; // "adagrad:lr=0.1,..."
};

using Rules = std::vector<Rule>;

} // namespace ps
