// How often keys without rows were used, as the sketch counts it: exactly as long as there is room, never less often
// where buckets are too small for their keys, and hardly ever more often. Keys that are not used for long are
// forgotten.
#include <algorithm>
#include <functional>
#include <map>
#include <random>
#include <vector>

#include "check.h"
#include "store/use_counts.h"

using namespace ps;

namespace {

constexpr int64_t length = 1;
constexpr uint64_t few_buckets = 64; // of a small node, 15 cells in each
constexpr uint64_t small_window = 4 * few_buckets; // new keys, after which a key is forgotten at the earliest

struct Sketch {
    explicit Sketch(int32_t needed, int64_t capacity = 100, int64_t memory_limit = 0) {
        ps_node_options options{};
        options.capacity = capacity;
        options.value_lengths = &length;
        options.num_lengths = 1;
        options.memory_limit = memory_limit;
        options.admission = needed;
        segment = Segment::create(options);
        counts.emplace(*segment);
    }
    uint64_t waiting() const { return segment->header().keys_waiting; }

    std::shared_ptr<Segment> segment;
    std::optional<UseCounts> counts;
};

void few_keys_are_counted_exactly(uint32_t needed) {
    Sketch sketch{int32_t(needed)};
    std::mt19937_64 random(needed);
    std::vector<uint64_t> keys(50);
    std::generate(keys.begin(), keys.end(), std::ref(random));
    for (int round = 0; round < 3; round++) { // those that have got rows are counted anew
        std::generate(keys.begin(), keys.begin() + 25, std::ref(random));
        for (uint32_t use = 1; use <= needed; use++)
            for (uint64_t key : keys) CHECK(sketch.counts->count(key) == (use == needed));
        CHECK(sketch.waiting() == keys.size());
        for (uint64_t key : keys) {
            CHECK(sketch.counts->count(key)); // as often as one likes, until there is a row
            sketch.counts->forget(key);
        }
        CHECK(sketch.waiting() == 0);
    }
}

uint64_t bucket_of(uint64_t key) { return (mix(key ^ 0x9e3779b97f4a7c15) >> 32) * few_buckets >> 32; }

// However many keys there are for the 15 cells of a bucket: used again after less than a window, a key counts at least
// as often as it was used.
void no_key_is_late(uint64_t seed) {
    std::mt19937_64 random(seed);
    const auto needed = uint32_t(2 + random() % 20);
    Sketch sketch{int32_t(needed)};
    std::vector<uint64_t> keys;
    while (keys.size() < 10 + seed)
        if (const uint64_t key = random(); bucket_of(key) == few_buckets / 2) keys.push_back(key);
    struct Uses {
        uint32_t count = 0;
        uint64_t last = 0;
    };
    std::map<uint64_t, Uses> exact;
    for (uint64_t now = 0; now < 20'000; now++) {
        const uint64_t key = keys[std::min(random(), random()) % keys.size()];
        const bool is_enough = sketch.counts->count(key);
        Uses &uses = exact[key];
        if (now - uses.last >= small_window) uses.count = 0;
        uses.last = now;
        if (++uses.count >= needed) CHECK(is_enough);
        if (!is_enough) continue;
        uses.count = 0;
        if (random() % 4) sketch.counts->forget(key); // else there is no room for its row
    }
    CHECK(sketch.waiting() <= 15);
}

void a_full_bucket_recovers() {
    Sketch sketch(5);
    std::vector<uint64_t> keys, others;
    for (uint64_t key = 0; keys.size() < 100 || others.size() < 2 * small_window; key++)
        (bucket_of(key) == few_buckets / 2 ? keys : others).push_back(key);
    for (int use = 0; use < 2; use++)
        for (uint64_t i = 0; i < 50; i++) sketch.counts->count(keys[i]);
    CHECK(sketch.counts->count(keys[50])); // early
    for (uint64_t i = 0; i < 2 * small_window; i++) sketch.counts->count(others[i]);
    for (int use = 0; use < 4; use++)
        for (uint64_t i = 60; i < 70; i++) CHECK(!sketch.counts->count(keys[i]));
}

// Each key is used once only.
void hardly_any_key_is_early(int32_t needed) {
    constexpr int64_t capacity = 100'000;
    for (uint64_t times : {1, 20}) {
        Sketch sketch(needed, capacity);
        uint64_t early = 0;
        const uint64_t many = times * uint64_t(capacity);
        for (uint64_t key = 0; key < many; key++) early += sketch.counts->count(key);
        CHECK(early * 200 < many);
        CHECK(sketch.waiting() > uint64_t(capacity) / 2 && sketch.waiting() < 2 * uint64_t(capacity));
    }
}

void what_is_not_used_for_long_is_forgotten() {
    constexpr uint64_t window = 100'000; // new keys
    Sketch sketch(3, int64_t(window));
    uint64_t next = uint64_t(1) << 40;
    auto others_come = [&](uint64_t count) {
        for (uint64_t i = 0; i < count; i++) sketch.counts->count(next++);
    };
    auto use_all = [&] {
        uint64_t enough = 0;
        for (uint64_t key = 0; key < 1000; key++) enough += sketch.counts->count(key);
        return enough;
    };
    for (uint64_t pause : {window - 2000, 2 * window}) {
        others_come(2 * window);
        CHECK(use_all() < 20);
        others_come(pause);
        CHECK(use_all() < 40);
        others_come(pause);
        const uint64_t enough = use_all();
        CHECK(pause < window ? enough == 1000 : enough < 40);
    }
}

void a_small_limit_keeps_it_small() {
    Sketch sketch(200, 10'000'000, 16 << 20); // 1 MB, which is 16,384 buckets
    for (uint64_t key = 0; key < 1'000'000; key++) sketch.counts->count(key);
    CHECK(sketch.waiting() <= 16'384 * 15);
    CHECK(sketch.waiting() > 16'384 * 5);
}

} // namespace

int main() {
    for (uint32_t needed : {2, 3, 15, 255}) few_keys_are_counted_exactly(needed);
    for (uint64_t seed = 0; seed < 100; seed++) no_key_is_late(seed);
    a_full_bucket_recovers();
    for (int32_t needed : {2, 3, 6}) hardly_any_key_is_early(needed);
    what_is_not_used_for_long_is_forgotten();
    a_small_limit_keeps_it_small();
    std::puts("ok");
}
