// Nodes with their servers' threads and sockets, and workers as threads, all in one process: sums are exact and reads
// never go back while keys are localized and intended all the time.
//
// cluster ZMQ_LIBRARY ROUNDS
#include <atomic>
#include <random>
#include <thread>

#include "nodes.h"

namespace {

constexpr int64_t num_keys = 6, length = 4;
constexpr int workers_per_node = 2;

using Counts = std::vector<int64_t>;

void work(ps_node *node, int number, int rounds, Counts *pushed) {
    std::mt19937_64 random(uint64_t(number) + 1);
    ps_worker *worker = create_worker(node);
    std::vector<int64_t> all(num_keys), seen(num_keys * length), ones(num_keys * length, 1);
    std::vector<int64_t> earlier(num_keys * length), keys(num_keys);
    for (int64_t key = 0; key < num_keys; key++) all[key] = key;
    for (int round = 0; round < rounds; round++) {
        int64_t count = 1 + int64_t(random() % num_keys), timestamp;
        for (int64_t i = 0; i < count; i++) {
            keys[i] = int64_t(random() % num_keys);
            (*pushed)[keys[i]]++;
        }
        ps_request push{PS_PUSH, random() % 2 ? PS_ASYNC : 0, keys.data(), count, ones.data(), count * length, 0, -1,
                        0};
        CHECK(ps_run(worker, &push) == PS_OK);
        CHECK(ps_pull(worker, all.data(), num_keys, seen.data(), num_keys * length, nullptr) == PS_OK);
        for (int64_t i = 0; i < num_keys * length; i++)
            CHECK(seen[i] >= earlier[i] && seen[i] >= (*pushed)[i / length]);
        earlier = seen;
        int64_t wanted[2] = {int64_t(random() % num_keys), int64_t(random() % num_keys)}, clock;
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
void require_sums(ps_node *node, const Counts &expected) {
    ps_worker *worker = create_worker(node);
    std::vector<int64_t> all(num_keys), seen(num_keys * length);
    for (int64_t key = 0; key < num_keys; key++) all[key] = key;
    bool equal = false;
    for (int tries = 0; tries < 2000 && !equal; tries++) {
        CHECK(ps_pull(worker, all.data(), num_keys, seen.data(), num_keys * length, nullptr) == PS_OK);
        equal = true;
        for (int64_t i = 0; i < num_keys * length; i++) {
            CHECK(seen[i] <= expected[i / length]);
            equal = equal && seen[i] == expected[i / length];
        }
        if (!equal) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    CHECK(equal);
    ps_worker_free(worker);
}

void sums_are_exact(int32_t num_nodes, int32_t techniques, int rounds, int32_t server_threads = 1) {
    NodeOptions options{num_keys, {length}, num_nodes, techniques};
    options.server_threads = server_threads;
    std::vector<ps_node *> nodes;
    std::vector<std::string> endpoints;
    for (int32_t number = 0; number < num_nodes; number++) nodes.push_back(create_node_of(options, number));
    for (ps_node *node : nodes) endpoints.push_back(bind_node(node));
    for (ps_node *node : nodes) connect_node(node, endpoints);
    std::vector<Counts> pushed(size_t(num_nodes * workers_per_node), Counts(num_keys));
    std::vector<std::thread> threads;
    for (int number = 0; number < num_nodes * workers_per_node; number++)
        threads.emplace_back(work, nodes[size_t(number / workers_per_node)], number, rounds, &pushed[size_t(number)]);
    for (std::thread &thread : threads) thread.join();
    Counts total(num_keys);
    for (const Counts &counts : pushed)
        for (size_t key = 0; key < num_keys; key++) total[key] += counts[key];
    for (ps_node *node : nodes) require_sums(node, total);
    for (ps_node *node : nodes) ps_node_free(node);
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 3 && ps_load_zmq(arguments[1]) == PS_OK);
    int rounds = std::atoi(arguments[2]);
    for (int32_t techniques : {PS_ALL, PS_REPLICATION_ONLY, PS_RELOCATION_ONLY}) sums_are_exact(2, techniques, rounds);
    for (int32_t num_nodes : {3, 4}) sums_are_exact(num_nodes, PS_ALL, rounds);
    for (int32_t server_threads : {2, 3}) sums_are_exact(2, PS_ALL, rounds, server_threads);
    std::puts("ok");
}
