// Optimizers under the sanitizers: no byte outside of a value, its gradient and its state is used, whatever the length
// and the dtype; and workers that are killed while they push leave value and state of the same step.
//
// optimizers KILLS
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "check.h"
#include "kill_pushers.h"
#include "segment/segment.h"
#include "store/kernels.h"
#include "store/slabs.h"
#include "store/store_values.h"

using namespace ps;

namespace {

const char *const optimizers[] = {"sgd",
                                  "sgd:momentum=0.9,nesterov=1",
                                  "adagrad",
                                  "adagrad:lr_decay=0.1",
                                  "rowwise_adagrad",
                                  "adam",
                                  "adamw:amsgrad=1",
                                  "rmsprop",
                                  "rmsprop:momentum=0.9,centered=1",
                                  "ftrl:l1=0.1"};

// Memory of exactly so many bytes, all of them zeros, as sanitizers see it.
std::unique_ptr<char, decltype(&std::free)> zeros(uint64_t bytes) {
    return {static_cast<char *>(std::calloc(1, bytes)), &std::free};
}

void stay_within(const char *optimizer) {
    const PushRule push = PushRule::read(optimizer);
    for (int32_t dtype : {PS_FLOAT32, PS_FLOAT64, PS_FLOAT16, PS_BFLOAT16})
        for (uint32_t length = 1; length <= 70; length++) {
            const uint64_t bytes = uint64_t(length) * element_bytes(dtype), state = push.state_bytes(length, dtype);
            auto value = zeros(bytes), gradient = zeros(bytes), kept = zeros(state);
            std::mt19937 random(length);
            for (uint64_t at = 1; at < bytes; at += element_bytes(dtype)) gradient.get()[at] = char(random() % 64);
            RuleSettings settings = push.settings;
            for (int step = 0; step < 3; step++)
                push.rule().apply[dtype](value.get(), gradient.get(), length, state ? kept.get() : nullptr, settings);
            push.rule().merge[dtype](gradient.get(), value.get(), length);
        }
}

constexpr int64_t length = 50;

ps_node_options options_of_one_key() {
    ps_node_options options{};
    options.num_keys = 1;
    options.value_lengths = &length;
    options.num_lengths = 1;
    options.dtype = PS_FLOAT64;
    return options;
}

// Gradients of ones: a sum of squares is the number of steps, from which the value follows.
void require_one_step_for_all(Segment &segment) {
    Place place = segment.place(Row{0});
    const LengthClass &c = segment.length_class(0);
    char *at = segment.value(place);
    auto *value = reinterpret_cast<const double *>(at), *sums = reinterpret_cast<const double *>(Segment::state(at, c));
    static std::vector<double> after = {0};
    while (double(after.size()) <= sums[0]) after.push_back(after.back() - 1 / std::sqrt(double(after.size())));
    for (int64_t i = 0; i < length; i++) CHECK(sums[i] == sums[0] && value[i] == after[size_t(sums[0])]);
}

void whole_after_kills(int kills) {
    std::shared_ptr<Segment> segment = Segment::create(options_of_one_key(), PushRule::read("adagrad:lr=1,eps=0"));
    Slabs slabs(*segment);
    StoreValues values(*segment, slabs, 0);
    CHECK(values.latch(0));
    std::vector<char> whole(segment->length_class(0).whole_bytes, 0);
    values.own(0, whole.data());
    values.unlatch();
    kill_pushers(*segment, std::vector<double>(length, 1.0), kills, [&] { require_one_step_for_all(*segment); });
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 2);
    for (const char *optimizer : optimizers) stay_within(optimizer);
    whole_after_kills(std::atoi(arguments[1]));
    std::puts("ok");
}
