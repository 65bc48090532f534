// Rules of pushes that no store comes with: they hold on one node, while keys move, at replicas, and when workers are
// killed while they push.
//
// rules ZMQ_LIBRARY ROUNDS KILLS
#include <random>
#include <thread>

#include "node.h"
#include "nodes.h"
#include "rules/examples.h"
#include "rules/kills.h"

namespace {

constexpr int64_t num_keys = 6;
constexpr int workers_per_node = 2;

std::vector<ps_node *> create_nodes(int32_t num_nodes, uint32_t rule) {
    std::vector<ps_node *> nodes;
    for (int32_t number = 0; number < num_nodes; number++) {
        ps_node_options options{};
        options.num_keys = num_keys;
        options.value_lengths = &length;
        options.num_lengths = 1;
        options.dtype = PS_INT64;
        options.num_nodes = num_nodes;
        options.node = number;
        options.cluster = 5;
        nodes.push_back(ps_node::create(options, PushRule{&test_rules(), rule}));
    }
    if (num_nodes == 1) return nodes;
    std::vector<std::string> endpoints;
    for (ps_node *node : nodes) endpoints.push_back(bind_node(node));
    for (ps_node *node : nodes) connect_node(node, endpoints);
    return nodes;
}

const std::vector<int64_t> &all_keys() {
    static const std::vector<int64_t> keys = {0, 1, 2, 3, 4, 5};
    return keys;
}

void push_and_move(ps_node *node, int number, int rounds, bool several, std::vector<Pushed> *pushed) {
    std::mt19937_64 random(uint64_t(number) + 1);
    ps_worker *worker = create_worker(node);
    std::vector<int64_t> deltas(num_keys * length), keys(num_keys);
    for (int round = 0; round < rounds; round++) {
        int64_t count = 1 + int64_t(random() % num_keys), timestamp, clock;
        for (int64_t i = 0; i < count; i++) {
            keys[i] = int64_t(random() % num_keys);
            int64_t delta = least + int64_t(random() % 100'000);
            std::fill_n(&deltas[i * length], length, delta);
            (*pushed)[keys[i]].note(delta);
        }
        ps_request push{PS_PUSH, random() % 2 ? PS_ASYNC : 0, keys.data(), count, deltas.data(), count * length, 0, -1,
                        0};
        CHECK(ps_run(worker, &push) == PS_OK);
        if (!several) continue;
        int64_t wanted[2] = {int64_t(random() % num_keys), int64_t(random() % num_keys)};
        CHECK(ps_current_clock(worker, &clock) == PS_OK);
        CHECK(ps_intent(worker, wanted, 2, clock + 1, clock + 3) == PS_OK);
        if (random() % 4 == 0) CHECK(ps_localize(worker, wanted, 2, &timestamp) == PS_OK);
        CHECK(ps_advance_clock(worker, nullptr) == PS_OK);
    }
    CHECK(ps_wait_all(worker, 60) == PS_OK);
    ps_worker_free(worker);
}

// What replicas still have is on its way to the owner.
void require_values(ps_node *node, const std::vector<int64_t> &expected) {
    ps_worker *worker = create_worker(node);
    std::vector<int64_t> seen(num_keys * length);
    bool equal = false;
    for (int tries = 0; tries < 2000 && !equal; tries++) {
        CHECK(ps_pull(worker, all_keys().data(), num_keys, seen.data(), num_keys * length, nullptr) == PS_OK);
        equal = true;
        for (int64_t i = 0; i < num_keys * length; i++) equal = equal && seen[i] == expected[i / length];
        if (!equal) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    if (!equal) std::fprintf(stderr, "key 0 has %lld, expected %lld\n", (long long)seen[0], (long long)expected[0]);
    CHECK(equal);
    ps_worker_free(worker);
}

// What the runs had to deal with, all together: in which of them is for the timing of intents.
struct Met {
    int64_t relocations = 0, replicas = 0;
};

void values_are_what_the_rule_says(int32_t num_nodes, uint32_t rule, int rounds, Met *met) {
    std::vector<ps_node *> nodes = create_nodes(num_nodes, rule);
    std::vector<int64_t> first(num_keys * length, lowest_value);
    ps_worker *worker = create_worker(nodes[0]);
    CHECK(ps_set(worker, all_keys().data(), num_keys, first.data(), num_keys * length, nullptr) == PS_OK);
    ps_worker_free(worker);
    std::vector<std::vector<Pushed>> pushed(size_t(num_nodes * workers_per_node), std::vector<Pushed>(num_keys));
    std::vector<std::thread> threads;
    for (int number = 0; number < num_nodes * workers_per_node; number++)
        threads.emplace_back(push_and_move, nodes[size_t(number / workers_per_node)], number, rounds, num_nodes > 1,
                             &pushed[size_t(number)]);
    for (std::thread &thread : threads) thread.join();
    std::vector<int64_t> expected;
    for (size_t key = 0; key < num_keys; key++) {
        Pushed total;
        for (const std::vector<Pushed> &by_one : pushed) total.note(by_one[key]);
        expected.push_back(expected_value(rule, total));
    }
    for (ps_node *node : nodes) require_values(node, expected);
    for (ps_node *node : nodes) {
        ps_node_stats stats;
        CHECK(ps_node_get_stats(node, &stats, sizeof stats) == PS_OK);
        met->relocations += stats.relocations_in;
        met->replicas += stats.replicas_made;
    }
    for (ps_node *node : nodes) ps_node_free(node);
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 4 && ps_load_zmq(arguments[1]) == PS_OK);
    int rounds = std::atoi(arguments[2]), kills = std::atoi(arguments[3]);
    unfit_rules_are_refused();
    for (uint32_t rule : {largest_rule, scaled_rule, late_rule}) {
        whole_after_kills(rule, Standing::owned, kills);
        whole_after_kills(rule, Standing::replica, kills);
    }
    whole_after_kills(mean_rule, Standing::owned, kills);
    Met met;
    for (uint32_t rule : {largest_rule, scaled_rule, mean_rule, late_rule})
        for (int32_t num_nodes : {1, 2, 3}) values_are_what_the_rule_says(num_nodes, rule, rounds, &met);
    CHECK(met.relocations > 0 && met.replicas > 0);
    std::puts("ok");
}
