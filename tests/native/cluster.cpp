// Nodes with their servers' threads and sockets, and workers as threads, all in one process: sums are exact and reads
// never go back while keys are localized and intended all the time; of keys of a range, and of any keys of several
// length classes.
//
// cluster ZMQ_LIBRARY ROUNDS
#include <algorithm>
#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include "nodes.h"
#include "protocol/key_space.h"

namespace {

constexpr int64_t num_keys = 6, capacity = 100;
constexpr int workers_per_node = 2;

using Counts = std::vector<int64_t>;

struct Keys {
    std::vector<int64_t> classes; // lengths; one: the keys are a range
    std::vector<int64_t> all;
    std::vector<size_t> owners; // of each element of all values: which key's it is

    explicit Keys(const std::vector<int64_t> &lengths) : classes(lengths) {
        for (size_t number = 0; number < num_keys; number++) {
            const size_t of = number % classes.size();
            all.push_back(int64_t(of << ps::length_class_at | number));
            owners.insert(owners.end(), size_t(classes[of]), number);
        }
    }
    int64_t length(size_t number) const { return classes[number % classes.size()]; }
    int64_t elements() const { return int64_t(owners.size()); }
};

void work(ps_node *node, const Keys &of, int number, int rounds, Counts *pushed) {
    std::mt19937_64 random(uint64_t(number) + 1);
    ps_worker *worker = create_worker(node);
    const int64_t longest = *std::max_element(of.classes.begin(), of.classes.end());
    std::vector<int64_t> seen(of.owners.size()), earlier(seen), ones(size_t(num_keys * longest), 1), keys(num_keys);
    for (int round = 0; round < rounds; round++) {
        int64_t count = 1 + int64_t(random() % num_keys), elements = 0, timestamp;
        for (int64_t i = 0; i < count; i++) {
            const size_t drawn = random() % num_keys;
            keys[i] = of.all[drawn];
            elements += of.length(drawn);
            (*pushed)[drawn]++;
        }
        ps_request push{PS_PUSH, random() % 2 ? PS_ASYNC : 0, keys.data(), count, ones.data(), elements, 0, -1, 0};
        CHECK(ps_run(worker, &push) == PS_OK);
        CHECK(ps_pull(worker, of.all.data(), num_keys, seen.data(), of.elements(), nullptr) == PS_OK);
        for (size_t i = 0; i < seen.size(); i++) CHECK(seen[i] >= earlier[i] && seen[i] >= (*pushed)[of.owners[i]]);
        earlier = seen;
        int64_t wanted[2] = {of.all[random() % num_keys], of.all[random() % num_keys]}, clock;
        CHECK(ps_current_clock(worker, &clock) == PS_OK);
        CHECK(ps_intent(worker, wanted, 2, clock + 1, clock + 3) == PS_OK);
        if (random() % 4 == 0) {
            CHECK(ps_localize(worker, wanted, 2, &timestamp) == PS_OK);
            if (random() % 2) CHECK(ps_wait(worker, timestamp, 60) == PS_OK);
        }
        CHECK(ps_advance_clock(worker, nullptr) == PS_OK);
        ps_node_stats stats;
        CHECK(ps_node_get_stats(node, &stats, sizeof stats) == PS_OK && stats.refused == 0);
    }
    CHECK(ps_wait_all(worker, 60) == PS_OK);
    ps_worker_free(worker);
}

// What replicas still have is on its way to the owner.
void require_sums(ps_node *node, const Keys &of, const Counts &expected) {
    ps_worker *worker = create_worker(node);
    std::vector<int64_t> seen(of.owners.size());
    bool equal = false;
    for (int tries = 0; tries < 2000 && !equal; tries++) {
        CHECK(ps_pull(worker, of.all.data(), num_keys, seen.data(), of.elements(), nullptr) == PS_OK);
        equal = true;
        for (size_t i = 0; i < seen.size(); i++) {
            CHECK(seen[i] <= expected[of.owners[i]]);
            equal = equal && seen[i] == expected[of.owners[i]];
        }
        if (!equal) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(equal);
    ps_worker_free(worker);
}

void sums_are_exact(const Keys &keys, int32_t num_nodes, int32_t techniques, int rounds, int32_t server_threads = 1) {
    const bool is_range = keys.classes.size() == 1;
    NodeOptions options{is_range ? num_keys : 0, keys.classes, num_nodes, techniques};
    options.capacity = is_range ? 0 : capacity;
    options.server_threads = server_threads;
    std::vector<ps_node *> nodes;
    std::vector<std::string> endpoints;
    for (int32_t number = 0; number < num_nodes; number++) nodes.push_back(create_node_of(options, number));
    for (ps_node *node : nodes) endpoints.push_back(bind_node(node));
    for (ps_node *node : nodes) connect_node(node, endpoints);
    std::vector<Counts> pushed(size_t(num_nodes * workers_per_node), Counts(num_keys));
    std::vector<std::thread> threads;
    for (int number = 0; number < num_nodes * workers_per_node; number++)
        threads.emplace_back(work, nodes[size_t(number / workers_per_node)], std::cref(keys), number, rounds,
                             &pushed[size_t(number)]);
    for (std::thread &thread : threads) thread.join();
    Counts total(num_keys);
    for (const Counts &counts : pushed)
        for (size_t key = 0; key < num_keys; key++) total[key] += counts[key];
    for (ps_node *node : nodes) require_sums(node, keys, total);
    for (ps_node *node : nodes) ps_node_free(node);
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 3 && ps_load_zmq(arguments[1]) == PS_OK);
    int rounds = std::atoi(arguments[2]);
    for (const Keys &keys : {Keys({4}), Keys({4, 1, 7})}) {
        for (int32_t techniques : {PS_ALL, PS_REPLICATION_ONLY, PS_RELOCATION_ONLY})
            sums_are_exact(keys, 2, techniques, rounds);
        for (int32_t num_nodes : {3, 4}) sums_are_exact(keys, num_nodes, PS_ALL, rounds);
        for (int32_t server_threads : {2, 3}) sums_are_exact(keys, 2, PS_ALL, rounds, server_threads);
    }
    std::puts("ok");
}
