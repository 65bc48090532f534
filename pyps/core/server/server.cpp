#include "server/server.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "errors.h"
#include "net/bounds.h"
#include "net/peer.h"
#include "net/refusals.h"
#include "net/schemes.h"
#include "segment/process.h"
#include "server/served.h"
#include "worker/loss.h"

namespace ps {

namespace {

constexpr int most_at_once = 64; // messages between two rounds
constexpr double answer_to_farewell = 1.0; // seconds that a node which ends waits for the others' answers

std::unique_ptr<NodeTransport> make_transport(Segment &segment, const std::string &endpoint) {
    Header &header = segment.header();
    auto node = NodeId(header.node);
    return make_node_transport({{node, NodeId(header.places), name_of_node(node, header.cluster), keys_of(segment),
                                 longest_message(header), heartbeats_within(2 * header.lost_after)},
                                header.max_workers,
                                &header.peers_refused,
                                header.num_channels},
                               endpoint);
}

} // namespace

Server::Server(std::shared_ptr<Segment> segment, Slabs &slabs, const std::string &endpoint, Trace *trace,
               Tables *tables)
    : segment_(std::move(segment)), transport_(make_transport(*segment_, endpoint)),
      channels_(*segment_, slabs, *transport_, trace),
      tuning_(*segment_, [this](NodeId to, Bytes message) { transport_->send(to, std::move(message)); }),
      tables_(tables),
      gates_(*segment_, tuning_, [this](NodeId to, Bytes message) { transport_->send(to, std::move(message)); }),
      farewells_(*segment_, *transport_, gates_, tuning_, tables_),
      inbox_(Receivers{*segment_, *transport_, channels_, gates_, farewells_, tuning_, tables_, vigil_}) {
    std::string library = transport_->library();
    if (library.size() >= sizeof segment_->header().library)
        fail(PS_EADDRESS, Where{-1, int64_t(library.size()), int64_t(sizeof segment_->header().library - 1)},
             "the path of the library %s is longer than %zu bytes", library.c_str(),
             sizeof segment_->header().library - 1);
    std::strcpy(segment_->header().library, library.c_str());
    if (this->endpoint().size() >= endpoint_bytes)
        fail(PS_EADDRESS, Where{-1, int64_t(this->endpoint().size()), int64_t(endpoint_bytes - 1)},
             "the endpoint %s is longer than %zu bytes", this->endpoint().c_str(), endpoint_bytes - 1);
    serve_here(segment_->header().cluster);
}

Server::~Server() {
    leave();
    if (!thread_.joinable()) return;
    stop_ = true;
    segment_->doorbell().ring();
    thread_.join();
    channels_.stop();
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
        transport_->wait(segment_->doorbell().fd(), busy_round);
        segment_->doorbell().answer();
        while (inbox_.receive()) {
        }
        farewells_.look_for_losses();
    }
}

void Server::connect(std::vector<std::string> endpoints) {
    const Header &header = segment_->header();
    if (is_connected()) fail(PS_EINVAL, Where{}, "the node is connected already");
    const uint32_t needed = segment_->joins() ? header.places : uint32_t(segment_->first().size());
    if (endpoints.size() != needed && endpoints.size() != header.places)
        fail(PS_EINVAL, Where{-1, int64_t(endpoints.size()), needed}, "%zu endpoints were given for %u %s",
             endpoints.size(), needed, segment_->joins() ? "places" : "nodes");
    endpoints.resize(header.places);
    if (endpoints[header.node].empty()) endpoints[header.node] = endpoint();
    for (uint32_t node = 0; node < header.places; node++) {
        if (endpoints[node].size() >= endpoint_bytes)
            fail(PS_EADDRESS, Where{int64_t(node), int64_t(endpoints[node].size()), int64_t(endpoint_bytes - 1)},
                 "the endpoint of node %u is longer than %zu bytes", node, endpoint_bytes - 1);
        if (endpoints[node].empty()) continue;
        require_same_transport(endpoint(), endpoints[node]);
        segment_->note_endpoint(node, endpoints[node]);
        if (node == header.node) continue;
        transport_->connect(node, endpoints[node]);
        FrameHeader hello = header_from(*segment_);
        hello.kind = Kind::hello;
        transport_->send(node, FrameWriter(hello).take());
    }
    if (segment_->joins()) segment_->note_members(endpoints);
    farewells_.look_for_losses(); // places without a node
    {
        SignalsBlocked blocked;
        vigil_ = std::make_unique<Vigil>(*segment_, *transport_, endpoints);
        channels_.start();
        thread_ = std::thread([this] { run(); });
    }
    if (!segment_->joins()) segment_->header().connected.store(1, std::memory_order_release);
}

// Sleep until a message comes, the doorbell rings or the time is over. From now on a worker that changes a key or
// advances a clock rings; what was changed before is seen here.
NodeTransport::Woken Server::rest(double seconds) {
    bool due = channels_.first().go_to_sleep();
    NodeTransport::Woken woken_by = transport_->wait(segment_->doorbell().fd(), due ? 0 : seconds);
    bool woken = segment_->channel(0).sleeps.exchange(Sleep::none) == Sleep::none;
    channels_.first().wake_up(due || woken);
    woken_by.news |= due;
    return woken_by;
}

// A failure, for example if there is no memory for a key that moves here, ends the server. Its workers are told why.
void Server::run() noexcept {
    begin_thread("ps server");
    try {
        work();
    } catch (const std::exception &error) {
        end_node(*segment_, State::failed, segment_->header().node, error.what());
        vigil_->give_up();
    }
}

void Server::work() {
    Channel &first = channels_.first();
    while (!stop_.load(std::memory_order_relaxed)) {
        double due = first.next_round() - monotonic_seconds();
        if (gates_.is_anybody_waiting()) due = std::min(due, Gates::look_again_after);
        NodeTransport::Woken woken = due > first.busy_pause()
                                         ? rest(due)
                                         : transport_->wait(segment_->doorbell().fd(), std::max(due, 0.0));
        channels_.begin_turn(monotonic_seconds());
        if ((woken.rang && segment_->doorbell().answer()) || !woken.news) look_around();
        for (int i = 0; i < most_at_once && inbox_.receive(); i++) {
        }
        channels_.deliver();
        first.end_turn(monotonic_seconds());
        channels_.require_working();
    }
}

// Look at what the vigil and workers of this node have written into the shared memory.
void Server::look_around() {
    farewells_.look_for_losses();
    if (std::optional<Vigil::Epoch> epoch = vigil_->new_epoch()) {
        channels_.begin_epoch(*epoch);
        if (tables_) tables_->begin_epoch(epoch->number, epoch->members);
    }
    tuning_.look();
    gates_.look();
    if (tables_) tables_->flush([this](NodeId to, Bytes message) { transport_->send(to, std::move(message)); });
}

} // namespace ps
