#include "losses.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "fibers.h"
#include "membership/membership.h"
#include "segment/node_options.h"
#include "wire/notes.h"

namespace ps::simulate {

namespace {

constexpr double look_at_probes_every = 0.02; // seconds, as in the shipped vigil

// What nodes do if nothing else is asked for.
ps_node_options usual(int64_t nodes) {
    ps_node_options options{};
    options.num_nodes = int32_t(nodes);
    return options;
}

// The nodes and what they tell each other. One of them is lost at the time 0. Its links break at once where its host
// says so (`refused`), else when nothing was heard of it for long enough.
class Losses {
public:
    explicit Losses(const Settings &settings);

    void run();
    void report(std::ostream &out) const;

private:
    class Port;
    struct Node {
        std::unique_ptr<Port> port;
        std::unique_ptr<Membership> membership;
        double busy = 0; // until then its vigil computes
        double knows = -1; // since when it knows of the loss; -1: it does not
        double tick = never; // when it will be called
        uint64_t sent = 0, received = 0;
        double thought = 0; // real seconds in the shipped code
    };

    template <class Body>
    void think(NodeId id, Body &&body);
    template <class Message>
    void send(NodeId from, NodeId to, Message message);
    void look_at_clock(NodeId id);
    void learn(NodeId id);

    const Costs costs_;
    const Hosts hosts_;
    const double heartbeat_, lost_after_, limit_;
    const bool refused_, thinking_takes_time_;
    const NodeId lost_;
    const double start_ = now;
    double offset_ = 0; // from the start to the loss
    std::mt19937_64 random_;
    Events events_;
    std::vector<Node> nodes_;
    size_t known_ = 0;
    uint64_t bytes_ = 0;
    bool is_late_ = false;
};

class Losses::Port : public MembershipPort {
public:
    Port(Losses &world, NodeId self) : world_(world), self_(self) {}

    // The system answers for a process that has ended; nobody answers for a host that is gone.
    void probe(NodeId node) override {
        const double answer = now + 2 * world_.hosts_.delay;
        const double looked = std::ceil((answer - world_.start_) / look_at_probes_every) * look_at_probes_every;
        const bool refused = node == world_.lost_ && world_.refused_;
        const double at = node == world_.lost_ && !refused ? now + world_.heartbeat_ : world_.start_ + looked;
        world_.events_.at(at, [this, node, refused] {
            world_.think(self_, [&](Membership &own) { own.probed(node, refused, now); });
        });
    }
    void tell(NodeId node, const Alive &message) override { world_.send(self_, node, message); }
    void tell(NodeId node, const Lost &message) override { world_.send(self_, node, message); }
    void tell(NodeId node, const Vote &message) override { world_.send(self_, node, message); }
    void tell(NodeId, const Join &) override {}
    void tell(NodeId, const Introduction &) override {}
    bool may_join() const override { return false; }
    void end(NodeId, Evidence, NodeId) override { world_.learn(self_); }
    void begin(uint32_t, const std::vector<NodeId> &members) override {
        if (!has(members, world_.lost_)) world_.learn(self_);
    }

private:
    Losses &world_;
    const NodeId self_;
};

Losses::Losses(const Settings &settings)
    : costs_(costs_of(settings)), hosts_(hosts_of(settings)), heartbeat_(heartbeat_of(usual(hosts_.nodes))),
      lost_after_(lost_after_of(usual(hosts_.nodes))), limit_(settings.number("limit")),
      refused_(settings.integer("refused") != 0), thinking_takes_time_(settings.integer("thinking") != 0),
      lost_(NodeId(settings.integer("lost"))), random_(uint64_t(settings.integer("seed"))),
      nodes_(size_t(hosts_.nodes)) {
    std::vector<NodeId> all(nodes_.size());
    for (NodeId id = 0; id < nodes_.size(); id++) all[id] = id;
    const OnLoss on_loss = settings.integer("goes_on") ? OnLoss::go_on : OnLoss::fail;
    for (NodeId id : all) {
        Node &node = nodes_[id];
        node.port = std::make_unique<Port>(*this, id);
        node.membership = std::make_unique<Membership>(id, NodeId(all.size()), all, heartbeat_, on_loss, *node.port);
    }
}

void Losses::learn(NodeId id) {
    Node &node = nodes_[id];
    if (node.knows >= 0) return;
    node.knows = std::max(now, node.busy) - start_;
    known_++;
}

template <class Body>
void Losses::think(NodeId id, Body &&body) {
    Node &node = nodes_[id];
    const double began = real_seconds();
    body(*node.membership);
    const double took = real_seconds() - began;
    node.thought += took;
    if (thinking_takes_time_) node.busy = std::max(node.busy, now) + took;
    look_at_clock(id);
}

void Losses::look_at_clock(NodeId id) {
    Node &node = nodes_[id];
    const double due = std::max({node.membership->due(), node.busy, now});
    if (!std::isfinite(due) || node.tick <= due) return;
    node.tick = due;
    events_.at(due, [this, id, due] {
        if (nodes_[id].tick != due) return;
        nodes_[id].tick = never;
        think(id, [](Membership &own) { own.tick(now); });
    });
}

// Over the sender's link. The sender computes for one message after another, and so does the receiver.
template <class Message>
void Losses::send(NodeId from, NodeId to, Message message) {
    Node &sender = nodes_[from];
    const uint32_t epoch = sender.membership->epoch();
    const uint64_t size = encode(message, FrameHeader()).size();
    const double each = costs_.send.of(0, size) + costs_.io.of(0, size) + costs_.system;
    sender.busy = std::max(sender.busy, now) + each;
    sender.sent++;
    bytes_ += size;
    if (to == lost_) return;
    events_.at(sender.busy + hosts_.delay, [this, from, to, epoch, message, each] {
        Node &receiver = nodes_[to];
        receiver.busy = std::max(receiver.busy, now) + each;
        receiver.received++;
        events_.at(receiver.busy, [this, from, to, epoch, message] {
            think(to, [&](Membership &own) {
                if constexpr (std::is_same_v<Message, Alive>)
                    own.receive(from, epoch, message, now);
                else if constexpr (std::is_same_v<Message, Lost>)
                    own.receive(from, epoch, message);
                else
                    own.receive(from, message, now);
            });
        });
    });
}

void Losses::run() {
    for (NodeId id = 0; id < nodes_.size(); id++) {
        for (NodeId other = 0; other < nodes_.size(); other++)
            if (other != id) nodes_[id].membership->linked(other);
        nodes_[id].busy = 0;
    }
    events_.run([&] { return events_.is_empty(); });
    for (Node &node : nodes_) node.sent = node.received = 0, node.thought = 0;
    bytes_ = 0;
    const double lost_at = now;
    for (NodeId id = 0; id < nodes_.size(); id++) {
        if (id == lost_) continue;
        const double asked = std::uniform_real_distribution<>(0, heartbeat_)(random_);
        const double breaks = refused_ ? hosts_.delay : asked + lost_after_ - 2 * heartbeat_;
        events_.at(lost_at + breaks, [this, id] { think(id, [this](Membership &own) { own.unlinked(lost_, now); }); });
    }
    for (Node &node : nodes_) node.knows = -1;
    offset_ = lost_at - start_;
    events_.at(lost_at + limit_, [this] { is_late_ = true; });
    events_.run([&] { return is_late_; }); // when all know, nobody has more to tell
}

void Losses::report(std::ostream &out) const {
    double last = 0, thought = 0, sum = 0;
    uint64_t sent = 0, most = 0;
    for (const Node &node : nodes_) {
        last = std::max(last, node.knows - offset_);
        thought = std::max(thought, node.thought);
        sum += node.thought;
        sent += node.sent;
        most = std::max(most, node.received);
    }
    out << "{\"known\": " << known_ << ", \"seconds\": " << last << ", \"messages\": " << sent
        << ", \"most_received\": " << most << ", \"bytes\": " << bytes_ << ", \"thought\": ["
        << sum / double(nodes_.size()) << ", " << thought << "]}\n";
}

} // namespace

void lose_a_node(const Settings &settings, std::ostream &out) {
    Losses losses(settings);
    losses.run();
    losses.report(out);
}

} // namespace ps::simulate
