// What every native test uses: checks that end the program with their place.
#pragma once

#include <cstdio>
#include <cstdlib>

#include "ps.h"

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition,                      \
                         ps_last_error()->message);                                                                    \
            std::_Exit(1);                                                                                             \
        }                                                                                                              \
    } while (0)

inline ps_node *create_node(int64_t num_keys, int64_t length, int32_t max_workers = 0, int32_t num_workers = 0) {
    ps_node_options options{};
    options.size = sizeof options;
    options.num_keys = num_keys;
    options.value_lengths = &length;
    options.num_lengths = 1;
    options.dtype = PS_FLOAT32;
    options.max_workers = max_workers;
    options.num_workers = num_workers;
    ps_node *node = nullptr;
    CHECK(ps_node_create(&options, &node) == PS_OK);
    return node;
}

inline ps_worker *create_worker(ps_node *node) {
    ps_worker *worker = nullptr;
    CHECK(ps_worker_create(node, &worker) == PS_OK);
    return worker;
}
