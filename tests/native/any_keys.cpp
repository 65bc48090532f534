// A store whose keys may be any numbers: rows come with the first use, at the keys' homes with values of zeros of the
// keys' lengths, within the capacity and the memory limit; workers find them while more come.
#include <atomic>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "errors.h"
#include "net/peer.h"
#include "requests/requests.h"
#include "store/batch.h"
#include "store/store_values.h"
#include "store/store_whereabouts.h"
#include "worker/workers.h"

using namespace ps;

namespace {

using Lengths = std::vector<int64_t>;

struct Node {
    explicit Node(int64_t capacity, uint32_t nodes = 1, uint32_t self = 0, int64_t memory_limit = 0,
                  const Lengths &lengths = {3}) {
        ps_node_options options{};
        options.capacity = capacity;
        options.value_lengths = lengths.data();
        options.num_lengths = int64_t(lengths.size());
        options.dtype = PS_INT64;
        options.max_workers = 4;
        options.num_nodes = int32_t(nodes);
        options.node = int32_t(self);
        options.memory_limit = memory_limit;
        segment = Segment::create(options);
        slabs = std::make_unique<Slabs>(*segment);
        values = std::make_unique<StoreValues>(*segment, *slabs, 0);
    }

    std::shared_ptr<Segment> segment;
    std::unique_ptr<Slabs> slabs;
    std::unique_ptr<StoreValues> values;
};

uint64_t spread(uint64_t number) { return number * 0x9e3779b97f4a7c15; }

// A key of one class or, where there are several, of any of them, which one being drawn from the number.
uint64_t key_of(uint64_t number, const Lengths &lengths) {
    const uint64_t key = spread(number);
    return lengths.size() == 1 ? key : key >> 8 | number % lengths.size() << length_class_at;
}

int64_t length_of(int64_t key, const Lengths &lengths) {
    return lengths[lengths.size() == 1 ? 0 : size_t(key >> length_class_at)];
}

ps_request request_of(int32_t operation, const std::vector<int64_t> &keys, std::vector<int64_t> &values) {
    return {operation, 0, keys.data(), int64_t(keys.size()), values.data(), int64_t(values.size()), 0, -1, 0};
}

void memory_follows_the_keys_and_not_the_capacity() {
    Node node(1'000'000'000);
    const uint64_t before = node.segment->mapping().committed();
    CHECK(before < 4 << 20);
    constexpr uint64_t value_bytes = 24, most = 32, at_once = 10'000, keys = 400'000;
    uint64_t beyond = 0;
    for (uint64_t made = 0; made < keys;) {
        std::vector<Key> next;
        while (next.size() < at_once) next.push_back(spread(++made));
        CHECK(node.values->make_rows(next) && node.segment->header().keys_held == made);
        const double slack = double(usual_slab) / double(made); // of a slab of values
        const double each = double(node.segment->mapping().committed() - before) / double(made) - value_bytes - slack;
        CHECK(each <= most + 8);
        beyond += each > most;
    }
    CHECK(beyond <= 3); // while a table grows
}

void a_key_begins_at_its_home_alone() {
    std::vector<std::unique_ptr<Node>> nodes;
    for (uint32_t self = 0; self < 3; self++) nodes.push_back(std::make_unique<Node>(10'000, 3, self));
    std::vector<int> owned(3);
    for (uint64_t i = 0; i < 3000; i++) {
        Key key = spread(i);
        int owners = 0;
        for (size_t self = 0; self < 3; self++) {
            StoreValues &values = *nodes[self]->values;
            Standing before = values.standing(key);
            CHECK(before == Standing::owned || before == Standing::absent);
            CHECK(nodes[self]->segment->row(key) == no_row); // asking makes none
            CHECK(values.latch(key));
            values.unlatch();
            CHECK(values.standing(key) == before && nodes[self]->segment->row(key) != no_row);
            owned[self] += before == Standing::owned;
            owners += before == Standing::owned;
        }
        CHECK(owners == 1);
    }
    for (int each : owned) CHECK(each > 800 && each < 1200);
    for (size_t self = 0; self < 3; self++) CHECK(nodes[self]->segment->header().keys_held == uint64_t(owned[self]));
}

void batches_follow_a_map(const Lengths &lengths) {
    Node node(40'000, 1, 0, 0, lengths);
    Segment &segment = *node.segment;
    Latches latches(segment, join(segment));
    std::map<int64_t, int64_t> map; // of the keys that were used: the first element of each value
    std::mt19937_64 random(5);
    auto draw = [&] { return int64_t(random() % 8 ? key_of(random() % 20'000, lengths) : random() % 100); };
    for (int step = 0; step < 3000; step++) {
        std::vector<int64_t> keys(1 + random() % 100);
        for (int64_t &key : keys) key = draw();
        auto operation = int32_t(random() % 3);
        int64_t elements = 0;
        for (int64_t key : keys) elements += length_of(key, lengths);
        std::vector<int64_t> values(size_t(elements), int64_t(random() % 1000));
        Elsewhere elsewhere{false, {}};
        ps_request request = request_of(operation, keys, values);
        check_request(segment, request);
        bool all_known = true, none_known = true;
        for (int64_t key : keys) (map.count(key) ? none_known : all_known) = false;
        CHECK(all_local(segment, keys.data(), request.num_keys) == all_known);
        CHECK(none_local(segment, keys.data(), request.num_keys) == none_known);
        CHECK(run_local(segment, latches, request, &elsewhere) == PS_OK);
        size_t unknown = 0;
        const int64_t *value = values.data();
        for (size_t i = 0; i < keys.size(); i++) {
            const int64_t length = length_of(keys[i], lengths);
            auto known = map.find(keys[i]);
            if (known == map.end()) {
                CHECK(unknown < elsewhere.positions.size() && elsewhere.positions[unknown] == int64_t(i));
                unknown++;
            } else if (operation == PS_PULL) {
                for (int64_t j = 0; j < length; j++) CHECK(value[j] == known->second);
            } else {
                known->second = value[0] + (operation == PS_PUSH ? known->second : 0);
            }
            value += length;
        }
        CHECK(unknown == elsewhere.positions.size());
        if (random() % 4) continue;
        CHECK(node.values->make_rows({keys.begin(), keys.end()}));
        for (int64_t key : keys) map.emplace(key, 0);
    }
    CHECK(map.size() > 10'000 && node.segment->header().keys_held == map.size());
    uint64_t elements = 0;
    for (auto &[key, number] : map) elements += uint64_t(length_of(key, lengths));
    CHECK(node.segment->header().value_bytes == elements * 8);
}

void there_are_as_many_keys_as_the_capacity_says() {
    Node node(100);
    std::vector<Key> keys(101);
    for (uint64_t i = 0; i < keys.size(); i++) keys[i] = spread(i);
    CHECK(!node.values->make_rows(keys) && node.segment->header().keys_held == 0);
    CHECK(node.values->make_rows({keys.begin(), keys.end() - 1}) &&
          node.values->make_rows({keys[0], keys[99], keys[0]}));
    CHECK(node.segment->header().keys_held == 100 && node.segment->row(keys[100]) == no_row);
    CHECK(!node.values->latch(keys[100]) && node.values->latch(keys[99]));
    node.values->unlatch();
    CHECK(node.values->standing(keys[100]) == Standing::owned); // it would be
}

void the_memory_limit_is_kept() {
    constexpr int64_t limit = 24 << 20;
    Node node(10'000'000, 1, 0, limit);
    uint64_t made = 0;
    while (made < 10'000'000 && node.values->make_rows({spread(made)})) made++;
    CHECK(made > 100'000 && made < 10'000'000);
    CHECK(node.segment->mapping().committed() <= uint64_t(limit));
    CHECK(node.segment->header().keys_held == made);
    CHECK(!node.values->latch(spread(made)) && node.values->latch(spread(made - 1)));
    node.values->unlatch();
}

void every_number_is_a_key_but_one() {
    Node node(10);
    std::vector<int64_t> keys{0, INT64_MIN, INT64_MAX, -2, -1};
    int32_t code = PS_OK;
    try {
        check_keys(*node.segment, keys.data(), 5);
    } catch (const Failure &failure) {
        code = failure.error().code;
        CHECK(failure.error().position == 4 && failure.error().value == -1);
    }
    CHECK(code == PS_EKEY);
    check_keys(*node.segment, keys.data(), 4);
    CHECK(node.values->make_rows({keys.begin(), keys.end() - 1}));
}

// A buffer that was measured with other keys is never left: neither by values that are here nor by those elsewhere.
void keys_that_become_longer_during_a_call_are_refused() {
    const Lengths lengths{1, 64};
    Node node(1000, 1, 0, 0, lengths);
    Segment &segment = *node.segment;
    Latches latches(segment, join(segment));
    CHECK(node.values->make_rows({0, 2, 4, 6, Key(1) << length_class_at}));
    for (int64_t longer : {int64_t(1) << length_class_at, (int64_t(1) << length_class_at) + 9})
        for (int64_t done : {0, 2})
            for (int32_t operation : {PS_PULL, PS_PUSH, PS_SET}) {
                std::vector<int64_t> keys{0, 2, 4, 6}, values(4, 1);
                ps_request request = request_of(operation, keys, values);
                check_request(segment, request);
                request.done = done;
                keys[1] = longer;
                Elsewhere elsewhere{false, {}};
                int32_t code = PS_OK;
                try {
                    run_local(segment, latches, request, &elsewhere);
                } catch (const Failure &failure) {
                    code = failure.error().code;
                }
                CHECK(code == PS_EINVAL);
            }
}

struct Nowhere : Outbox {
    std::vector<Bytes> messages;

    char *reserve(NodeId, uint64_t bytes) override { return messages.emplace_back(bytes).data(); }
    void send_reserved() override {}
    void send(NodeId, Bytes message) override { messages.push_back(std::move(message)); }
    void ended(Operation, double) override {}
};

// The same when they are sent to other nodes, whose answers would fill more than the buffer.
void keys_that_have_become_longer_are_not_sent() {
    Node node(1000, 2, 0, 0, {1, 64});
    const StoreShape shape(*node.segment);
    StoreWhereabouts whereabouts(*node.segment);
    Nowhere outbox;
    Requests requests(header_from(*node.segment), shape, {1, 1, 8, 1 << 20, 1.0}, whereabouts, outbox);
    requests.begin_epoch(0, {0, 1}, no_node);
    std::vector<int64_t> keys{0, 2, int64_t(1) << length_class_at, 4}, values(3 + 64, 1);
    ps_request request = request_of(PS_PULL, keys, values);
    requests.start(request, 0);
    const size_t sent = outbox.messages.size();
    CHECK(sent > 0);
    keys[0] = keys[2];
    for (bool all : {true, false}) {
        int32_t code = PS_OK;
        try {
            all ? requests.start(request, 0) : requests.start(request, std::vector<int64_t>{2, 3}, 0);
        } catch (const Failure &failure) {
            code = failure.error().code;
        }
        CHECK(code == PS_EINVAL && outbox.messages.size() == sent);
    }
}

void a_key_of_no_class_is_none() {
    Node node(10, 1, 0, 0, {1, 2, 3});
    const KeySpace space = node.segment->key_space();
    CHECK(space.has((Key(3) << length_class_at) - 1) && !space.has(Key(3) << length_class_at) && !space.has(no_key));
    for (Key key : {Key(3) << length_class_at, no_key, Key(1) << 63}) {
        CHECK(node.segment->unused(key).length_class() == 0); // not beyond the classes
        auto wrong = int64_t(key);
        int32_t code = PS_OK;
        try {
            check_keys(*node.segment, &wrong, 1);
        } catch (const Failure &failure) {
            code = failure.error().code;
            CHECK(failure.error().value == wrong && failure.error().limit == 0);
        }
        CHECK(code == PS_EKEY);
    }
    CHECK(node.segment->class_of(Key(2) << length_class_at).length == 3);
}

// Each key's value says the key as soon as it is known to be one that was set.
void workers_find_rows_while_more_come() {
    constexpr uint64_t keys = 60'000;
    Node node(keys);
    Segment &segment = *node.segment;
    std::atomic<uint64_t> known{0};
    std::vector<std::thread> workers;
    for (int worker = 0; worker < 3; worker++)
        workers.emplace_back([&, worker] {
            Latches latches(segment, join(segment));
            std::mt19937_64 random(uint64_t(worker + 1));
            for (uint64_t before = 0; before < keys;) {
                before = known.load(std::memory_order_acquire);
                if (before == 0) continue;
                std::vector<int64_t> asked(100), values(300, -1);
                for (int64_t &key : asked) key = int64_t(spread(random() % before));
                ps_request request = request_of(PS_PULL, asked, values);
                CHECK(run_local(segment, latches, request) == PS_OK);
                for (size_t i = 0; i < asked.size(); i++) CHECK(values[i * 3 + 2] == asked[i]);
            }
        });
    for (uint64_t i = 0; i < keys; i++) {
        Key key = spread(i);
        Bytes value(24);
        for (int j = 0; j < 3; j++) std::memcpy(value.data() + 8 * j, &key, 8);
        while (!node.values->latch(key)) std::this_thread::yield();
        node.values->set(key, value);
        node.values->unlatch();
        known.store(i + 1, std::memory_order_release);
    }
    for (std::thread &worker : workers) worker.join();
}

} // namespace

int main() {
    memory_follows_the_keys_and_not_the_capacity();
    a_key_begins_at_its_home_alone();
    batches_follow_a_map({3});
    batches_follow_a_map({3, 1, 40, 3});
    keys_that_become_longer_during_a_call_are_refused();
    keys_that_have_become_longer_are_not_sent();
    a_key_of_no_class_is_none();
    there_are_as_many_keys_as_the_capacity_says();
    the_memory_limit_is_kept();
    every_number_is_a_key_but_one();
    workers_find_rows_while_more_come();
    std::puts("ok");
}
