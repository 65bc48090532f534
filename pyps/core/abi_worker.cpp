// The functions of ps.h for workers.
#include "abi.h"
#include "errors.h"
#include "node.h"
#include "ps.h"
#include "worker/worker.h"
#include "worker/workers.h"

using namespace ps;

namespace {

int32_t run(ps_worker *worker, ps_request &request) {
    int32_t code = require(worker, "worker").run(request, seconds(request.timeout, default_wait_timeout));
    if (code == PS_ENOTLOCAL)
        fail(code, Where{request.done, request.keys[request.done], 0}, "a key lives on no node that is known");
    return code;
}

int32_t run(ps_worker *worker, int32_t operation, const int64_t *keys, int64_t num_keys, void *values,
            int64_t num_values, int64_t *timestamp) {
    ps_request request{operation, 0, keys, num_keys, values, num_values, 0, -1, 0};
    int32_t code = guarded([&] { return run(worker, request); });
    if (timestamp) *timestamp = request.timestamp;
    return code;
}

template <class Body>
int32_t with_worker(ps_worker *worker, Body &&body) {
    return guarded([&] {
        body(require(worker, "worker"));
        return int32_t(PS_OK);
    });
}

} // namespace

extern "C" {

int32_t ps_worker_create(ps_node *node, ps_worker **worker) {
    make_room_for_failures();
    return with_node(node, [&](ps_node &n) {
        require(worker, "worker");
        auto attachment = n.attachment();
        attachment->require_open();
        *worker = new ps_worker(attachment);
    });
}

int32_t ps_worker_finalize(ps_worker *worker) {
    return with_worker(worker, [](ps_worker &w) { w.finalize(); });
}

void ps_worker_free(ps_worker *worker) { delete worker; }

int32_t ps_worker_id(ps_worker *worker) { return worker ? worker->id() : 0; }

int32_t ps_worker_get_stats(ps_worker *worker, ps_worker_stats *stats, size_t bytes) {
    return with_worker(worker, [&](ps_worker &w) { give(w.stats(), stats, bytes, "stats"); });
}

int32_t ps_run(ps_worker *worker, ps_request *request) {
    return guarded([&] { return run(worker, require(request, "request")); });
}

int32_t ps_pull(ps_worker *worker, const int64_t *keys, int64_t num_keys, void *values, int64_t num_values,
                int64_t *timestamp) {
    return run(worker, PS_PULL, keys, num_keys, values, num_values, timestamp);
}

int32_t ps_push(ps_worker *worker, const int64_t *keys, int64_t num_keys, const void *values, int64_t num_values,
                int64_t *timestamp) {
    return run(worker, PS_PUSH, keys, num_keys, const_cast<void *>(values), num_values, timestamp);
}

int32_t ps_set(ps_worker *worker, const int64_t *keys, int64_t num_keys, const void *values, int64_t num_values,
               int64_t *timestamp) {
    return run(worker, PS_SET, keys, num_keys, const_cast<void *>(values), num_values, timestamp);
}

int32_t ps_pull_if_local(ps_worker *worker, const int64_t *keys, int64_t num_keys, void *values, int64_t num_values,
                         int32_t *local) {
    return with_worker(worker, [&](ps_worker &w) {
        ps_request request{PS_PULL, 0, keys, num_keys, values, num_values, 0, -1, 0};
        require(local, "local") = w.pull_if_local(request);
    });
}

void ps_shift_keys(int64_t *__restrict to, const int64_t *__restrict from, int64_t num_keys, int64_t first) {
    // Unsigned, as a difference of signed numbers may overflow.
    for (int64_t i = 0; i < num_keys; i++) to[i] = int64_t(uint64_t(from[i]) - uint64_t(first));
}

int32_t ps_localize(ps_worker *worker, const int64_t *keys, int64_t num_keys, int64_t *timestamp) {
    return with_worker(worker, [&](ps_worker &w) {
        int64_t number = w.localize(keys, num_keys);
        if (timestamp) *timestamp = number;
    });
}

int32_t ps_intent(ps_worker *worker, const int64_t *keys, int64_t num_keys, int64_t start, int64_t end) {
    return with_worker(worker, [&](ps_worker &w) { w.intent(keys, num_keys, start, end); });
}

int32_t ps_prepare_sample(ps_worker *worker, int64_t n, int64_t start, int64_t end, int64_t *id) {
    return with_worker(worker, [&](ps_worker &w) { require(id, "id") = w.prepare_sample(n, start, end); });
}

int32_t ps_pull_sample(ps_worker *worker, int64_t id, int64_t *keys, int64_t num_keys, void *values, int64_t num_values,
                       int32_t flags, int64_t *timestamp) {
    ps_request request{PS_PULL, flags, nullptr, num_keys, values, num_values, 0, -1, 0};
    int32_t code = guarded([&] { return require(worker, "worker").pull_sample(id, keys, &request); });
    if (timestamp) *timestamp = request.timestamp;
    return code;
}

int32_t ps_finish_sample(ps_worker *worker, int64_t id) {
    return with_worker(worker, [&](ps_worker &w) { w.finish_sample(id); });
}

int32_t ps_advance_clock(ps_worker *worker, int64_t *clock) {
    return with_worker(worker, [&](ps_worker &w) {
        int64_t now = w.advance_clock();
        if (clock) *clock = now;
    });
}

int32_t ps_current_clock(ps_worker *worker, int64_t *clock) {
    return with_worker(worker, [&](ps_worker &w) { require(clock, "clock") = w.current_clock(); });
}

int32_t ps_wait(ps_worker *worker, int64_t timestamp, double timeout) {
    return with_worker(worker, [&](ps_worker &w) { w.wait(timestamp, seconds(timeout, default_wait_timeout)); });
}

int32_t ps_is_finished(ps_worker *worker, int64_t timestamp, int32_t *finished) {
    return with_worker(worker, [&](ps_worker &w) { require(finished, "finished") = w.is_finished(timestamp); });
}

int32_t ps_last_timestamp(ps_worker *worker, int64_t *timestamp) {
    return with_worker(worker, [&](ps_worker &w) { require(timestamp, "timestamp") = w.last_timestamp(); });
}

int32_t ps_abandon(ps_worker *worker, int64_t timestamp) {
    return with_worker(worker, [&](ps_worker &w) { w.abandon(timestamp); });
}

int32_t ps_wait_all(ps_worker *worker, double timeout) {
    return with_worker(worker, [&](ps_worker &w) { w.wait_all(seconds(timeout, default_wait_timeout)); });
}

int32_t ps_pending(ps_worker *worker, int64_t *operations) {
    return with_worker(worker, [&](ps_worker &w) { require(operations, "operations") = w.pending(); });
}

int32_t ps_wait_sync(ps_worker *worker, double timeout) {
    return wait_for(worker, "worker", timeout,
                    [](ps_worker &w, double limit) { return w.settle(Until::exchanged, limit); });
}

int32_t ps_follow_sync(ps_worker *worker, int64_t behind, double timeout) {
    return wait_for(worker, "worker", timeout, [behind](ps_worker &w, double limit) {
        if (behind < 1)
            fail(PS_EINVAL, Where{-1, behind, 1}, "behind is %lld; it must be at least 1", (long long)behind);
        return w.settle(Until::told, limit, uint64_t(behind));
    });
}

int32_t ps_quiesce(ps_worker *worker, double timeout) {
    return wait_for(worker, "worker", timeout,
                    [](ps_worker &w, double limit) { return w.settle(Until::quiet, limit); });
}

int32_t ps_begin_setup(ps_worker *worker) {
    return with_worker(worker, [](ps_worker &w) { w.begin_setup(); });
}

int32_t ps_end_setup(ps_worker *worker, double timeout) {
    return wait_for(worker, "worker", timeout, [](ps_worker &w, double limit) { return w.end_setup(limit); });
}

int32_t ps_barrier(ps_worker *worker, double timeout) {
    return wait_for(worker, "worker", timeout, [](ps_worker &w, double limit) { return w.barrier(limit); });
}

} // extern "C"
