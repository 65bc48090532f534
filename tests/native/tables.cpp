// Named tables that threads of all nodes declare, use and drop at once, each round another one; one handle of each node
// has attached to it. Sums are exact, and in the end no table is left.
//
// tables ZMQ_LIBRARY ROUNDS
#include <atomic>
#include <string>
#include <thread>

#include "nodes.h"

namespace {

constexpr int num_nodes = 3, handles_per_node = 2;
constexpr int64_t dim = 4, key = 77;
constexpr double longest = 60; // seconds

ps_node *open_table(ps_node *node, const std::string &name, bool with_options) {
    ps_node_options options{};
    options.size = sizeof options;
    options.capacity = 10;
    options.value_lengths = &dim;
    options.num_lengths = 1;
    options.dtype = PS_INT64;
    ps_node *table = nullptr;
    int32_t code;
    do code = ps_node_table(node, name.c_str(), with_options ? &options : nullptr, longest, &table);
    while (code == PS_EBUSY);
    CHECK(code == PS_OK);
    return table;
}

void use(ps_node *node, const std::string &name, bool declares, std::atomic<int> *pushed, std::atomic<int> *read) {
    ps_node *table = open_table(node, name, declares);
    ps_worker *worker = create_worker(table);
    const int64_t ones[dim] = {1, 1, 1, 1};
    int64_t timestamp;
    CHECK(ps_push(worker, &key, 1, ones, dim, &timestamp) == PS_OK);
    CHECK(ps_wait(worker, timestamp, longest) == PS_OK);
    ++*pushed;
    while (*pushed < num_nodes * handles_per_node) std::this_thread::yield();
    int64_t found[dim] = {};
    CHECK(ps_pull(worker, &key, 1, found, dim, &timestamp) == PS_OK);
    CHECK(ps_wait(worker, timestamp, longest) == PS_OK);
    for (int64_t value : found) CHECK(value == num_nodes * handles_per_node);
    ps_worker_free(worker);
    ++*read;
    ps_node_free(table);
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 3 && ps_load_zmq(arguments[1]) == PS_OK);
    std::vector<ps_node *> nodes, handles;
    std::vector<std::string> endpoints;
    for (int number = 0; number < num_nodes; number++) {
        nodes.push_back(create_node_of({16, {1}, num_nodes}, number));
        endpoints.push_back(bind_node(nodes.back()));
    }
    for (ps_node *node : nodes) {
        connect_node(node, endpoints);
        char address[64];
        ps_node *attached;
        CHECK(ps_node_listen(node, address, sizeof address) == PS_OK);
        CHECK(ps_node_attach(address, longest, &attached) == PS_OK);
        CHECK(ps_node_set_patience(attached, 0.001) == PS_OK);
        handles.insert(handles.end(), {node, attached});
    }
    for (int round = 0; round < std::atoi(arguments[2]); round++) {
        const std::string name = "table" + std::to_string(round % 3);
        std::atomic<int> pushed{0}, read{0};
        std::vector<std::thread> threads;
        for (size_t i = 0; i < handles.size(); i++)
            threads.emplace_back([&, i] { use(handles[i], name, int(i) % 4 == round % 4, &pushed, &read); });
        for (std::thread &thread : threads) thread.join();
        CHECK(read == num_nodes * handles_per_node);
        ps_node *dropper = handles[size_t(round) % handles.size()];
        int32_t code;
        do code = ps_node_drop_table(dropper, name.c_str(), longest);
        while (code == PS_EBUSY);
        CHECK(code == PS_OK);
        for (ps_node *node : handles) {
            char names[64] = "?";
            while (names[0]) CHECK(ps_node_table_names(node, names, sizeof names) == PS_OK);
        }
    }
    ps_node_free(open_table(nodes[0], "last", true)); // the nodes end with a table that works
    for (size_t i = 1; i < handles.size(); i += 2) ps_node_free(handles[i]);
    std::vector<std::thread> threads;
    for (ps_node *node : nodes)
        threads.emplace_back([node] {
            CHECK(ps_node_leave(node, longest) == PS_OK);
            ps_node_free(node);
        });
    for (std::thread &thread : threads) thread.join();
    std::puts("ok");
}
