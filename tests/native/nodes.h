// Nodes of a cluster in one process, for native tests: over real sockets, with the ZeroMQ library that the first
// argument of the program names.
#pragma once

#include <string>
#include <vector>

#include "check.h"

// libzmq is not built for ThreadSanitizer: what it does is left out, what ours does is watched. It frees what we lend.
// These run before the sanitizer is ready to watch them.
extern "C" {
[[gnu::no_sanitize_thread]] const char *__tsan_default_options() { return "ignore_noninstrumented_modules=1"; }
[[gnu::no_sanitize_thread]] const char *__tsan_default_suppressions() { return "race:delete_lent\n"; }
}

struct NodeOptions {
    int64_t num_keys = 16;
    std::vector<int64_t> lengths = {4};
    int32_t num_nodes = 2;
    int32_t techniques = PS_ALL;
    uint64_t cluster = 5;
    int32_t server_threads = 1;
    int64_t capacity = 0;
    int32_t places = 0, replicas = 0;
    int32_t dtype = PS_INT64;
    std::string compression = {};
};

inline ps_node *create_node_of(const NodeOptions &wanted, int32_t number) {
    ps_node_options options{};
    options.size = sizeof options;
    options.num_keys = wanted.num_keys;
    options.capacity = wanted.capacity;
    options.value_lengths = wanted.lengths.data();
    options.num_lengths = int64_t(wanted.lengths.size());
    options.dtype = wanted.dtype;
    options.compression = wanted.compression.c_str();
    options.num_nodes = wanted.num_nodes;
    options.node = number;
    options.techniques = wanted.techniques;
    options.cluster = wanted.cluster;
    options.server_threads = wanted.server_threads;
    options.places = wanted.places;
    options.replicas = wanted.replicas;
    if (wanted.replicas) options.on_loss = PS_ON_LOSS_CONTINUE;
    ps_node *node = nullptr;
    CHECK(ps_node_create(&options, &node) == PS_OK);
    return node;
}

inline std::string bind_node(ps_node *node) {
    char bound[128];
    CHECK(ps_node_bind(node, "tcp://127.0.0.1:*", bound, sizeof bound) == PS_OK);
    return bound;
}

inline void connect_node(ps_node *node, const std::vector<std::string> &endpoints) {
    std::vector<const char *> texts;
    for (const std::string &endpoint : endpoints) texts.push_back(endpoint.c_str());
    CHECK(ps_node_connect(node, texts.data(), int32_t(texts.size())) == PS_OK);
}
