#include "node.h"

#include <arpa/inet.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "errors.h"
#include "sampling/enabling.h"
#include "worker/barrier.h"
#include "worker/loss.h"
#include "worker/workers.h"

namespace ps {

namespace {
constexpr double watch_every = 0.1; // seconds
}

void ServerWatch::check(const Segment &segment) {
    double now = coarse_seconds(), last = last_.load(std::memory_order_relaxed);
    if (now - last < watch_every) return;
    const Process &server = segment.header().server;
    // The time is not noted, so that the next call fails as well.
    if (server.pid != uint32_t(getpid()) && !server.is_alive())
        fail(PS_ELOST, Where{-1, segment.header().node, server.pid}, "the server, process %u, died", server.pid);
    last_.store(now, std::memory_order_relaxed);
}

// A forked child has a copy of the server's memory, but neither its threads nor its sockets.
std::shared_ptr<Inside> Attachment::inside() const {
    bool is_here = segment->header().connected.load(std::memory_order_acquire) &&
                   segment->generation() == fork_generation();
    return is_here ? server_inside.lock() : nullptr;
}

void Attachment::require_open() {
    ps::require_open(*segment);
    watch.check(*segment);
}

} // namespace ps

using namespace ps;

ps_node *ps_node::create(const ps_node_options &options, const PushRule &push, const Initializer &initializer,
                         Part part, const std::vector<NodeId> &first) {
    std::unique_ptr<ps_node> node(
        new ps_node(std::make_shared<Attachment>(Segment::create(options, push, initializer, first))));
    Segment &segment = *node->attachment_->segment;
    node->attachment_->is_table = part == Part::table;
    if (part == Part::node) node->tables_ = make_tables(node->attachment_->segment);
    node->slabs_ = std::make_unique<Slabs>(segment);
    if (!segment.header().is_range()) { // rows of keys are made when the keys are used first
        if (segment.header().places == 1) node->serve_alone();
        return node.release();
    }
    // At first a node holds the keys whose home it is, the only node all keys. Check that there is room for all of them
    // first, rather than fill the host's memory and then fail.
    uint64_t bytes = 0;
    for (uint32_t number = 0; number < segment.header().num_classes; number++)
        bytes += segment.length_class(number).keys * segment.length_class(number).slot_bytes;
    if (!segment.joins()) segment.mapping().require_room(bytes / segment.first_homes().members().size());
    hold_first_keys(segment, *node->slabs_);
    return node.release();
}

// Where keys may be any numbers, a server makes their rows. The only node has one as well, which listens on a port of
// the loopback that only its own processes get to know.
void ps_node::serve_alone() {
    Segment &segment = *attachment_->segment;
    uint64_t &cluster = segment.header().cluster;
    if (getrandom(&cluster, sizeof cluster, 0) != sizeof cluster) fail_with_errno("getrandom");
    server_ = std::make_unique<Server>(attachment_->segment, *slabs_, "tcp://127.0.0.1:*", trace_.get(), tables_.get());
    attachment_->server_inside = server_->inside();
    server_->connect({server_->endpoint()});
}

// CURVE keys and traces are set before a node works. But the only node's server works from the start: as long as there
// was no worker, it is ended here and made again with the new settings.
bool ps_node::begin_anew(const char *what) {
    if (!attachment_) fail(PS_ECLOSED, Where{}, "the node was shut down");
    const Header &header = attachment_->segment->header();
    const bool is_alone = header.places == 1 && !header.joined.load(std::memory_order_acquire);
    if (!is_creator() || (server_ && !is_alone))
        fail(PS_EINVAL, Where{}, "%s before a node is bound or has a worker, in the process that created it", what);
    const bool served = server_ != nullptr;
    server_.reset();
    return served;
}

ps_node *ps_node::attach(const std::string &address, double timeout) {
    std::unique_ptr<ps_node> node(new ps_node(std::make_shared<Attachment>(ps::attach(address, timeout))));
    node->attachment_->address = address;
    node->attachment_->require_open();
    return node.release();
}

bool ps_node::is_creator() const { return slabs_ && attachment_->segment->generation() == fork_generation(); }

std::shared_ptr<Attachment> ps_node::attachment() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!attachment_) fail(PS_ECLOSED, Where{}, "the node was shut down");
    return attachment_;
}

bool ps_node::is_open() {
    std::lock_guard<std::mutex> lock(mutex_);
    return attachment_ && attachment_->segment->is_open();
}

std::string ps_node::listen() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!attachment_) fail(PS_ECLOSED, Where{}, "the node was shut down");
    if (!is_creator()) fail(PS_EINVAL, Where{}, "only the process that created the server can let others attach");
    if (!listener_)
        listener_ = std::make_unique<Listener>(attachment_->segment,
                                               [this](const Question &asked) { return answer(asked); });
    return listener_->address();
}

void ps_node::secure(const CurveKeys &keys) {
    std::lock_guard<std::mutex> lock(mutex_);
    check_curve(keys);
    const bool served = begin_anew("keys are given");
    Header &header = attachment_->segment->header();
    std::snprintf(header.curve_public, sizeof header.curve_public, "%s", keys.public_key.c_str());
    std::snprintf(header.curve_secret, sizeof header.curve_secret, "%s", keys.secret_key.c_str());
    if (served) serve_alone();
}

void ps_node::trace(const std::vector<Key> &keys) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (trace_) fail(PS_EINVAL, Where{}, "a trace begins once");
    const bool served = begin_anew("a trace begins");
    trace_ = std::make_unique<Trace>(keys);
    auto note = [&](Key key) {
        if (attachment_->segment->place(key).is_here()) trace_->note(key, PS_TRACE_HERE);
    };
    std::for_each(keys.begin(), keys.end(), note);
    const Header &header = attachment_->segment->header();
    if (keys.empty()) attachment_->segment->first_homes().for_each_at(NodeId(header.node), note);
    if (served) serve_alone();
}

int64_t ps_node::take_trace(ps_trace_event *events, int64_t capacity, int64_t *forgotten) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!trace_) fail(PS_EINVAL, Where{}, "this node has no trace: pass trace_keys when it is made");
    if (trace_->is_inherited()) fail(PS_EINVAL, Where{}, "a node's trace is kept by the process that created it");
    return trace_->take(events, capacity, forgotten);
}

// Refuse "tcp://*:1" and addresses that mean the same.
static void require_one_interface(const std::string &endpoint) {
    size_t begin = endpoint.find("://"), end = endpoint.rfind(':');
    if (begin == std::string::npos || end < begin + 3) return; // bind refuses it, as it is no endpoint
    std::string host = endpoint.substr(begin + 3, end - begin - 3);
    in6_addr six; // only the last four bytes of ::ffff:0.0.0.0 count
    bool mapped = !host.empty() && host.front() == '[' &&
                  inet_pton(AF_INET6, host.substr(1, host.size() - 2).c_str(), &six) == 1 &&
                  IN6_IS_ADDR_V4MAPPED(&six) && std::count(six.s6_addr + 12, six.s6_addr + 16, 0) == 4;
    if (host == "*" || host.empty() || mapped || host.find_first_not_of("0.x[]:") == std::string::npos)
        fail(PS_EINVAL, Where{}, "%s means all interfaces: name one, or an address of this host", endpoint.c_str());
}

std::string ps_node::bind(const std::string &endpoint) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!attachment_) fail(PS_ECLOSED, Where{}, "the node was shut down");
    if (!is_creator() || attachment_->segment->header().places == 1)
        fail(PS_EINVAL, Where{}, "only a node of several, in the process that created it, is bound to an endpoint");
    if (server_) fail(PS_EINVAL, Where{}, "the node is bound to %s already", server_->endpoint().c_str());
    require_one_interface(endpoint);
    server_ = std::make_unique<Server>(attachment_->segment, *slabs_, endpoint, trace_.get(), tables_.get());
    attachment_->server_inside = server_->inside();
    return server_->endpoint();
}

void ps_node::connect(const std::vector<std::string> &endpoints) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!server_) fail(PS_EINVAL, Where{}, "the node is not bound to an endpoint");
    server_->connect(endpoints);
}

void ps_node::enable_sampling(const ps_sampling_options &options) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!attachment_) fail(PS_ECLOSED, Where{}, "the node was shut down");
    const Segment &segment = *attachment_->segment;
    if (segment.header().server.pid != Process::self().pid || segment.generation() != fork_generation())
        fail(PS_EINVAL, Where{}, "only the process that created the node can enable sampling");
    ps::enable_sampling(*attachment_->segment, options);
}

// Wait at a barrier of the nodes. Returns PS_OK, PS_EINTR, PS_EBUSY, or PS_ETIMEDOUT if the time is over and this node
// has taken back that it arrived.
int32_t ps_node::wait(Barrier &barrier, Segment &segment, Rounds &rounds, ArrivalWord &arrival, double timeout,
                      double patience, const std::function<void()> &check) {
    barrier.arrive(segment, rounds, arrival);
    int32_t code;
    try {
        code = barrier.wait(segment, rounds, timeout, patience, check);
    } catch (...) {
        barrier.withdraw(segment, rounds, arrival);
        throw;
    }
    return code == PS_ETIMEDOUT && !barrier.withdraw(segment, rounds, arrival) ? int32_t(PS_OK) : code;
}

int32_t ps_node::barrier(double timeout) {
    std::shared_ptr<Attachment> attachment = this->attachment();
    attachment->require_open();
    Segment &segment = *attachment->segment;
    Header &header = segment.header();
    if (header.places == 1) return PS_OK;
    if (header.server.pid != Process::self().pid)
        fail(PS_EINVAL, Where{}, "only the process that created a node comes to the nodes' barrier with it");
    std::unique_lock<std::mutex> alone(barrier_mutex_, std::try_to_lock);
    if (!alone) fail(PS_EINVAL, Where{}, "another thread is in a barrier with this node");
    int32_t code = wait(barrier_, segment, header.node_rounds, header.node_arrival, timeout, attachment->patience,
                        [&] { attachment->require_open(); });
    if (code == PS_ETIMEDOUT)
        fail(code, Where{-1, header.places, 0}, "not all %u nodes came to the barrier in time", header.places);
    return code;
}

void ps_node::end_workers(const std::string &why) {
    std::shared_ptr<Tables> tables;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (!attachment_ || !is_creator()) return;
        close_node(*attachment_->segment, why);
        tables = tables_;
    }
    if (tables) tables->end_workers();
}

void ps_node::end_together() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!attachment_ || !is_creator()) return;
    if (server_) server_->leave();
    attachment_->segment->header().leave_rounds = 1;
}

// Ends this node's workers. Its server goes on for the other nodes.
int32_t ps_node::leave(double timeout) {
    std::unique_lock<std::mutex> alone(leave_mutex_, std::try_to_lock);
    if (!alone) fail(PS_EINVAL, Where{}, "another thread shuts this node down");
    std::shared_ptr<Attachment> attachment;
    bool is_alone_here = false;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        if (!attachment_ || !is_creator()) return PS_OK;
        attachment = attachment_;
        if (server_) {
            server_->leave();
            is_alone_here = server_->is_alone_here();
        }
    }
    Segment &segment = *attachment->segment;
    Header &header = segment.header();
    end_workers();
    bool works = !header.ended.load(std::memory_order_acquire) && header.connected.load(std::memory_order_acquire);
    if (!works || !is_alone_here) return PS_OK;
    int32_t code;
    try {
        code = wait(leave_, segment, header.leave_rounds, header.leave_arrival, timeout, attachment->patience, [&] {
            if (header.ended.load(std::memory_order_acquire)) fail(PS_ELOST, Where{}, "a node was lost");
        });
    } catch (const Failure &) {
        return PS_OK; // a node was lost, so there is nobody left to serve
    }
    if (code == PS_ETIMEDOUT)
        fail(code, Where{-1, header.places, 0}, "not all of the %u nodes came to their end in time", header.places);
    return code;
}

void ps_node::shutdown() noexcept {
    std::unique_lock<std::mutex> lock(mutex_);
    if (!attachment_) return;
    // A question or a call that waits for a table ends with the tables; it may need this mutex meanwhile.
    const std::shared_ptr<Tables> tables = is_creator() ? tables_ : nullptr;
    std::unique_ptr<Listener> listener = std::move(listener_);
    lock.unlock();
    if (tables) tables->stop();
    listener.reset();
    lock.lock();
    if (!attachment_) return;
    if (!is_creator()) { // leaked: the threads and sockets of these do not exist in a forked child
        server_.release();
        if (tables_) new std::shared_ptr<Tables>(std::move(tables_));
    } else {
        server_.reset();
        tables_.reset();
        attachment_->segment->header().state.store(State::closed, std::memory_order_release);
        attachment_->segment->wake_barriers();
    }
    slabs_.reset();
    attachment_.reset();
}
