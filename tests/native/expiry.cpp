// Which keys go because nobody used them for the greatest age, by a clock that the test sets: none too early, however
// long the server stands still, all in time, and none that is needed.
#include <map>
#include <random>
#include <vector>

#include "check.h"
#include "segment/process.h"
#include "store/batch.h"
#include "store/expiry.h"
#include "store/store_values.h"
#include "worker/workers.h"

using namespace ps;

namespace {

constexpr int64_t length = 2;
constexpr double age = 100; // seconds
constexpr uint64_t num_keys = 500;

struct Node {
    explicit Node(int32_t eviction) {
        ps_node_options options{};
        options.capacity = 100'000;
        options.value_lengths = &length;
        options.num_lengths = 1;
        options.dtype = PS_INT64;
        options.max_workers = 2;
        options.eviction = eviction;
        options.max_age = age;
        segment = Segment::create(options);
        slabs = std::make_unique<Slabs>(*segment);
        values = std::make_unique<StoreValues>(*segment, *slabs, 0);
        values->let_go_by([this](Key key) {
            if (is_needed(key) || !values->latch(key)) return false;
            values->erase(key);
            values->unlatch();
            CHECK(now - used.at(key) >= age);
            used.erase(key);
            return true;
        });
        segment->header().connected = 1;
        latches = std::make_unique<Latches>(*segment, join(*segment));
        expiry.emplace(*segment, 0, [this](Key key, uint32_t ticks) { return values->let_unused_go(key, ticks); });
        now = segment->ages().begun();
    }

    bool is_needed(Key key) const { return key % 10 == 0 && needs; }

    void use(Key key, int32_t operation) {
        CHECK(values->make_rows({key}));
        int64_t value[length] = {};
        auto number = int64_t(key);
        ps_request request{operation, 0, &number, 1, value, length, 0, -1, 0};
        CHECK(run_local(*segment, *latches, request) == PS_OK);
        used[key] = now;
    }

    void pass(double seconds, double step) { // as the server's thread does
        for (const double end = now + seconds; now < end; now += step)
            if (now >= expiry->due()) expiry->take_turn(now);
    }

    bool needs = false;
    double now = 0;
    std::map<Key, double> used; // when each key that exists was used last
    std::shared_ptr<Segment> segment;
    std::unique_ptr<Slabs> slabs;
    std::unique_ptr<StoreValues> values;
    std::unique_ptr<Latches> latches;
    std::optional<Expiry> expiry;
};

// Keys that are used at random, some often and some seldom: for as long as a byte counts ticks, twenty times.
void keys_go_in_time_and_not_too_early(int32_t eviction) {
    Node node(eviction);
    std::mt19937 random(eviction + 1);
    for (int time = 0; time < 5000; time++) {
        for (int use = 0; use < 5; use++) {
            const Key key = 1 + random() % num_keys;
            node.use(key, random() % 2 ? PS_PUSH : PS_SET);
        }
        node.pass(1, 0.1);
        for (const auto &[key, used] : node.used) CHECK(node.now - used <= 1.05 * age);
    }
    CHECK(node.segment->header().keys_expired > 1000);
    node.pass(1.05 * age, 0.1);
    CHECK(node.used.empty() && node.segment->header().keys_held == 0);
}

// The server has no processor for a while: nothing was swept, and no tick passed.
void none_goes_too_early_after_a_standstill() {
    Node node(PS_EVICT_NONE);
    for (int time = 0; time < 50; time++) {
        const double stands = 7.0 * time;
        for (Key key = 1; key <= num_keys; key++) node.use(key, PS_PULL);
        node.pass(age / 2, 0.1);
        node.now += stands;
        for (Key key = 1; key <= num_keys; key += 2) node.use(key, PS_PULL);
        node.pass(age / 2 + 6, 0.1); // the even ones are old now, the others are not
        CHECK(node.used.size() == num_keys / 2);
        node.pass(age, 0.1);
        CHECK(node.used.empty());
    }
}

// However long it is needed, it does not become young.
void what_is_needed_stays_and_goes_later() {
    Node node(PS_EVICT_NONE);
    node.needs = true;
    for (Key key = 1; key <= num_keys; key++) node.use(key, PS_PUSH);
    node.pass(20 * age, 0.1);
    CHECK(node.used.size() == num_keys / 10);
    node.needs = false;
    node.pass(0.05 * age, 0.1);
    CHECK(node.used.empty());
}

void pulls_do_not_count_by_age() {
    Node node(PS_EVICT_AGE);
    node.use(1, PS_PUSH);
    node.use(2, PS_PUSH);
    for (int time = 0; time < 105; time++) {
        int64_t value[length], number = 1;
        ps_request pull{PS_PULL, 0, &number, 1, value, length, 0, -1, 0};
        const int32_t code = run_local(*node.segment, *node.latches, pull);
        CHECK(code == (node.used.count(1) ? PS_OK : PS_ENOTLOCAL));
        node.use(2, PS_PUSH);
        node.pass(1, 0.1);
    }
    CHECK(!node.used.count(1) && node.used.count(2));
}

} // namespace

int main() {
    for (int32_t eviction : {PS_EVICT_NONE, PS_EVICT_LRU, PS_EVICT_LFU, PS_EVICT_AGE})
        keys_go_in_time_and_not_too_early(eviction);
    none_goes_too_early_after_a_standstill();
    what_is_needed_stays_and_goes_later();
    pulls_do_not_count_by_age();
    std::puts("ok");
}
