// Which keys a full store lets go: those that were used least, of all that may go and are not needed at the moment;
// that it keeps to its memory limit, also where memory
// goes from one length of values to another; and that it says so if none can go.
#include <algorithm>
#include <chrono>
#include <iterator>
#include <thread>
#include <vector>

#include "check.h"
#include "store/batch.h"
#include "store/store_values.h"
#include "worker/workers.h"

using namespace ps;

namespace {

constexpr int64_t length = 10;
constexpr int64_t lengths[] = {12, 40, 20};
constexpr int32_t kinds[] = {PS_EVICT_LRU, PS_EVICT_LFU, PS_EVICT_AGE};

struct Node {
    Node(int32_t eviction, uint64_t capacity, int64_t memory_limit = 0, bool is_classed = false) {
        ps_node_options options{};
        options.capacity = int64_t(capacity);
        options.value_lengths = is_classed ? lengths : &length;
        options.num_lengths = is_classed ? int64_t(std::size(lengths)) : 1;
        options.dtype = PS_INT64;
        options.max_workers = 2;
        options.memory_limit = memory_limit;
        options.eviction = eviction;
        segment = Segment::create(options);
        slabs = std::make_unique<Slabs>(*segment);
        values = std::make_unique<StoreValues>(*segment, *slabs, 0);
        values->let_go_by([this](Key key) {
            if (!may_go || !values->latch(key)) return false;
            values->erase(key);
            values->unlatch();
            return true;
        });
        segment->header().connected = 1;
        latches = std::make_unique<Latches>(*segment, join(*segment));
    }

    void use(const std::vector<Key> &keys, int32_t operation) {
        uint64_t bytes = 0;
        for (Key key : keys) bytes += segment->value_bytes(key);
        std::vector<int64_t> elements(bytes / sizeof(int64_t), 1);
        ps_request request{operation,
                           0,
                           reinterpret_cast<const int64_t *>(keys.data()),
                           int64_t(keys.size()),
                           elements.data(),
                           int64_t(elements.size()),
                           0,
                           -1,
                           0};
        CHECK(run_local(*segment, *latches, request) == PS_OK);
    }
    size_t count(const std::vector<Key> &keys) const {
        return size_t(std::count_if(keys.begin(), keys.end(), [&](Key key) { return values->has_row(key); }));
    }

    bool may_go = true;
    std::shared_ptr<Segment> segment;
    std::unique_ptr<Slabs> slabs;
    std::unique_ptr<StoreValues> values;
    std::unique_ptr<Latches> latches;
};

std::vector<Key> keys_from(uint64_t first, uint64_t count) {
    std::vector<Key> keys;
    for (uint64_t i = 0; i < count; i++) keys.push_back((first + i) * 0x9e3779b97f4a7c15);
    return keys;
}

// Of one sample of rows, and of several.
void what_was_used_least_goes(int32_t kind, uint64_t capacity) {
    Node node(kind, capacity);
    const std::vector<Key> used = keys_from(1, capacity / 2), unused = keys_from(1 + capacity / 2, capacity / 2);
    CHECK(node.values->make_rows(used) && node.values->make_rows(unused));
    for (int time = 0; time < 20; time++) node.use(used, kind == PS_EVICT_AGE ? PS_PUSH : PS_PULL);
    if (kind == PS_EVICT_AGE) node.use(unused, PS_PULL);
    const uint64_t part = capacity / 8;
    for (uint64_t turn = 1; turn <= 3; turn++) {
        CHECK(node.values->make_rows(keys_from(2 * capacity + turn * part, part)));
        CHECK(node.segment->header().keys_evicted == turn * part && node.segment->rows_left() == 0);
    }
    CHECK(node.count(used) == used.size());
    CHECK(node.count(unused) <= unused.size() - 2 * part); // some of the new ones may have gone instead
}

void needed_keys_stay(int32_t kind) {
    Node node(kind, 100);
    const std::vector<Key> needed = keys_from(1, 40), new_ones = keys_from(1000, 60);
    CHECK(node.values->make_rows(needed) && node.values->make_rows(keys_from(100, 60)));
    std::vector<Key> both(needed);
    both.insert(both.end(), new_ones.begin(), new_ones.end());
    CHECK(node.values->make_rows(new_ones, both));
    CHECK(node.count(both) == 100);
}

void it_says_so_if_none_can_go_and_soon_looks_again(int32_t kind) {
    Node node(kind, 1000);
    const std::vector<Key> keys = keys_from(1, 1000);
    CHECK(node.values->make_rows(keys));
    node.may_go = false;
    for (Key key : keys_from(2000, 100'000))
        CHECK(!node.values->make_rows({key})); // does not look at all rows each time
    CHECK(node.count(keys) == 1000 && node.segment->header().keys_evicted == 0);
    node.may_go = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(150));
    CHECK(node.values->make_rows({keys_from(2000, 1)}));
    CHECK(node.count(keys) == 999);
}

void the_memory_limit_is_kept(int32_t kind) {
    constexpr uint64_t limit = 4 << 20;
    Node node(kind, 10'000'000, int64_t(limit));
    for (uint64_t turn = 0; turn < 2000; turn++) {
        const std::vector<Key> keys = keys_from(1 + 100 * turn, 100);
        CHECK(node.values->make_rows(keys));
        node.use(keys, PS_PUSH);
    }
    CHECK(node.segment->mapping().committed() <= limit);
    CHECK(node.segment->header().keys_held > 20'000);
}

std::vector<Key> keys_of(uint32_t number, uint64_t first, uint64_t count) {
    std::vector<Key> keys = keys_from(first, count);
    for (Key &key : keys) key = key >> 8 | Key(number) << length_class_at;
    return keys;
}

// Each length has all memory in turn, and again. A value that moves stays what it was.
void memory_goes_from_length_to_length(int32_t kind) {
    constexpr uint64_t limit = 1 << 20;
    Node node(kind, 10'000'000, int64_t(limit), true);
    for (uint64_t turn = 0; turn < 6; turn++) {
        const auto number = uint32_t(turn % std::size(lengths));
        const std::vector<Key> used = keys_of(number, 1'000'000 * turn + 1, 100);
        CHECK(node.values->make_rows(used));
        for (uint64_t part = 1; part < 100; part++) {
            for (int time = 0; time < 3; time++) node.use(used, PS_SET); // to 1
            CHECK(node.values->make_rows(keys_of(number, 1'000'000 * turn + 101 + 100 * part, 100)));
        }
        CHECK(node.segment->mapping().committed() <= limit);
        CHECK(node.count(used) == used.size());
        uint64_t others = 0;
        node.values->for_each_here([&](Key key) { others += uint32_t(key >> length_class_at) != number; });
        if (kind == PS_EVICT_LRU) CHECK(others == 0);
        for (Key key : used) {
            const Place place = node.segment->place(key);
            for (uint32_t i = 0; i < node.segment->length_class(number).length; i++)
                CHECK(reinterpret_cast<int64_t *>(node.segment->value(place))[i] == 1);
        }
    }
}

} // namespace

int main() {
    for (int32_t kind : kinds) {
        what_was_used_least_goes(kind, 1000);
        what_was_used_least_goes(kind, 200'000);
        needed_keys_stay(kind);
        it_says_so_if_none_can_go_and_soon_looks_again(kind);
        the_memory_limit_is_kept(kind);
        memory_goes_from_length_to_length(kind);
    }
    std::puts("ok");
}
