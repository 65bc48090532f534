// The functions of ps.h for nodes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include "abi.h"
#include "errors.h"
#include "net/refusals.h"
#include "net/zeromq/library.h"
#include "node.h"
#include "ps.h"
#include "store/batch.h"
#include "store/kernels.h"
#include "worker/worker_stats.h"
#include "worker/workers.h"

using namespace ps;

namespace {

constexpr double default_attach_timeout = 10.0; // seconds

MemberSlot &member_of(const Segment &segment, int32_t number) {
    const uint32_t nodes = segment.header().places;
    if (number < 0 || uint32_t(number) >= nodes)
        fail(PS_EINVAL, Where{-1, number, nodes}, "there is no node %d of %u", number, nodes);
    return segment.member(uint32_t(number));
}

} // namespace

extern "C" {

int32_t ps_abi_version(void) { return PS_ABI_VERSION; }

int32_t ps_element_bytes(int32_t dtype) { return int32_t(element_bytes(dtype)); }

int32_t ps_node_create(const ps_node_options *options, ps_node **node) {
    make_room_for_failures();
    return guarded([&] {
        const ps_node_options wanted = known(options);
        if (wanted.hash && wanted.hash[0]) fail(PS_EINVAL, Where{}, "hash is %s; only a table has one", wanted.hash);
        require(node, "node") = ps_node::create(wanted, PushRule::read(wanted.optimizer ? wanted.optimizer : ""),
                                                Initializer::read(wanted.initializer ? wanted.initializer : ""));
        return int32_t(PS_OK);
    });
}

int32_t ps_node_attach(const char *address, double timeout, ps_node **node) {
    make_room_for_failures();
    return guarded([&] {
        require(address, "address");
        require(node, "node") = ps_node::attach(address, seconds(timeout, default_attach_timeout));
        return int32_t(PS_OK);
    });
}

int32_t ps_node_listen(ps_node *node, char *address, size_t capacity) {
    return with_node(node, [&](ps_node &n) {
        require(address, "address");
        std::string found = n.listen();
        if (capacity <= found.size())
            fail(PS_ESIZE, Where{-1, int64_t(capacity), int64_t(found.size() + 1)}, "the address has %zu bytes",
                 found.size() + 1);
        std::snprintf(address, capacity, "%s", found.c_str());
    });
}

int32_t ps_load_zmq(const char *path) {
    return guarded([&] {
        path ? load_zmq(path) : load_zmq_unless_named("libzmq.so.5");
        return int32_t(PS_OK);
    });
}

int32_t ps_node_secure(ps_node *node, const char *public_key, const char *secret_key) {
    return with_node(
        node, [&](ps_node &n) { n.secure({&require(public_key, "public_key"), &require(secret_key, "secret_key")}); });
}

int32_t ps_node_trace(ps_node *node, const int64_t *keys, int64_t num_keys) {
    return with_node(node, [&](ps_node &n) {
        check_keys(*n.attachment()->segment, keys, num_keys);
        n.trace(std::vector<Key>(keys, keys + num_keys));
    });
}

int32_t ps_node_take_trace(ps_node *node, ps_trace_event *events, int64_t capacity, int64_t *count,
                           int64_t *forgotten) {
    return with_node(node, [&](ps_node &n) {
        require(events, "events");
        require(count, "count") = n.take_trace(events, capacity, &require(forgotten, "forgotten"));
    });
}

int32_t ps_node_bind(ps_node *node, const char *endpoint, char *bound, size_t capacity) {
    return with_node(node, [&](ps_node &n) {
        std::string taken = n.bind(&require(endpoint, "endpoint"));
        std::snprintf(&require(bound, "bound"), capacity, "%s", taken.c_str());
    });
}

int32_t ps_node_connect(ps_node *node, const char *const *endpoints, int32_t num_nodes) {
    return with_node(node, [&](ps_node &n) {
        require(endpoints, "endpoints");
        n.connect(std::vector<std::string>(endpoints, endpoints + std::max(0, num_nodes)));
    });
}

int32_t ps_node_join(ps_node *node, const char *const *endpoints, int32_t num_endpoints, double timeout) {
    return wait_for(node, "node", timeout, [&](ps_node &n, double limit) {
        require(endpoints, "endpoints");
        return n.join(std::vector<std::string>(endpoints, endpoints + std::max(0, num_endpoints)), limit);
    });
}

int32_t ps_node_take_place(ps_node *node, double timeout, int32_t *number) {
    return wait_for(node, "node", timeout,
                    [&](ps_node &n, double limit) { return n.take_place(limit, &require(number, "number")); });
}

int32_t ps_node_get_member(ps_node *node, int32_t number, ps_member *member, size_t bytes) {
    return with_node(node, [&](ps_node &n) {
        auto attachment = n.attachment();
        const MemberSlot &slot = member_of(*attachment->segment, number);
        ps_member found{};
        found.state = int32_t(slot.state.load(std::memory_order_acquire));
        if (slot.is_known.load(std::memory_order_acquire))
            std::snprintf(found.endpoint, sizeof found.endpoint, "%s", attachment->segment->endpoint(uint32_t(number)));
        give(found, member, bytes, "member");
    });
}

int32_t ps_node_barrier(ps_node *node, double timeout) {
    return wait_for(node, "node", timeout, [](ps_node &n, double limit) { return n.barrier(limit); });
}

int32_t ps_node_leave(ps_node *node, double timeout) {
    return wait_for(node, "node", timeout, [](ps_node &n, double limit) { return n.leave(limit); });
}

int32_t ps_node_hand_over(ps_node *node, double timeout) {
    return wait_for(node, "node", timeout, [](ps_node &n, double limit) { return n.hand_over(limit); });
}

int32_t ps_node_set_patience(ps_node *node, double patience) {
    return with_node(node, [&](ps_node &n) { n.attachment()->patience = seconds(patience, HUGE_VAL); });
}

int32_t ps_node_enable_sampling(ps_node *node, const ps_sampling_options *options) {
    return with_node(node, [&](ps_node &n) { n.enable_sampling(known(options)); });
}

int32_t ps_node_shutdown(ps_node *node) {
    return with_node(node, [](ps_node &n) { n.shutdown(); });
}

int32_t ps_node_is_open(ps_node *node) { return node && node->is_open(); }

void ps_node_free(ps_node *node) { delete node; }

int32_t ps_node_get_info(ps_node *node, ps_node_info *info, size_t bytes) {
    return with_node(node, [&](ps_node &n) {
        auto attachment = n.attachment();
        const Header &h = attachment->segment->header();
        ps_node_info found{};
        found.num_keys = h.num_keys;
        found.value_length = h.value_length;
        found.longest_value = h.longest_value;
        found.total_values = h.total_values;
        found.dtype = h.dtype;
        found.element_bytes = int32_t(h.element_bytes);
        found.max_workers = int32_t(h.max_workers);
        found.num_workers = int32_t(h.num_workers);
        found.num_nodes = int32_t(attachment->segment->first().size());
        found.node = int32_t(h.node);
        found.places = int32_t(h.places);
        found.replicas = int32_t(h.replicas);
        give(found, info, bytes, "info");
    });
}

int32_t ps_node_get_stats(ps_node *node, ps_node_stats *stats, size_t bytes) {
    return with_node(node, [&](ps_node &n) {
        auto attachment = n.attachment();
        const Segment &segment = *attachment->segment;
        const Header &h = segment.header();
        ps_node_stats s{};
        s.keys_held = int64_t(h.keys_held.load());
        s.committed_bytes = int64_t(attachment->segment->mapping().committed());
        s.directory_bytes = int64_t(segment.directory_bytes());
        s.slab_bytes = int64_t(h.slab_bytes.load());
        s.value_bytes = int64_t(h.value_bytes.load());
        s.workers = count_workers(segment);
        s.workers_joined = int64_t(h.joined.load());
        s.workers_reclaimed = int64_t(h.reclaimed.load());
        s.latches_recovered = int64_t(h.recovered.load());
        s.values_restored = int64_t(h.restored.load());
        s.peers_refused = int64_t(h.peers_refused.load());
        s.refused = int64_t(h.refused.load());
        s.relocations_in = int64_t(h.relocations_in.load());
        s.relocations_out = int64_t(h.relocations_out.load());
        s.replicas_held = int64_t(h.replicas_held.load());
        s.replicas_made = int64_t(h.replicas_made.load());
        s.requests_forwarded = int64_t(h.requests_forwarded.load());
        s.intents_active = int64_t(h.intents_active.load());
        s.intents_waiting = int64_t(h.intents_waiting.load());
        s.intents_skipped = int64_t(h.intents_skipped.load());
        s.messages_received = int64_t(h.messages_received.load());
        s.keys_without_room = int64_t(h.keys_without_room.load());
        s.operations_pending = count_pending(segment);
        s.keys_evicted = int64_t(h.keys_evicted.load());
        s.copies_held = int64_t(h.copies_held.load());
        s.copy_bytes = int64_t(h.copy_bytes.load());
        s.keys_lacking_copies = int64_t(h.keys_lacking_copies.load());
        s.keys_expired = int64_t(h.keys_expired.load());
        s.keys_waiting = int64_t(h.keys_waiting.load());
        s.pushes_dropped = int64_t(h.pushes_dropped.load());
        s.keys_to_take_over = int64_t(h.keys_to_take_over.load());
        for (uint32_t other = 0; other < h.places; other++)
            s.nodes_lost += segment.member(other).state.load(std::memory_order_acquire) == Member::lost;
        give(s, stats, bytes, "stats");
    });
}

int32_t ps_node_get_worker_stats(ps_node *node, ps_worker_stats *stats, size_t bytes) {
    return with_node(node, [&](ps_node &n) {
        auto attachment = n.attachment();
        give(stats_of_workers(*attachment->segment), stats, bytes, "stats");
    });
}

int32_t ps_node_get_latencies(ps_node *node, int32_t operation, int32_t remote, ps_latencies *latencies, size_t bytes) {
    return with_node(node, [&](ps_node &n) {
        if (operation < PS_PULL || operation > PS_LOCALIZE)
            fail(PS_EINVAL, Where{-1, operation, PS_LOCALIZE}, "operation %d is unknown", operation);
        if (remote != 0 && remote != 1)
            fail(PS_EINVAL, Where{-1, remote, 1}, "remote is %d; it must be 0 or 1", remote);
        auto attachment = n.attachment();
        const Latencies &now = attachment->segment->header().latencies[operation][remote];
        ps_latencies found{};
        found.total_ns = now.total_ns.load(std::memory_order_relaxed);
        std::copy(std::begin(now.counts), std::end(now.counts), found.counts);
        give(found, latencies, bytes, "latencies");
    });
}

int32_t ps_node_set_metrics(ps_node *node, int32_t number, const char *url) {
    return with_node(node, [&](ps_node &n) {
        member_of(*n.attachment()->segment, number);
        n.set_metrics(uint32_t(number), &require(url, "url"));
    });
}

int32_t ps_node_get_metrics(ps_node *node, int32_t number, char *url, size_t capacity) {
    return with_node(node, [&](ps_node &n) {
        auto attachment = n.attachment();
        const MemberSlot &member = member_of(*attachment->segment, number);
        const bool is_watched = member.is_watched.load(std::memory_order_acquire);
        std::snprintf(&require(url, "url"), capacity, "%s", is_watched ? member.metrics : "");
    });
}

int64_t ps_latency_limit(int32_t count) { return latency_limit(std::max(count, 0)); }

int32_t ps_node_first_refusal(ps_node *node, char *reason, size_t capacity) {
    return with_node(node, [&](ps_node &n) {
        auto attachment = n.attachment();
        std::snprintf(&require(reason, "reason"), capacity, "%s", first_refusal(attachment->segment->header()));
    });
}

int32_t ps_node_value_length(ps_node *node, int64_t key, int64_t *length) {
    return ps_node_total_length(node, &key, 1, length);
}

int32_t ps_node_total_length(ps_node *node, const int64_t *keys, int64_t num_keys, int64_t *total) {
    return with_node(node, [&](ps_node &n) {
        auto attachment = n.attachment();
        check_keys(*attachment->segment, keys, num_keys);
        require(total, "total") = total_length(*attachment->segment, keys, num_keys);
    });
}

} // extern "C"
