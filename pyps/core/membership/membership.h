// One node's part in finding out who was lost. It has no input or output, no clock and no threads: what is seen of
// other nodes and the time are passed in, what is to be done is said to a port.
//
// A node is doubted when its link breaks. It is lost when a connection to it is refused, which only a host can do on
// which it no longer runs, when it stays away for `patience`, or when another node says so. A link that comes back
// before is no loss: links carry nothing but this.
#pragma once

#include <vector>

#include "protocol/messages.h"

namespace ps {

// How it is known that a node was lost; `told` by another node, `failed` by itself.
enum class Evidence : uint16_t { refused, silent, told, failed };

// "I am here; these I hold for lost."
struct Alive {
    std::vector<NodeId> lost;
};

// To a node that was lost: why it is no member any more.
struct Lost {
    NodeId node;
    Evidence evidence;
};

class MembershipPort {
public:
    virtual ~MembershipPort() = default;

    virtual void probe(NodeId node) = 0; // answer with probed()
    virtual void tell(NodeId node, const Alive &message) = 0;
    virtual void tell(NodeId node, const Lost &message) = 0;
    virtual void lost(NodeId node, Evidence evidence, NodeId by) = 0; // `by` found it out; this node may be the lost one
};

class Membership {
public:
    Membership(NodeId self, NodeId nodes, double patience, MembershipPort &port)
        : self_(self), patience_(patience), port_(port), peers_(nodes) {}

    void linked(NodeId node);
    void unlinked(NodeId node, double now);
    void probed(NodeId node, bool refused);
    void left(NodeId node); // it has shut down and said so
    void give_up();         // this node cannot go on: tell everybody
    void ask();             // this node did not run for a while: is it still a member?
    void receive(NodeId from, const Alive &message);
    void receive(NodeId from, const Lost &message);

    void tick(double now);
    double due() const; // when to call tick() next; infinity: not before something happens

private:
    enum class Standing : uint8_t { member, left, lost };

    struct Peer {
        Standing standing = Standing::member;
        bool linked = false;
        bool doubted = false;
        double since = 0; // of the doubt
        Evidence evidence{};
    };

    void declare(NodeId node, Evidence evidence, NodeId by);
    Alive alive() const;
    void tell_all();

    const NodeId self_;
    const double patience_; // seconds
    MembershipPort &port_;
    std::vector<Peer> peers_; // by node
};

} // namespace ps
