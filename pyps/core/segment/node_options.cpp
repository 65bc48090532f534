#include "segment/node_options.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "errors.h"
#include "protocol/channels.h"
#include "protocol/key_space.h"
#include "segment/directory.h"
#include "store/kernels.h"

namespace ps {

namespace {

constexpr double default_heartbeat = 0.5, default_lost_after = 3.0; // seconds
constexpr double most_signs_of_life = 280; // that a node sends in a second, if no other number is asked for
constexpr double shortest_max_age = 0.1; // seconds
constexpr int32_t most_admission = UINT8_MAX; // uses: they are counted in bytes
constexpr int64_t longest_allowed = int64_t(1) << 28; // elements: a slot's bytes fit into 32 bits

void check_key_space(const ps_node_options &options) {
    if (options.capacity != 0 && options.num_keys != 0)
        fail(PS_EINVAL, Where{-1, options.capacity, options.num_keys},
             "a capacity of %lld is for keys that may be any numbers, and num_keys is %lld: give one of them",
             static_cast<long long>(options.capacity), static_cast<long long>(options.num_keys));
    const bool is_range = options.capacity == 0;
    const int64_t rows = is_range ? options.num_keys : options.capacity;
    if (rows < 1 || rows > int64_t(UINT32_MAX))
        fail(PS_EINVAL, Where{-1, rows, UINT32_MAX}, "%s is %lld; it must be in [1, %lld]",
             is_range ? "num_keys" : "capacity", static_cast<long long>(rows), static_cast<long long>(UINT32_MAX));
    if (!is_range && (options.num_lengths < 1 || options.num_lengths > most_key_classes))
        fail(PS_EINVAL, Where{-1, options.num_lengths, most_key_classes},
             "%lld value lengths were given; keys that may be any numbers have 1 to %u, and the topmost byte of a key "
             "says which: a length for each key needs num_keys",
             static_cast<long long>(options.num_lengths), most_key_classes);
}

void check_eviction(const ps_node_options &options) {
    if (options.eviction < PS_EVICT_NONE || options.eviction > PS_EVICT_AGE)
        fail(PS_EINVAL, Where{-1, options.eviction, PS_EVICT_AGE}, "eviction %d is unknown", options.eviction);
    if (options.eviction == PS_EVICT_NONE) return;
    if (options.capacity == 0)
        fail(PS_EINVAL, Where{-1, options.num_keys, 0},
             "eviction is for keys that may be any numbers, and num_keys is %lld: give a capacity instead, or no "
             "eviction",
             static_cast<long long>(options.num_keys));
}

void check_max_age(const ps_node_options &options) {
    if (options.max_age == 0) return;
    if (!(options.max_age >= shortest_max_age) || std::isinf(options.max_age))
        fail(PS_EINVAL, Where{}, "max_age is %g; it must be at least %g seconds, or 0 for no greatest age",
             options.max_age, shortest_max_age);
    if (options.capacity == 0)
        fail(PS_EINVAL, Where{-1, options.num_keys, 0},
             "max_age is for keys that may be any numbers, and num_keys is %lld: give a capacity instead, or no "
             "max_age",
             static_cast<long long>(options.num_keys));
    if (options.replicas)
        fail(PS_EINVAL, Where{-1, options.replicas, 0},
             "replicas is %d, and max_age lets keys go: a node that has both could bring back what was let go",
             options.replicas);
}

void check_admission(const ps_node_options &options) {
    if (options.admission < 0 || options.admission > most_admission)
        fail(PS_EINVAL, Where{-1, options.admission, most_admission}, "admission is %d; it must be in [1, %d] uses",
             options.admission, most_admission);
    if (options.admission > 1 && options.capacity == 0)
        fail(PS_EINVAL, Where{-1, options.num_keys, 0},
             "admission is for keys that may be any numbers, and num_keys is %lld: give a capacity instead, or no "
             "admission",
             static_cast<long long>(options.num_keys));
}

void check_replicas(const ps_node_options &options) {
    const int32_t others = places_of(options) - 1; // one node alone, to try a program, has no replicas
    if (options.replicas < 0 || (others > 0 && options.replicas > others))
        fail(PS_EINVAL, Where{-1, options.replicas, others},
             "replicas is %d; it must be in [0, %d], as %d nodes have %d others each", options.replicas, others,
             others + 1, others);
    if (options.replicas && options.on_loss != PS_ON_LOSS_CONTINUE)
        fail(PS_EINVAL, Where{-1, options.replicas, 0}, "replicas is %d, which needs on_loss \"continue\"",
             options.replicas);
    if (options.replicas && options.eviction)
        fail(PS_EINVAL, Where{-1, options.replicas, 0},
             "replicas is %d, and eviction lets keys go: a node that has both could bring back what was let go",
             options.replicas);
}

} // namespace

int32_t places_of(const ps_node_options &options) { return std::max({1, options.num_nodes, options.places}); }

static double default_heartbeat_of(const ps_node_options &options) {
    return std::max(default_heartbeat, places_of(options) / most_signs_of_life);
}

double heartbeat_of(const ps_node_options &options) {
    return options.heartbeat > 0 ? options.heartbeat : default_heartbeat_of(options);
}

double lost_after_of(const ps_node_options &options) {
    if (options.lost_after > 0) return options.lost_after;
    return std::max(default_lost_after, 5 * default_heartbeat_of(options));
}

void check_options(const ps_node_options &options) {
    check_key_space(options);
    if (!options.value_lengths ||
        (options.capacity == 0 && options.num_lengths != 1 && options.num_lengths != options.num_keys))
        fail(PS_EINVAL, Where{-1, options.num_lengths, options.num_keys},
             "%lld value lengths were given for %lld keys; give one for all keys or one per key",
             static_cast<long long>(options.num_lengths), static_cast<long long>(options.num_keys));
    if (element_bytes(options.dtype) == 0)
        fail(PS_EINVAL, Where{-1, options.dtype, PS_INT64}, "dtype %d is unknown", options.dtype);
    if (options.max_workers < 0 || options.max_workers > int32_t(most_workers))
        fail(PS_EINVAL, Where{-1, options.max_workers, most_workers}, "max_workers is %d; it must be in [1, %u]",
             options.max_workers, most_workers);
    if (options.server_threads < 0 || options.server_threads > int32_t(most_channels))
        fail(PS_EINVAL, Where{-1, options.server_threads, most_channels}, "server_threads is %d; it must be in [1, %u]",
             options.server_threads, most_channels);
    if (options.max_workers + std::max(options.server_threads, 1) > int32_t(most_workers) + 1)
        fail(PS_EINVAL, Where{-1, options.max_workers, most_workers + 1},
             "max_workers is %d and server_threads %d; together they may be %u", options.max_workers,
             options.server_threads, most_workers + 1);
    if (options.num_workers < 0 || options.num_workers > int32_t(most_workers))
        fail(PS_EINVAL, Where{-1, options.num_workers, most_workers}, "num_workers is %d; it must be in [0, %u]",
             options.num_workers, most_workers);
    if (options.memory_limit < 0)
        fail(PS_EINVAL, Where{-1, options.memory_limit, 0}, "memory_limit is %lld; it must not be negative",
             static_cast<long long>(options.memory_limit));
    if (!(options.latch_timeout >= 0) || std::isinf(options.latch_timeout))
        fail(PS_EINVAL, Where{}, "latch_timeout is %g; it must be a number of seconds", options.latch_timeout);
    if (options.num_nodes < 0 || options.num_nodes > int32_t(most_nodes))
        fail(PS_EINVAL, Where{-1, options.num_nodes, most_nodes}, "num_nodes is %d; it must be in [1, %u]",
             options.num_nodes, most_nodes);
    const int32_t at_first = std::max(1, options.num_nodes), places = places_of(options);
    if (options.places && (options.places < at_first || options.places > int32_t(most_nodes)))
        fail(PS_EINVAL, Where{-1, options.places, most_nodes}, "places is %d; it must be in [%d, %u]", options.places,
             at_first, most_nodes);
    if (places > at_first && options.replicas == 0)
        fail(PS_EINVAL, Where{-1, places, at_first},
             "places is %d for %d nodes: others can join only where keys have replicas, so pass replicas=1", places,
             at_first);
    if (options.node < 0 || options.node >= places)
        fail(PS_EINVAL, Where{-1, options.node, places}, "node is %d; it must be in [0, %d)", options.node, places);
    if (options.techniques < 0 || options.techniques > PS_AUTO)
        fail(PS_EINVAL, Where{-1, options.techniques, PS_AUTO}, "techniques %d are unknown", options.techniques);
    if (!(options.heartbeat >= 0) || std::isinf(options.heartbeat))
        fail(PS_EINVAL, Where{}, "heartbeat is %g; it must be a number of seconds", options.heartbeat);
    if (!(options.lost_after >= 0) || std::isinf(options.lost_after))
        fail(PS_EINVAL, Where{}, "lost_after is %g; it must be a number of seconds", options.lost_after);
    if (lost_after_of(options) < 3 * heartbeat_of(options))
        fail(PS_EINVAL, Where{}, "lost_after is %g; it must be at least three times heartbeat, which is %g",
             lost_after_of(options), heartbeat_of(options));
    check_eviction(options);
    check_max_age(options);
    check_admission(options);
    if (options.on_loss < 0 || options.on_loss > PS_ON_LOSS_CONTINUE)
        fail(PS_EINVAL, Where{-1, options.on_loss, PS_ON_LOSS_CONTINUE}, "on_loss %d is unknown", options.on_loss);
    check_replicas(options);
    if (options.in_flight < 0)
        fail(PS_EINVAL, Where{-1, options.in_flight, 0}, "in_flight is %lld; it must not be negative",
             static_cast<long long>(options.in_flight));
    for (int64_t i = 0; i < options.num_lengths; i++)
        if (options.value_lengths[i] < 1 || options.value_lengths[i] > longest_allowed)
            fail(PS_EINVAL, Where{i, options.value_lengths[i], longest_allowed},
                 "the value length of %s %lld is %lld; it must be in [1, %lld]",
                 options.capacity ? "length class" : "key", static_cast<long long>(i),
                 static_cast<long long>(options.value_lengths[i]), static_cast<long long>(longest_allowed));
}

} // namespace ps
