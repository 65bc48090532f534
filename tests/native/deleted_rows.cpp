// Rows that go: their memory is used again, the next use makes a key anew, and a worker that finds a row while keys
// come and go reads and writes the value of its own key or none, also if workers are killed meanwhile.
//
// deleted_rows KILLS
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "check.h"
#include "protocol/key_space.h"
#include "store/batch.h"
#include "store/store_values.h"
#include "store/whole_rows.h"
#include "worker/workers.h"

using namespace ps;

namespace {

constexpr int64_t length = 3;

struct Node {
    explicit Node(int64_t capacity, uint32_t workers = 4, int32_t eviction = PS_EVICT_NONE) {
        ps_node_options options{};
        options.capacity = capacity;
        options.value_lengths = &length;
        options.num_lengths = 1;
        options.dtype = PS_INT64;
        options.max_workers = int32_t(workers);
        options.eviction = eviction;
        segment = Segment::create(options);
        slabs = std::make_unique<Slabs>(*segment);
        values = std::make_unique<StoreValues>(*segment, *slabs, 0);
        values->let_go_by([this](Key key) {
            if (!values->latch(key)) return false;
            values->erase(key);
            values->unlatch();
            return true;
        });
    }

    void erase(Key key) {
        while (!values->latch(key)) std::this_thread::yield();
        values->erase(key);
        values->unlatch();
    }

    std::shared_ptr<Segment> segment;
    std::unique_ptr<Slabs> slabs;
    std::unique_ptr<StoreValues> values;
};

Key spread(uint64_t number) { return number * 0x9e3779b97f4a7c15; }

std::vector<Key> keys_from(uint64_t first, uint64_t count) {
    std::vector<Key> keys;
    for (uint64_t i = 0; i < count; i++) keys.push_back(spread(first + i));
    return keys;
}

Bytes value_of(Key key) {
    Bytes value(sizeof(Key) * length);
    for (int64_t i = 0; i < length; i++) std::memcpy(value.data() + sizeof(Key) * uint64_t(i), &key, sizeof key);
    return value;
}

void a_full_store_takes_new_keys_for_those_that_went() {
    constexpr uint64_t capacity = 2000, turns = 100;
    Node node(capacity);
    uint64_t memory = 0;
    for (uint64_t turn = 0; turn < turns; turn++) {
        const std::vector<Key> keys = keys_from(1 + turn * capacity, capacity);
        CHECK(node.values->make_rows(keys) && !node.values->make_rows({spread(0)}));
        CHECK(node.segment->header().keys_held == capacity && node.segment->rows_left() == 0);
        for (Key key : keys) node.erase(key);
        for (Key key : keys) CHECK(!node.values->has_row(key));
        CHECK(node.segment->header().keys_held == 0 && node.segment->rows_left() == capacity);
        if (turn == 2) memory = node.segment->mapping().committed(); // with a second table of rows
        CHECK(turn < 2 || node.segment->mapping().committed() == memory);
    }
}

void a_key_that_went_begins_anew() {
    Node node(10);
    const Key key = spread(7);
    CHECK(node.values->latch(key));
    node.values->set(key, value_of(key));
    node.values->erase(key);
    Bytes value;
    node.values->pull(key, &value); // a use: the key stays
    CHECK(value == Bytes(24));
    node.values->unlatch();
    CHECK(node.values->has_row(key));
    node.erase(key);
    CHECK(!node.values->has_row(key) && node.values->standing(key) == Standing::owned);
}

void a_row_that_was_found_too_early_is_not_the_next_keys() {
    Node node(1);
    Segment &segment = *node.segment;
    const Key former = spread(1), next = spread(2);
    CHECK(node.values->make_rows({former}));
    const Row row = segment.row(former);
    const Glance glance(segment, row);
    node.erase(former);
    CHECK(!glance.was_steady() && !segment.is_of(row, former));
    CHECK(node.values->make_rows({next}) && segment.row(next) == row);
    CHECK(!segment.is_of(row, former) && segment.place(former).residence() == Residence::absent);
    node.erase(next);
    CHECK(node.values->make_rows({former}));
    CHECK(segment.row(former) == row && !glance.was_steady()); // the same key, in the same place, but not the same life
}

// A worker that holds the latch of a row whose key has gone keeps only the row's next key waiting.
void a_row_whose_latch_is_held_is_passed_over() {
    Node node(2);
    Segment &segment = *node.segment;
    Latches latches(segment, join(segment));
    CHECK(node.values->make_rows({spread(1)}));
    const Row row = segment.row(spread(1));
    node.erase(spread(1));
    Place place(0);
    CHECK(latches.acquire(row, Patience::wait, &place) && !place.is_here());
    CHECK(node.values->make_rows({spread(2)}) && segment.row(spread(2)) != row);
    latches.release(row, place);
    CHECK(node.values->make_rows({spread(3)}) && segment.row(spread(3)) == row);
}

ps_request request_of(int32_t operation, const std::vector<int64_t> &keys, std::vector<int64_t> &values) {
    return {operation, 0, keys.data(), int64_t(keys.size()), values.data(), int64_t(values.size()), 0, -1, 0};
}

constexpr uint64_t coming = 200; // keys that come and go

// Sets values that name their keys, and reads such values or zeros. Returns how many were there.
uint64_t set_and_read(Segment &segment, Latches &latches, std::mt19937_64 &random) {
    std::vector<int64_t> keys(50), values;
    for (int64_t &key : keys) key = int64_t(spread(random() % coming));
    for (int64_t key : keys) values.insert(values.end(), length, key);
    Elsewhere elsewhere;
    ps_request set = request_of(PS_SET, keys, values);
    CHECK(run_local(segment, latches, set, &elsewhere) == PS_OK);
    Elsewhere unknown;
    std::fill(values.begin(), values.end(), 0);
    ps_request pull = request_of(PS_PULL, keys, values);
    CHECK(run_local(segment, latches, pull, &unknown) == PS_OK);
    for (size_t i = 0; i < keys.size(); i++)
        for (size_t j = 0; j < length; j++)
            if (!std::count(unknown.positions.begin(), unknown.positions.end(), int64_t(i)))
                CHECK(values[i * length + j] == values[i * length] &&
                      (values[i * length] == 0 || values[i * length] == keys[i]));
    return keys.size() - unknown.positions.size();
}

// Half of the keys are there at a time, so that every row is used again and again. A store that lets keys go makes room
// by itself.
void come_and_go(Node &node, std::mt19937_64 &random, uint64_t steps) {
    std::vector<Key> there;
    for (Key key : keys_from(0, coming))
        if (node.values->has_row(key)) there.push_back(key);
    for (uint64_t step = 0; step < steps; step++) {
        const Key key = spread(random() % coming);
        if (node.values->has_row(key)) continue;
        if (there.size() >= coming / 2 && !node.segment->uses().are_kept()) {
            std::swap(there[random() % there.size()], there.back());
            node.erase(there.back());
            there.pop_back();
        }
        if (node.values->make_rows({key})) there.push_back(key); // unless workers hold the latches of all free rows
    }
}

void workers_meet_their_own_keys_only(int32_t eviction) {
    Node node(int64_t(coming / 2 + 8), 4, eviction);
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> met{0};
    std::vector<std::thread> workers;
    for (int number = 0; number < 3; number++)
        workers.emplace_back([&, number] {
            Latches latches(*node.segment, join(*node.segment));
            std::mt19937_64 random{uint64_t(number)};
            while (!stop) met += set_and_read(*node.segment, latches, random);
        });
    std::mt19937_64 random(9);
    come_and_go(node, random, 60'000);
    while (met == 0) come_and_go(node, random, 100);
    stop = true;
    for (std::thread &worker : workers) worker.join();
}

void also_if_some_are_killed(int kills, int32_t eviction) {
    Node node(int64_t(coming / 2 + 8), 64, eviction);
    std::mt19937_64 random(11);
    for (int kill_number = 0; kill_number < kills; kill_number++) {
        std::vector<pid_t> children;
        for (int child = 0; child < 2; child++) {
            const pid_t pid = fork();
            CHECK(pid >= 0);
            if (pid == 0) {
                Latches latches(*node.segment, join(*node.segment));
                std::mt19937_64 own{uint64_t(getpid())};
                for (;;) set_and_read(*node.segment, latches, own);
            }
            children.push_back(pid);
        }
        come_and_go(node, random, 2000 + random() % 2000);
        for (pid_t pid : children) {
            int status = 0;
            CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
                  WTERMSIG(status) == SIGKILL);
        }
    }
    Latches latches(*node.segment, join(*node.segment));
    for (int round = 0; round < 100; round++) set_and_read(*node.segment, latches, random);
}

// Those that stay are found once each, while others come and go.
void keys_that_stay_are_found_once() {
    constexpr uint64_t staying = 3000;
    Node node(int64_t(staying + coming));
    const std::vector<Key> stay = keys_from(1'000'000, staying);
    for (uint64_t i = 0; i < staying; i++) {
        CHECK(node.values->make_rows({stay[i]}));
        if (i % 30 == 0) CHECK(node.values->make_rows({spread(i / 30)}));
    }
    std::atomic<bool> stop{false};
    std::thread finder([&] {
        for (int64_t most = 1; most < 500; most += 83) {
            std::map<int64_t, int> found;
            int64_t next = 0;
            for (int64_t count = most; count == most;) {
                std::vector<int64_t> keys(static_cast<size_t>(most));
                count = find_keys(*node.segment, PS_KEYS_HERE, &next, keys.data(), most);
                for (int64_t i = 0; i < count; i++) found[keys[size_t(i)]]++;
            }
            for (Key key : stay) CHECK(found[int64_t(key)] == 1);
        }
        stop = true;
    });
    std::mt19937_64 random(3);
    while (!stop) come_and_go(node, random, 100);
    finder.join();
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 2);
    for (int32_t eviction : {PS_EVICT_NONE, PS_EVICT_LRU, PS_EVICT_LFU})
        also_if_some_are_killed(std::atoi(arguments[1]), eviction); // forks, so before there are threads
    a_full_store_takes_new_keys_for_those_that_went();
    a_key_that_went_begins_anew();
    a_row_that_was_found_too_early_is_not_the_next_keys();
    a_row_whose_latch_is_held_is_passed_over();
    for (int32_t eviction : {PS_EVICT_NONE, PS_EVICT_LRU, PS_EVICT_LFU}) workers_meet_their_own_keys_only(eviction);
    keys_that_stay_are_found_once();
    std::puts("ok");
}
