// One node's part in agreeing which nodes are members of the cluster. It has no I/O, no clock and no threads: what
// happens to other nodes and the time are passed in, and what has to be done is passed to a port.
//
// A node is in doubt when its link breaks. It is missing when a connection to it is refused (which only its host does,
// when its process does not run any more), when the link stays away for `patience`, or when the node says so itself. A
// link that comes back before that is no loss, as links carry nothing but messages about members.
//
// Messages about keys have a connection of their own. When that breaks while both processes live, which is known after
// `patience`, messages may be lost, and what the two nodes know about keys may differ for good. Then each node treats
// the other as missing, as if the link between them were cut.
//
// With OnLoss::fail the first missing node ends the cluster: the first members are told, which tell all others. With
// OnLoss::go_on the members agree on an epoch without the missing ones, one epoch after another, by Paxos among the
// members of the last one:
// - A node may go on with a set of members that are all linked to it and to each other, if all other members are known
//   to have ended, or if the set is more than half of the last epoch's members, or half of them with the lowest. Any
//   two such sets that could both be alive have a node in common.
// - Where nodes can join, those that have ended may have gone on without this node before, and have let others in. So
//   they count as ended only if it was in touch with them: it did not miss them for another reason before, and if it
//   did not run for a while, they have said since that the epoch is the same.
// - The lowest node of the set proposes it. All of the set must promise and accept; if a member has accepted another
//   set before, that one is proposed instead. So two sides never both go on.
// - A node that finds no such set for `patience` ends. A node that learns of a later epoch without itself ends too.
//
// With OnLoss::go_on a node may join. It asks all members, which link to it and welcome it. When all have, and no
// member is missing, the lowest member proposes an epoch with it. A number that a node has had is never given to
// another one.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "membership/notes.h"

namespace ps {

enum class OnLoss : uint8_t { fail, go_on };

constexpr double never = std::numeric_limits<double>::infinity(); // a time

class MembershipPort {
public:
    virtual ~MembershipPort() = default;

    virtual void probe(NodeId node) = 0; // try to connect to it; the result comes by probed()
    virtual void tell(NodeId node, const Alive &message) = 0;
    virtual void tell(NodeId node, const Lost &message) = 0;
    virtual void tell(NodeId node, const Join &message) = 0;
    virtual void tell(NodeId node, const Introduction &message) = 0;
    virtual bool may_join() const = 0; // whether this node can do with another member now
    virtual void tell(NodeId node, const Vote &message) = 0;

    // This node ends because `node`, which may be this one itself, is lost. `by` is the node that noticed it.
    virtual void end(NodeId node, Evidence evidence, NodeId by) = 0;
    // A new epoch has these members, this node among them. Members of the last epoch that are not in the list are lost;
    // at most one was no member before.
    virtual void begin(uint32_t epoch, const std::vector<NodeId> &members) = 0;
};

class Membership {
public:
    // If this node is not among the members, it joins them.
    Membership(NodeId self, NodeId places, const std::vector<NodeId> &members, double patience, OnLoss on_loss,
               MembershipPort &port);

    void linked(NodeId node);
    void unlinked(NodeId node, double now);
    void probed(NodeId node, bool refused, double now);
    void broken(NodeId node, double now); // the connection for messages to it broke; it may have been made again since
    void left(NodeId node, double now); // the node has shut down and told so
    void give_up(); // this node cannot go on: tell all nodes
    void ask(); // this node did not run for a while: ask the others whether it is still a member
    void receive(NodeId from, uint32_t epoch, const Alive &message, double now);
    void receive(NodeId from, uint32_t epoch, const Lost &message);
    void receive(NodeId from, const Join &message, double now);
    void receive(uint32_t epoch, const Introduction &message);
    void receive(NodeId from, const Vote &message, double now);

    void tick(double now);
    double due() const; // when to call tick() next

    uint32_t epoch() const { return epoch_; }
    bool has_ended() const { return ended_; }
    bool is_member(NodeId node) const { return peers_[node].member; }
    Evidence evidence(NodeId node) const { return peers_[node].evidence; } // why it is missing or was lost

private:
    struct Peer {
        bool member = false;
        bool was_member = false;
        bool linked = false;
        bool doubted = false;
        bool missing = false;
        bool gone = false; // its process has ended or does nothing any more
        bool out_of_touch = false; // it may have gone on without this node
        double since = 0; // when the doubt began
        bool broken = false; // the connection for messages broke
        double broken_at = 0;
        double probe_at = never; // when to probe it again
        Evidence evidence{};
        std::vector<NodeId> missed; // the nodes that it misses
        bool joins = false; // it asks to; or, where this node does, it welcomes this one
        std::vector<NodeId> welcomed_by;
    };

    // What this node proposes for the next epoch.
    struct Proposal {
        Ballot ballot;
        std::vector<NodeId> set; // all of these must answer
        NodeId joins; // who is to join; no_node: nobody
        std::vector<NodeId> value;
        Ballot best; // the highest ballot that a member of the set had accepted before
        bool accepting = false;
        std::vector<bool> answered;
    };

    void miss(NodeId node, Evidence evidence, double now);
    void end(NodeId node, Evidence evidence, NodeId by);
    void end_all(NodeId node, Evidence evidence, NodeId by, double now);
    void consider(double now);
    std::vector<NodeId> members() const;
    std::vector<NodeId> survivors() const;
    std::vector<size_t> count_conflicts(const std::vector<NodeId> &set) const;
    bool may_go_on(const std::vector<NodeId> &set) const;
    bool is_unsettled() const;
    bool is_in_question(const Peer &peer) const;
    bool is_welcomed(const Peer &peer) const; // by all members
    NodeId joining() const;
    void welcome(NodeId node, double now);
    void ask_to_join();
    void propose(std::vector<NodeId> set, NodeId joins, double now);
    void ask_for_answers();
    void count_answer(NodeId from);
    void vote_for_own();
    void decide(uint32_t epoch, const std::vector<NodeId> &members, double now);
    Vote vote(Vote::Phase phase, Ballot ballot) const;
    Alive alive() const;
    std::vector<NodeId> first_members() const;
    void ask(NodeId node);
    void tell_first();
    void tell_all();

    const NodeId self_;
    const double patience_; // seconds
    const OnLoss on_loss_;
    MembershipPort &port_;
    std::vector<Peer> peers_; // by node
    bool ended_ = false;
    bool joins_; // this node is no member yet
    uint32_t introduced_ = 0; // then: the epoch of the members that it asks
    uint32_t epoch_ = 0;
    uint32_t asked_ = 0; // how often this node has asked whether it is still a member
    double changed_ = 0; // when this node last learned something new about the members
    double retry_ = 0; // when to repeat what was told to the others
    bool awaits_news_ = false; // with OnLoss::fail: it has ended, and none of the first members has said that it has

    // The voting about the next epoch.
    Ballot promised_, accepted_;
    std::vector<NodeId> accepted_members_;
    std::optional<Proposal> proposal_;
};

} // namespace ps
