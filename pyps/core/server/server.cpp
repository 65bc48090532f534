#include "server/server.h"

#include <signal.h>

#include <algorithm>
#include <cstring>
#include <exception>
#include <utility>

#include "counting.h"
#include "errors.h"
#include "net/bounds.h"
#include "net/limits.h"
#include "net/refusals.h"
#include "server/served.h"
#include "worker/loss.h"
#include "worker/workers.h"

namespace ps {

namespace {

constexpr int most_at_once = 64;       // messages between two rounds
constexpr double busy_round = 0.001;   // seconds between rounds while there is something to do
constexpr double watchful_round = 0.1; // while there are intents: of workers that may die
constexpr double idle_round = 1.0;     // otherwise
constexpr double answer_to_farewell = 1.0; // seconds that a node which ends waits until the others have heard of it

} // namespace

Server::Server(std::shared_ptr<Segment> segment, Slabs &slabs, const std::string &endpoint, Trace *trace)
    : segment_(std::move(segment)), context_((require_room_for_nodes(segment_->header().num_nodes), keys_of(*segment_)),
                                             longest_message(segment_->header())),
      routers_(context_, segment_->header().max_workers),
      peers_(context_, NodeId(segment_->header().num_nodes),
             name_of_node(NodeId(segment_->header().node), segment_->header().cluster),
             heartbeats_within(2 * segment_->header().lost_after)),
      trace_(trace), values_(*segment_, slabs, trace),
      mailbox_(*segment_, routers_, peers_,
               [this](uint64_t waiter, NodeId lost_with) { serving_.landed(waiter, lost_with); }),
      protocol_(NodeId(segment_->header().node), NodeId(segment_->header().num_nodes),
                uint64_t(segment_->header().num_keys), Techniques(segment_->header().techniques), values_, mailbox_),
      serving_(*segment_, values_, mailbox_, protocol_, trace),
      epoch_change_(*segment_, peers_, mailbox_, protocol_, serving_), intents_(clocks(), changes()),
      gates_(*segment_, [this](NodeId to, Bytes message) { peers_.send(to, std::move(message)); }),
      settling_(*segment_, protocol_, routers_), farewells_(*segment_, peers_, routers_, gates_),
      inbox_(Receivers{*segment_, peers_, routers_, mailbox_, protocol_, serving_, epoch_change_, gates_, settling_,
                       farewells_, intents_, vigil_}) {
    epoch_change_.when_more_fits([this] { inbox_.take_held_back(); });
    std::string library = zmq_path(); // at most PATH_MAX bytes with its end
    std::memcpy(segment_->header().zmq_path, library.c_str(), library.size() + 1);
    if (!context_.keys().public_key.empty())
        admission_ = std::make_unique<Admission>(context_, routers_.outside(), *segment_);
    endpoint_ = routers_.bind(endpoint);
    if (endpoint_.size() >= endpoint_bytes)
        fail(PS_EADDRESS, Where{-1, int64_t(endpoint_.size()), int64_t(endpoint_bytes - 1)},
             "the endpoint %s is longer than %zu bytes", endpoint_.c_str(), endpoint_bytes - 1);
    serve_here(segment_->header().cluster);
}

// A dead worker's is the end of all clocks, of one that sets up values no clock has come.
Intents::Clock Server::clocks() {
    return [this](uint32_t worker) {
        WorkerSlot &slot = segment_->slot(worker);
        if (!identity_of(slot).is_alive()) return INT64_MAX;
        if (slot.in_setup.load(std::memory_order_acquire)) return INT64_MIN;
        return int64_t(slot.clock.load(std::memory_order_acquire));
    };
}

Intents::Change Server::changes() {
    return [this](const std::vector<Key> &keys, bool begins) {
        if (trace_) trace_->note(keys, begins ? PS_TRACE_INTENT_BEGINS : PS_TRACE_INTENT_ENDS);
        begins ? serving_.want(keys) : protocol_.stop_wanting(keys);
    };
}

Server::~Server() {
    leave();
    if (!thread_.joinable()) return;
    stop_ = true;
    segment_->doorbell().ring();
    thread_.join();
    say_goodbye();
}

void Server::leave() {
    if (!std::exchange(is_leaving_, true)) serve_no_more(segment_->header().cluster);
}

bool Server::is_alone_here() const { return !is_served_here(segment_->header().cluster); }

void Server::say_goodbye() {
    farewells_.say();
    double end = monotonic_seconds() + answer_to_farewell;
    while (!farewells_.is_heard() && monotonic_seconds() < end) {
        routers_.wait(segment_->doorbell().fd(), busy_round);
        segment_->doorbell().answer();
        while (inbox_.receive()) {
        }
        farewells_.look_for_losses();
    }
}

void Server::connect(const std::vector<std::string> &endpoints) {
    const Header &header = segment_->header();
    if (thread_.joinable()) fail(PS_EINVAL, Where{}, "the node is connected already");
    if (endpoints.size() != header.num_nodes)
        fail(PS_EINVAL, Where{-1, int64_t(endpoints.size()), header.num_nodes}, "%zu endpoints were given for %u nodes",
             endpoints.size(), header.num_nodes);
    for (uint32_t node = 0; node < header.num_nodes; node++) {
        if (endpoints[node].size() >= endpoint_bytes)
            fail(PS_EADDRESS, Where{int64_t(node), int64_t(endpoints[node].size()), int64_t(endpoint_bytes - 1)},
                 "the endpoint of node %u is longer than %zu bytes", node, endpoint_bytes - 1);
        std::strcpy(segment_->endpoint(node), endpoints[node].c_str());
        if (node == header.node) continue;
        peers_.connect(node, endpoints[node]);
        FrameHeader hello = header_from(*segment_);
        hello.kind = Kind::hello;
        peers_.send(node, FrameWriter(hello).take());
    }
    sigset_t all, before; // signals are for the program's own threads
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    vigil_ = std::make_unique<Vigil>(*segment_, context_, endpoints, peers_.events());
    thread_ = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    segment_->header().connected.store(1, std::memory_order_release);
}

double Server::patience() const {
    if (is_awake_ || has_work()) return busy_round;
    return intents_.empty() ? idle_round : watchful_round;
}

bool Server::has_work() const {
    return !protocol_.is_idle() || !protocol_.parked().empty() || segment_->changes().any() ||
           settling_.is_anybody_waiting();
}

// Sleep until a message comes or the doorbell rings, at most so long. A worker that changes a key or advances a clock
// from now on rings; what changed before is seen here. False: nothing has happened.
bool Server::rest(double seconds) {
    std::atomic<Sleep> &sleeps = segment_->header().server_sleeps;
    sleeps.store(intents_.empty() ? Sleep::until_changes : Sleep::until_clocks);
    bool due = segment_->changes().any() || intents_.is_due();
    bool news = routers_.wait(segment_->doorbell().fd(), due ? 0 : seconds) || due;
    bool woken = sleeps.exchange(Sleep::none) == Sleep::none;
    is_awake_ = due || woken;
    rested_ = true;
    return news;
}

// What a server cannot do, no memory for a key that comes here, say, ends it: its workers are told why.
void Server::run() noexcept {
    try {
        work();
    } catch (const std::exception &error) {
        end_node(*segment_, State::failed, segment_->header().node, error.what());
        vigil_->give_up();
    }
}

void Server::work() {
    last_round_ = monotonic_seconds();
    while (!stop_.load(std::memory_order_relaxed)) {
        double due = last_round_ + patience() - monotonic_seconds();
        if (gates_.is_anybody_waiting()) due = std::min(due, Gates::look_again_after);
        bool news = due > busy_round ? rest(due) : routers_.wait(segment_->doorbell().fd(), std::max(due, 0.0));
        if ((routers_.rang() && segment_->doorbell().answer()) || !news) look_around();
        for (int i = 0; i < most_at_once && inbox_.receive(); i++) {
        }
        if (inbox_.is_anything_parked()) inbox_.retry_parked();
        mailbox_.flush();
        double now = monotonic_seconds();
        if (now >= last_round_ + patience()) begin_round(now);
    }
}

// At what the vigil, and workers of this node, have written into the shared memory.
void Server::look_around() {
    farewells_.look_for_losses();
    if (std::optional<Vigil::Epoch> epoch = vigil_->new_epoch()) epoch_change_.begin(*epoch);
    gates_.look();
}

void Server::begin_round(double now) {
    last_round_ = now;
    if (!epoch_change_.is_settled()) return;
    is_awake_ = has_work();
    intents_.begin_round(now, std::exchange(rested_, false));
    inbox_.note_intents();
    protocol_.exchange();
    mailbox_.flush();
    bool is_quiet = settling_.is_anybody_waiting() && mailbox_.is_silent() && protocol_.is_quiet();
    mailbox_.end_round();
    settling_.answer(is_quiet);
}

} // namespace ps
