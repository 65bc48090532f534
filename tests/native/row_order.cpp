// The rows of a range: those of one home lie together, quotients are what a division says, and a node uses memory for
// the rows of other nodes' keys when it uses these, not before.
#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "check.h"
#include "node.h"
#include "segment/segment.h"
#include "store/batch.h"

using namespace ps;

namespace {

// Around multiples and powers of two, to the last number that there may be.
std::vector<uint64_t> edges(uint64_t divisor) {
    std::vector<uint64_t> numbers;
    auto add = [&](uint64_t middle) {
        for (uint64_t number = middle < 3 ? 0 : middle - 3; number <= middle + 3; number++)
            if (number < Divisor::beyond) numbers.push_back(number);
    };
    for (int bits = 0; bits <= 52; bits++) {
        add(uint64_t(1) << bits);
        add((uint64_t(1) << bits) / divisor * divisor);
    }
    return numbers;
}

void quotients_are_those_of_a_division() {
    std::mt19937_64 random(1);
    for (uint32_t by = 1; by <= most_nodes; by++) {
        const Divisor divisor(by);
        std::vector<uint64_t> numbers = edges(by);
        for (int i = 0; i < 100; i++) numbers.push_back(random() % Divisor::beyond);
        for (uint64_t number : numbers)
            CHECK(divisor.quotient(number) == number / by && divisor.remainder(number) == number % by);
    }
}

void each_home_has_its_rows(uint64_t num_keys, uint32_t nodes) {
    const RangeRows rows(num_keys, nodes);
    std::vector<bool> taken(rows.size());
    for (uint64_t key = 0; key < num_keys; key++) {
        Row row = rows.find(key);
        CHECK(row == rows.row(key) && rows.key(row) == key);
        uint64_t first = number_of(rows.first(uint32_t(key % nodes)));
        CHECK(number_of(row) >= first && number_of(row) < first + rows.num_keys(uint32_t(key % nodes)));
        CHECK(number_of(row) < rows.size() && !taken[number_of(row)]);
        taken[number_of(row)] = true;
        if (nodes == 1) CHECK(number_of(row) == key);
    }
    CHECK(rows.find(num_keys) == no_row && rows.find(UINT64_MAX) == no_row);
}

std::shared_ptr<Segment> segment_of(ps_node &node) { return node.attachment()->segment; }

std::unique_ptr<ps_node> node_of(int64_t num_keys, int32_t nodes, int32_t node, std::vector<int64_t> lengths = {1}) {
    ps_node_options options{};
    options.num_keys = num_keys;
    options.value_lengths = lengths.data();
    options.num_lengths = int64_t(lengths.size());
    options.num_nodes = nodes;
    options.node = node;
    return std::unique_ptr<ps_node>(ps_node::create(options));
}

void memory_is_for_keys_that_are_used(int32_t nodes) {
    constexpr int64_t each = 100'000;
    std::unique_ptr<ps_node> node = node_of(each * nodes, nodes, nodes - 1);
    std::shared_ptr<Segment> segment = segment_of(*node);
    CHECK(segment->directory_bytes() == each * 8);
    CHECK(segment->mapping().committed() < each * (8 + 8) + 2'000'000); // a slot, an entry, and the rest of a slab
    const uint64_t before = segment->mapping().committed();
    for (int64_t key = 0; key < each * nodes; key += 997) {
        CHECK(segment->class_of(uint64_t(key)).length == 1);
        CHECK(next_local(*segment, key, each * nodes) == std::min(each * nodes, key + nodes - 1 - key % nodes));
    }
    CHECK(segment->mapping().committed() == before);
    CHECK(segment->place(uint64_t(0)).residence() == Residence::absent);
    CHECK(segment->mapping().committed() == before + 4096 && segment->directory_bytes() == each * 8 + 4096);
}

void what_is_next_is_found_in_the_order_of_keys(int64_t num_keys, int32_t nodes) {
    std::unique_ptr<ps_node> node = node_of(num_keys, nodes, 0);
    Segment &segment = *segment_of(*node);
    std::vector<bool> here(static_cast<size_t>(num_keys));
    std::mt19937_64 random(2);
    for (int64_t key = 0; key < num_keys; key++) { // few keys, other nodes' too, far from each other
        Row row = segment.rows().row(uint64_t(key));
        bool was_here = Place(segment.entry(row).load()).is_here();
        here[size_t(key)] = random() % uint64_t(num_keys) < 10;
        segment.entry(row) = Place(here[size_t(key)] ? Residence::owned : Residence::absent, 0, 0).word();
        segment.note_here(row, int(here[size_t(key)]) - int(was_here));
    }
    for (int round = 0; round < 1000; round++) {
        int64_t from = int64_t(random() % uint64_t(num_keys));
        int64_t to = from + int64_t(random() % uint64_t(num_keys - from + 1));
        int64_t expected = std::find(here.begin() + from, here.begin() + to, true) - here.begin();
        CHECK(next_local(segment, from, to) == expected);
    }
}

void lengths_may_differ_at_keys_of_all_homes() {
    std::vector<int64_t> lengths(10'000);
    for (size_t key = 0; key < lengths.size(); key++) lengths[key] = int64_t(1 + key * 7 % 5);
    std::unique_ptr<ps_node> node = node_of(10'000, 3, 1, lengths);
    for (uint64_t key = 0; key < lengths.size(); key++)
        CHECK(int64_t(segment_of(*node)->class_of(key).length) == lengths[key]);
}

} // namespace

int main() {
    quotients_are_those_of_a_division();
    for (uint32_t nodes : {1u, 2u, 3u, 4u, 7u, 64u, most_nodes})
        for (uint64_t num_keys : {1, 2, 5, 4095, 4096, 4097, 20'000, 100'003}) each_home_has_its_rows(num_keys, nodes);
    for (int32_t nodes : {2, 3, 4, 16}) memory_is_for_keys_that_are_used(nodes);
    for (int32_t nodes : {1, 2, 5, 100})
        for (int64_t num_keys : {1, 300, 20'000, 300'000}) what_is_next_is_found_in_the_order_of_keys(num_keys, nodes);
    lengths_may_differ_at_keys_of_all_homes();
    std::puts("ok");
}
