// Workers that are killed while they push by a rule: value, state and what a replica collects stay as they were before
// or after a push.
#pragma once

#include <vector>

#include "../kill_pushers.h"
#include "examples.h"
#include "store/store_values.h"

constexpr int64_t one = 1;

// The key's whole slot: what lies there is as after some pushes of ones to a value of zeros.
inline void require_whole(Segment &segment, uint32_t rule, Standing standing) {
    Place place = segment.place(Row{0});
    const LengthClass &c = segment.length_class(place.length_class());
    char *value = segment.value(place);
    int64_t first = numbers(value)[0];
    for (int64_t i = 0; i < length; i++) CHECK(numbers(value)[i] == first);
    if (standing == Standing::replica) {
        SharedHead *head = segment.shared(c, place.index());
        const int64_t *delta = numbers(Segment::delta(head, c));
        if (!head->changed) {
            CHECK(first == 0);
            return;
        }
        for (int64_t i = 0; i < length; i++) {
            CHECK(delta[i] == delta[0]);
            if (rule == scaled_rule) CHECK(first == 3 * delta[0]);
            if (rule == largest_rule) CHECK(first == 1 && delta[0] == 1);
            if (rule == late_rule) CHECK(first == 0);
        }
        return;
    }
    const int64_t *state = numbers(Segment::state(value, c));
    if (rule == late_rule)
        for (int64_t i = 0; i < length; i++) CHECK(first == 2 * state[i]);
    if (rule == mean_rule)
        for (int64_t i = 0; i < length; i++) CHECK(state[i] == state[length] && first == (state[length] > 0));
}

inline void whole_after_kills(uint32_t rule, Standing standing, int kills) {
    std::shared_ptr<Segment> segment = Segment::create(options_of(1, 2, PS_INT64), PushRule{&test_rules(), rule});
    Slabs slabs(*segment);
    StoreValues values(*segment, slabs, 0);
    CHECK(values.latch(0));
    const LengthClass &c = segment->length_class(0);
    std::vector<char> zeros(c.whole_bytes, 0);
    standing == Standing::owned ? values.own(0, zeros.data()) : values.copy(0, zeros);
    values.unlatch();
    kill_pushers(*segment, std::vector<int64_t>(length, one), kills, [&] { require_whole(*segment, rule, standing); });
}
