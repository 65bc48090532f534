#include "worker/worker.h"

#include <algorithm>
#include <iterator>

#include "counting.h"
#include "errors.h"
#include "store/batch.h"
#include "store/room.h"
#include "worker/workers.h"

using namespace ps;

ps_worker::ps_worker(std::shared_ptr<Attachment> attachment, Role role)
    : attachment_(std::move(attachment)), generation_(fork_generation()), patience_(attachment_->patience),
      me_(join(*attachment_->segment, &number_, role)), slot_(attachment_->segment->slot(slot_of(me_))),
      latches_(*attachment_->segment, me_), before_(slot_.counters.begin(), slot_.counters.end()) {
    if (role == Role::aside) complete_barrier(*attachment_->segment); // one that has seen the slot without its role
}

// A forked child has a copy of the parent's worker, made while its threads were at work, and ZeroMQ's sockets without
// ZeroMQ's threads. So these parts are leaked.
ps_worker::~ps_worker() {
    if (generation_ == fork_generation()) {
        finalize();
    } else {
        (void)sampler_.release();
        (void)remote_.release();
    }
}

void ps_worker::finalize() noexcept {
    if (generation_ != fork_generation()) return; // the parent's worker goes on
    finalizing_ = true; // so that another thread's wait ends
    std::lock_guard<std::mutex> lock(mutex_);
    if (finalized_.load()) return;
    Segment &segment = *attachment_->segment;
    finalized_ = true;
    leave(segment, me_);
    complete_barrier(segment);
    segment.wake_barriers();
    sampler_.reset();
    remote_.reset();
    attachment_.reset();
}

void ps_worker::require_mine() const {
    if (generation_ != fork_generation())
        fail(PS_EFORKED, Where{},
             "the worker belongs to the parent process: make a new one from the node after a fork");
}

Segment &ps_worker::require_open() const {
    if (!attachment_) fail(PS_ECLOSED, Where{}, "the worker is finalized");
    attachment_->require_open();
    return *attachment_->segment;
}

// If another thread held the mutex during a fork, it stays locked in the child: so look first whose worker it is.
std::unique_lock<std::mutex> ps_worker::lock() {
    require_mine();
    return std::unique_lock<std::mutex>(mutex_);
}

std::unique_lock<std::mutex> ps_worker::lock_for(const ps_request &request) {
    require_mine();
    if (request.flags & PS_NOWAIT) return std::unique_lock<std::mutex>(mutex_, std::try_to_lock);
    return std::unique_lock<std::mutex>(mutex_);
}

void ps_worker::require_usable() {
    auto held = lock();
    require_open();
}

int32_t ps_worker::run(ps_request &request, double timeout) {
    request.timestamp = -1;
    auto held = lock_for(request);
    if (!held) return PS_EBUSY;
    require_open();
    Deadline deadline(timeout);
    int32_t code;
    try {
        code = begin(request, deadline);
    } catch (const Failure &failure) {
        if (failure.error().code != PS_ETIMEDOUT || request.done == 0) throw;
        fail(PS_ETIMEDOUT, Where{-1, request.done, request.num_keys},
             "%s; its first %lld keys, which live here, were done", failure.what(),
             static_cast<long long>(request.done));
    }
    return code == PS_OK ? wait_for_answers(request, deadline) : code;
}

// Do what can be done on this node, and send the rest. If this has to wait before it sends, it has done nothing yet.
int32_t ps_worker::begin(ps_request &request, Deadline &deadline) {
    Segment &segment = *attachment_->segment;
    const bool timed = is_timed(request.operation);
    const double began = timed ? monotonic_seconds() : 0;
    check_request(segment, request);
    request.timestamp = -1;
    const bool brings_gradients = request.operation == PS_PUSH && Gradients::are_pushed_to(segment);
    int32_t code = brings_gradients ? submit_gradients(request, deadline) : submit(request, deadline);
    last_.store(request.timestamp, std::memory_order_relaxed);
    if (timed && code == PS_OK && request.timestamp < 0) took(request.operation, began);
    return code;
}

int32_t ps_worker::submit(ps_request &request, Deadline &deadline) {
    return attachment_->segment->header().has_server() ? begin_everywhere(request, deadline) : run_here(request);
}

// A request that goes on collects the same gradients again, and so finds its place in them.
int32_t ps_worker::submit_gradients(ps_request &request, Deadline &deadline) {
    ps_request once = gradients_.collect(*attachment_->segment, request);
    int32_t code;
    try {
        code = submit(once, deadline);
    } catch (const Failure &) {
        request.done = once.done;
        throw;
    }
    request.timestamp = once.timestamp;
    request.done = code == PS_OK ? request.num_keys : once.done;
    return code;
}

// Wait for the answers, unless asynchronous. After PS_EBUSY the request is still on its way; after any other failure
// the buffer is the caller's again.
int32_t ps_worker::wait_for_answers(ps_request &request, Deadline &deadline) {
    if (request.timestamp < 0 || request.flags & PS_ASYNC) return PS_OK;
    try {
        remote_->wait(request.timestamp, deadline.left());
    } catch (const std::exception &error) {
        const auto *failure = dynamic_cast<const Failure *>(&error);
        if (!failure || failure->error().code != PS_EBUSY) remote_->abandon(std::exchange(request.timestamp, -1));
        throw;
    }
    request.timestamp = -1;
    return PS_OK;
}

// Returns PS_ENOTLOCAL at a key that does not live here.
int32_t ps_worker::run_here(ps_request &request) {
    int32_t code = run_local(*attachment_->segment, latches_, request);
    if (code == PS_OK) count(request, 0);
    return code;
}

// Wait for operations on their way that must end before the request begins. False: there are some, and PS_NOWAIT is
// set. `follows`: becomes true instead of a wait if the request may be sent behind them.
bool ps_worker::wait_for_order(const ps_request &request, Deadline &deadline, bool *follows) {
    bool may_wait = !(request.flags & PS_NOWAIT);
    if (has_remote_work() && remote_->conflicts(request)) {
        if (!may_wait) return false;
        if (follows && remote_->may_follow(request))
            *follows = true;
        else
            remote_->wait_for_keys(request, deadline.left());
    }
    if (has_remote_work() && !is_buffer_free(request)) {
        if (!may_wait) return false;
        remote_->wait_for_buffer(request, deadline);
    }
    return true;
}

// Whether all keys of the request with conflicts are at these positions.
bool ps_worker::are_left(const ps_request &request, const std::vector<int64_t> &positions) const {
    for (int64_t i = 0; (i = remote_->next_conflict(request, i)) < request.num_keys; i++)
        if (!std::binary_search(positions.begin(), positions.end(), i)) return false;
    return true;
}

// While a worker has asked no other node, and on the only node, its keys are usually here, so a pull is tried at once.
// If one is not here, the values that were read are overwritten later. Pushes and sets look first where their keys are.
int32_t ps_worker::pull_from_here(ps_request &request) {
    const int64_t done = request.done;
    int32_t code = run_here(request);
    if (code == PS_ENOTLOCAL) request.done = done;
    return code;
}

uint64_t ps_worker::bytes_of(const ps_request &request) const {
    return uint64_t(request.num_keys) * sizeof(Key) +
           uint64_t(request.num_values) * attachment_->segment->header().element_bytes;
}

// Where keys have replicas, only the server writes: it changes a value when the replicas have the change.
bool ps_worker::is_for_server(const ps_request &request) const {
    return attachment_->segment->header().replicas > 0 && request.operation != PS_PULL && request.num_keys > 0;
}

// Wait until the request can be sent: until the server knows this worker, and there is room.
void ps_worker::get_ready(const ps_request &request, Deadline &deadline) {
    const Segment &segment = *attachment_->segment;
    const uint64_t bytes = bytes_of(request);
    if (remote_ && remote_->is_introduced() && remote_->has_room(bytes)) return;
    if (all_local(segment, request.keys, request.num_keys)) return;
    remote(patience_, deadline.left()).make_room(bytes, deadline.left());
}

// Begin a request where there is a server to ask. With PS_NOWAIT nothing is sent: if a key is not here, nothing is
// done.
int32_t ps_worker::begin_everywhere(ps_request &request, Deadline &deadline) {
    Segment &segment = *attachment_->segment;
    bool may_wait = !(request.flags & PS_NOWAIT);
    bool follows = false;
    if (!wait_for_order(request, deadline, &follows)) return PS_EBUSY;
    if (!may_wait) {
        if (is_for_server(request) || !all_local(segment, request.keys, request.num_keys)) return PS_EBUSY;
        int32_t code = run_here(request);
        return code == PS_ENOTLOCAL ? int32_t(PS_EBUSY) : code;
    }
    if (!follows && request.operation == PS_PULL && (!remote_ || segment.header().places == 1)) {
        int32_t code = pull_from_here(request);
        if (code != PS_ENOTLOCAL) return code;
    }
    if (is_for_server(request)) {
        remote(patience_, deadline.left()).make_room(bytes_of(request), deadline.left());
        count(request, size_t(request.num_keys));
        request.timestamp = remote().start(request);
        return PS_OK;
    }
    get_ready(request, deadline);
    // Else its first keys were done here before, though they may have moved away since.
    bool is_fresh = request.done == 0;
    if (is_fresh && request.num_keys > 0 && none_local(segment, request.keys, request.num_keys)) {
        count(request, size_t(request.num_keys));
        request.timestamp = remote().start(request);
        return PS_OK;
    }
    Elsewhere elsewhere;
    const int64_t done = request.done;
    int32_t code = run_local(segment, latches_, request, &elsewhere);
    if (code != PS_OK) return code;
    if (follows && !are_left(request, elsewhere.positions)) { // a key has come here, perhaps before what was pushed
        remote_->wait_for_keys(request, deadline.left());
        request.done = done;
        return begin_everywhere(request, deadline);
    }
    count(request, elsewhere.positions.size());
    if (!elsewhere.positions.empty()) request.timestamp = remote().start(request, elsewhere.positions);
    return PS_OK;
}

// Whether no pull on its way writes to the request's buffer. A second pull into such a buffer is refused.
bool ps_worker::is_buffer_free(const ps_request &request) {
    for (int64_t pull; (pull = remote_->filling(request)) >= 0;) {
        if (remote_->is_finished(pull)) continue;
        if (request.operation != PS_PULL) return false;
        fail(PS_EINVAL, Where{-1, pull, 0},
             "the buffer is being filled by an earlier pull: wait for its timestamp, %lld",
             static_cast<long long>(pull));
    }
    return true;
}

// Give it patience only if nothing of the request has been done yet.
Remote &ps_worker::remote(double patience, double timeout) {
    if (!remote_)
        remote_ = std::make_unique<Remote>(*attachment_->segment, attachment_->inside(), number_, slot_of(me_),
                                           patience_, [this] {
                                               if (finalizing_)
                                                   fail(PS_ECLOSED, Where{}, "the worker was finalized meanwhile");
                                               require_open();
                                           });
    remote_->be_introduced(timeout, patience);
    return *remote_;
}

bool ps_worker::pull_if_local(ps_request &request) {
    auto held = lock();
    Segment &segment = require_open();
    const bool timed = is_timed(PS_PULL);
    const double began = timed ? monotonic_seconds() : 0;
    check_request(segment, request);
    if (!all_local(segment, request.keys, request.num_keys)) return false;
    if (has_remote_work() && (remote_->conflicts(request) || !is_buffer_free(request))) return false;
    if (run_local(segment, latches_, request) != PS_OK) return false;
    count(request, 0);
    if (timed) took(PS_PULL, began);
    return true;
}

void ps_worker::count(const ps_request &request, size_t elsewhere) {
    Counters &counters = slot_.counters;
    add_to(counters.calls[request.operation], 1);
    add_to(counters.keys[request.operation], request.num_keys);
    add_to(counters.local[request.operation], request.num_keys - int64_t(elsewhere));
}

// Whether the next call of a kind is timed. The kind may be any number.
bool ps_worker::is_timed(int32_t operation) const {
    if (uint32_t(operation) > PS_LOCALIZE) return false;
    return uint64_t(slot_.counters.calls[operation].load(std::memory_order_relaxed)) % timed_every == timed_every - 1;
}

void ps_worker::took(int32_t operation, double began) {
    attachment_->segment->header().latencies[operation][0].add(monotonic_seconds() - began);
}

int64_t ps_worker::localize(const int64_t *keys, int64_t num_keys) {
    auto held = lock();
    Segment &segment = require_open();
    const bool timed = is_timed(PS_LOCALIZE);
    const double began = timed ? monotonic_seconds() : 0;
    check_keys(segment, keys, num_keys);
    last_.store(-1, std::memory_order_relaxed);
    std::vector<int64_t> away;
    if (segment.header().places > 1)
        std::copy_if(keys, keys + num_keys, std::back_inserter(away),
                     [&](int64_t key) { return segment.place(uint64_t(key)).residence() != Residence::owned; });
    if (away.empty()) {
        add_to(slot_.counters.calls[PS_LOCALIZE], 1);
        if (timed) took(PS_LOCALIZE, began);
        return -1;
    }
    auto count = int64_t(away.size());
    int64_t values = total_length(segment, away.data(), count) * int64_t(segment.header().element_bytes);
    Deadline deadline(default_wait_timeout);
    remote(patience_, deadline.left()).make_room(away.size() * sizeof(Key) + uint64_t(values), deadline.left());
    int64_t timestamp = remote().localize(away.data(), count);
    add_to(slot_.counters.calls[PS_LOCALIZE], 1);
    last_.store(timestamp, std::memory_order_relaxed);
    return timestamp;
}

// An operation that needed no other node has the timestamp -1.
void ps_worker::require_issued(int64_t timestamp) const {
    if (remote_)
        remote_->require_issued(timestamp);
    else if (timestamp != -1)
        fail(PS_EINVAL, Where{-1, timestamp, -1}, "timestamp %lld was not returned by an operation of this worker",
             static_cast<long long>(timestamp));
}

void ps_worker::wait(int64_t timestamp, double timeout) {
    auto held = lock();
    require_open();
    require_issued(timestamp);
    if (remote_) remote_->wait(timestamp, timeout);
}

void ps_worker::wait_all(double timeout) {
    auto held = lock();
    require_open();
    if (remote_) remote_->wait_all(timeout);
}

void ps_worker::abandon(int64_t timestamp) {
    auto held = lock();
    if (remote_) remote_->abandon(timestamp);
}

int32_t ps_worker::settle(Until until, double timeout, uint64_t behind) {
    auto held = lock();
    const Header &header = require_open().header();
    if (!header.has_server()) return PS_OK;
    // A replica is counted until its owner has everything that was pushed to it.
    if (until == Until::told && header.replicas_held.load(std::memory_order_acquire) == 0) return PS_OK;
    double end = monotonic_seconds() + timeout;
    Remote &remote = this->remote(patience_, timeout);
    remote.settle(until, std::max(end - monotonic_seconds(), 0.0), behind);
    return PS_OK;
}

bool ps_worker::is_finished(int64_t timestamp) {
    auto held = lock();
    require_open();
    require_issued(timestamp);
    return !remote_ || remote_->is_finished(timestamp);
}

int64_t ps_worker::pending() {
    auto held = lock();
    return remote_ ? int64_t(remote_->pending()) : 0;
}
