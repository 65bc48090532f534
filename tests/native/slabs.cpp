// A node's memory follows the keys it holds: taking values away gives their slabs back, and what comes again is zero.
#include <cstring>
#include <vector>

#include "check.h"
#include "segment/segment.h"
#include "store/batch.h"
#include "store/slabs.h"
#include "worker/workers.h"

using namespace ps;

namespace {

constexpr int64_t num_keys = 200'000;

void hold(Segment &segment, Slabs &slabs, uint64_t key) {
    Place place = segment.place(key);
    segment.entry(segment.row(key)) = slabs.hold(place).word();
}

void drop(Segment &segment, Slabs &slabs, uint64_t key) {
    Place place = segment.place(key);
    segment.entry(segment.row(key)) = slabs.drop(place).word();
}

bool is_zero(Segment &segment, uint64_t key) {
    Place place = segment.place(key);
    std::vector<char> zeros(segment.length_class(place.length_class()).value_bytes, 0);
    return std::memcmp(segment.value(place), zeros.data(), zeros.size()) == 0;
}

void fill(Segment &segment, uint64_t key) {
    Place place = segment.place(key);
    std::memset(segment.value(place), 0x55, segment.length_class(place.length_class()).slot_bytes);
}

std::vector<int64_t> lengths_of(bool uniform) {
    if (uniform) return {10};
    std::vector<int64_t> lengths(num_keys);
    for (int64_t key = 0; key < num_keys; key++) lengths[key] = key % 1000 == 0 ? 3000 : key % 7 + 1;
    return lengths;
}

// How many keys each length class has.
std::vector<uint64_t> keys_by_class(const Segment &segment) {
    std::vector<uint64_t> keys(segment.header().num_classes);
    for (uint64_t key = 0; key < num_keys; key++) keys[segment.place(key).length_class()]++;
    return keys;
}

void memory_follows_the_keys(bool uniform, bool expected) {
    std::vector<int64_t> lengths = lengths_of(uniform);
    ps_node_options options{};
    options.num_keys = num_keys;
    options.value_lengths = lengths.data();
    options.num_lengths = int64_t(lengths.size());
    std::shared_ptr<Segment> segment = Segment::create(options);
    Slabs slabs(*segment);
    uint64_t empty = segment->mapping().committed();
    if (expected) slabs.expect(keys_by_class(*segment));
    for (int repetition = 0; repetition < 2; repetition++) {
        for (uint64_t key = 0; key < num_keys; key++) hold(*segment, slabs, key);
        uint64_t full = segment->mapping().committed();
        CHECK(full > empty + 4'000'000);
        CHECK(segment->header().keys_held == num_keys);
        for (uint64_t key = 0; key < num_keys; key++) {
            CHECK(is_zero(*segment, key));
            fill(*segment, key);
        }
        for (uint64_t key = 0; key < num_keys; key += 2) drop(*segment, slabs, key); // slabs stay, slots are free
        for (uint64_t key = 0; key < num_keys; key += 2) hold(*segment, slabs, key); // and are used again
        CHECK(segment->mapping().committed() <= full);
        for (uint64_t key = 0; key < num_keys; key += 2) CHECK(is_zero(*segment, key));
        for (uint64_t key = 0; key < num_keys; key++) drop(*segment, slabs, key);
        CHECK(segment->mapping().committed() < empty + 200'000); // the pages that neighbouring slabs share
        CHECK(segment->header().slab_bytes == 0 && segment->header().value_bytes == 0);
    }
}

void an_absent_key_is_not_answered() {
    int64_t length = 10;
    ps_node_options options{};
    options.num_keys = 10;
    options.value_lengths = &length;
    options.num_lengths = 1;
    std::shared_ptr<Segment> segment = Segment::create(options);
    Slabs slabs(*segment);
    hold(*segment, slabs, 1);
    Holder me = join(*segment);
    Latches latches(*segment, me);
    int64_t keys[2] = {1, 2};
    std::vector<float> values(20, 5.0f);
    ps_request request{PS_SET, 0, keys, 2, values.data(), 20, 0, -1, 0};
    check_request(*segment, request);
    CHECK(!all_local(*segment, keys, 2) && all_local(*segment, keys, 1));
    CHECK(run_local(*segment, latches, request) == PS_ENOTLOCAL && request.done == 1);
    hold(*segment, slabs, 2);
    CHECK(run_local(*segment, latches, request) == PS_OK && request.done == 2);
    leave(*segment, me);
}

} // namespace

int main() {
    for (bool uniform : {true, false})
        for (bool expected : {true, false}) memory_follows_the_keys(uniform, expected);
    an_absent_key_is_not_answered();
    std::puts("ok");
}
