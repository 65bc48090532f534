#include "net/server.h"

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
#include "net/served.h"
#include "worker/loss.h"
#include "worker/workers.h"

namespace ps {

namespace {

constexpr int most_at_once = 64;       // messages between two rounds
constexpr double busy_round = 0.001;   // seconds between rounds while there is something to do
constexpr double watchful_round = 0.1; // while there are intents: of workers that may die
constexpr double idle_round = 1.0;     // otherwise
constexpr double farewell = 0.3;             // seconds a node that ends may take to send its last messages
constexpr double answer_to_farewell = 1.0; // seconds it waits until the others have heard of it

} // namespace

Server::Server(std::shared_ptr<Segment> segment, Slabs &slabs, const std::string &endpoint, Trace *trace)
    : segment_(std::move(segment)), shape_(*segment_),
      context_((require_room_for_nodes(segment_->header().num_nodes), keys_of(*segment_)),
               longest_message(segment_->header())),
      routers_(context_, segment_->header().max_workers),
      peers_(context_, NodeId(segment_->header().num_nodes),
             name_of_node(NodeId(segment_->header().node), segment_->header().cluster),
             heartbeats_within(2 * segment_->header().lost_after)),
      trace_(trace), values_(*segment_, slabs, trace),
      mailbox_(*segment_, routers_, peers_, [this](uint64_t waiter, NodeId lost_with) { landed(waiter, lost_with); }),
      protocol_(NodeId(segment_->header().node), NodeId(segment_->header().num_nodes),
                uint64_t(segment_->header().num_keys), Techniques(segment_->header().techniques), values_, mailbox_),
      senders_(segment_->header(), protocol_.home_rule()), crossing_(NodeId(segment_->header().num_nodes)),
      intents_(
          [this](uint32_t worker) {
              WorkerSlot &slot = segment_->slot(worker);
              if (!identity_of(slot).is_alive()) return INT64_MAX;
              if (slot.in_setup.load(std::memory_order_acquire)) return INT64_MIN;
              return int64_t(slot.clock.load(std::memory_order_acquire));
          },
          [this](const std::vector<Key> &keys, bool begins) {
              if (trace_) trace_->note(keys, begins ? PS_TRACE_INTENT_BEGINS : PS_TRACE_INTENT_ENDS);
              begins ? want(keys) : protocol_.stop_wanting(keys);
          }),
      gates_(*segment_, [this](NodeId to, Bytes message) { peers_.send(to, std::move(message)); }),
      lost_(segment_->header().num_nodes), told_(segment_->header().num_nodes), awaited_(segment_->header().num_nodes) {
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

// The others may still wait for what was said last. Unless all end together they are told, and answer: so they know
// that this node was not lost.
void Server::say_goodbye() {
    FrameHeader header = header_from(*segment_);
    header.kind = Kind::left;
    bool together = segment_->header().leave_rounds.load(std::memory_order_acquire);
    look_for_losses();
    for (NodeId node = 0; node < lost_.size(); node++) {
        if (node == header.from || lost_[node]) continue;
        awaited_[node] = !together;
        if (!together) peers_.send(node, FrameWriter(header).take());
    }
    peers_.linger(farewell);
    double end = monotonic_seconds() + answer_to_farewell;
    while (std::count(awaited_.begin(), awaited_.end(), true) && monotonic_seconds() < end) {
        routers_.wait(segment_->doorbell().fd(), busy_round);
        segment_->doorbell().answer();
        while (receive_some()) {
        }
        look_for_losses();
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
    return !protocol_.is_idle() || !protocol_.parked().empty() || segment_->changes().any() || !settling_.empty();
}

// Sleep until a message comes or somebody rings, at most so long. Who changes a key or advances a clock from now on
// rings; who did so before is seen here. False: nothing has happened.
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
    double last_round = monotonic_seconds();
    while (!stop_.load(std::memory_order_relaxed)) {
        double due = last_round + patience() - monotonic_seconds();
        if (gates_.is_anybody_waiting()) due = std::min(due, Gates::look_again_after);
        bool news = due > busy_round ? rest(due) : routers_.wait(segment_->doorbell().fd(), std::max(due, 0.0));
        if ((routers_.rang() && segment_->doorbell().answer()) || !news) {
            look_for_losses();
            if (std::optional<Vigil::Epoch> epoch = vigil_->new_epoch()) begin_epoch(*epoch);
            gates_.look();
        }
        for (int i = 0; i < most_at_once && receive_some(); i++) {
        }
        if (!protocol_.parked().empty() || !behind_.empty()) retry_parked();
        mailbox_.flush();
        double now = monotonic_seconds();
        if (now < last_round + patience()) continue;
        last_round = now;
        if (!crossing_.is_settled()) continue;
        is_awake_ = has_work();
        intents_.begin_round(now, std::exchange(rested_, false));
        note_intents();
        protocol_.exchange();
        mailbox_.flush();
        bool is_quiet = !settling_.empty() && mailbox_.is_silent() && protocol_.is_quiet();
        mailbox_.end_round();
        finish_settling(is_quiet);
    }
}

void Server::note_intents() {
    segment_->header().intents_active.store(intents_.active(), std::memory_order_relaxed);
    segment_->header().intents_waiting.store(intents_.waiting(), std::memory_order_relaxed);
}

void Server::finish_settling(bool is_quiet) {
    settling_.erase(std::remove_if(settling_.begin(), settling_.end(),
                                   [&](Settling &settling) {
                                       bool is_done = protocol_.reached(&settling.mark);
                                       if (settling.message.until == Until::quiet) is_done = is_done && is_quiet;
                                       if (!is_done) return false;
                                       Bytes answer = settling.message.encode(header_from(*segment_));
                                       routers_.send(settling.worker, std::move(answer));
                                       return true;
                                   }),
                    settling_.end());
}

bool Server::receive_some() {
    return routers_.receive(
        [this](const ZmqMessage &peer, const ZmqMessage &frame, ZmqSocket &router) { receive(peer, frame, router); });
}

void Server::receive(const ZmqMessage &peer, const ZmqMessage &frame, ZmqSocket &router) {
    add_to(segment_->header().messages_received, 1);
    if (!frame.more()) {
        take(std::string(peer.data(), peer.size()), frame.data(), frame.size());
        return;
    }
    count_refusal(segment_->header(), "it has more than one part");
    for (bool more = true; more;) {
        ZmqMessage rest;
        more = router.receive(&rest) && rest.more();
    }
}

void Server::take(const std::string &peer, const char *bytes, uint64_t size) {
    try {
        FrameReader reader(bytes, size);
        FrameHeader header = decode_header(reader, segment_->header().cluster, shape_);
        Sender sender = senders_.find(peer, header);
        if (refuse(header)) return;
        bool is_for_after = header.kind == Kind::round || header.kind == Kind::answer;
        if (is_for_after && protocol_.parked().holds_up(header.from)) {
            behind_.push_back({peer, Bytes(bytes, bytes + size)});
            return;
        }
        protocol_.hear_from(header.from);
        bool is_late = false;
        switch (judge(header)) {
        case Crossing::Verdict::hold: held_.push_back({peer, Bytes(bytes, bytes + size)}); return;
        case Crossing::Verdict::drop: return;
        case Crossing::Verdict::take_late: is_late = true; break;
        case Crossing::Verdict::take: break;
        }
        if (is_late)
            take_late(sender, header, reader);
        else
            handle(peer, sender, header, reader);
    } catch (const Malformed &error) {
        count_refusal(segment_->header(), error.what());
    } catch (const Unexpected &error) {
        count_refusal(segment_->header(), error.what());
    }
}

void Server::take_again(std::deque<HeldBack> *messages) {
    for (const HeldBack &message : std::exchange(*messages, {}))
        take(message.peer, message.bytes.data(), message.bytes.size());
}

// Steps that have to wait for a worker. What nodes asked to be told after such steps they are told when none is left.
void Server::retry_parked() {
    protocol_.retry([this](const Unexpected &error) { count_refusal(segment_->header(), error.what()); });
    if (protocol_.parked().empty()) take_again(&behind_);
}

} // namespace ps
