// Notices on which all members agree, short texts under names: one node's part in it. A node proposes a notice to the
// host, the lowest member, which decides. A proposal is adopted if nothing stands under the name; what stands can be
// taken down. The host tells all members what it has adopted, in one order, and then answers the proposal: so when a
// proposal is answered here, the board shows what the host had when it decided.
//
// Members come and go. Each time a new term begins, which is an epoch of the membership; a node may miss some terms.
// Then every member tells the host how many changes its board has followed. When all have, the host asks the one that
// has followed the most for a copy, unless it has as many itself. This board has every change that a member has seen,
// as all follow the same changes in the same order. The host sends it to those that have followed fewer, and tells the
// others that they have it. Only then is anything decided in this term. Messages of other terms are dropped. A node
// proposes again what was not answered.
//
// It has no I/O, clock or threads, like the whole protocol.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages.h"

namespace ps {

struct Notice {
    uint64_t number = 0; // of the change that adopted it; in a proposal to take something down, the number of that
    std::string name, text; // an empty text takes the notice of this name and number down
};

class Board {
public:
    class Port {
    public:
        virtual ~Port() = default;
        virtual void propose(NodeId host, uint64_t id, const Notice &notice) = 0;
        virtual void tell(NodeId to, const Notice &notice) = 0;
        virtual void answer(NodeId to, uint64_t id) = 0;
        virtual void copy(NodeId to, const Notice &notice) = 0; // one of those that stand; after them comes:
        virtual void tell_changes(NodeId to, uint64_t changes) = 0; // how many changes the board has followed
        virtual void ask(NodeId to) = 0; // for a copy
        virtual std::string completed(const Notice &proposed) const = 0; // the text to adopt, on the host
        virtual void adopted(const Notice &notice) = 0; // it stands here from now on, or was taken down
        virtual void answered(uint64_t id) = 0; // this node's proposal was decided
    };

    // The members of term 0; this node may be none of them, and join in a later term.
    Board(NodeId self, std::vector<NodeId> members, Port &port);

    void begin(uint32_t term, std::vector<NodeId> members); // in ascending order, this node among them
    // Proposes a notice, or with an empty text to take one down. The id, higher than those before, is answered, perhaps
    // during this call.
    void propose(uint64_t id, const Notice &notice);
    void receive_proposal(NodeId from, uint32_t term, uint64_t id, const Notice &notice);
    void receive(NodeId from, uint32_t term, const Notice &notice);
    void receive_answer(NodeId from, uint32_t term, uint64_t id);
    void receive_copy(NodeId from, uint32_t term, const Notice &notice);
    void receive_changes(NodeId from, uint32_t term, uint64_t changes);
    void receive_ask(NodeId from, uint32_t term);

    const Notice *find(const std::string &name) const; // what stands; null: nothing
    const std::vector<NodeId> &members() const { return members_; }
    uint32_t term() const { return term_; }
    bool decides() const { return is_ready_ && members_.front() == self_; } // this node is the host, and has all copies

private:
    struct Proposal {
        Notice notice;
        bool is_decided = false; // which this node has seen, though it got no answer yet
    };
    struct Copy { // what another node has sent of its board
        uint32_t term = 0;
        std::map<std::string, Notice> notices; // by name
        std::optional<uint64_t> changes; // which come after the notices
    };

    bool is_over(uint32_t term) const { return term < term_ || (term == term_ && is_ready_); } // needs no more copies
    bool is_from_host(NodeId from, uint32_t term) const;
    void decide(const Notice &proposed);
    void follow(const Notice &notice);
    void make(uint64_t id);
    void send_copy(NodeId to);
    void look_at_copies();
    void take(const Copy &copy);
    Copy &open_copy(NodeId from, uint32_t term);
    Copy *copy_of(NodeId node); // a whole one of this term; null: there is none

    const NodeId self_;
    Port &port_;
    uint32_t term_ = 0;
    std::vector<NodeId> members_;
    bool is_ready_; // the host's board of this term is here
    uint64_t changes_ = 0;
    std::map<std::string, Notice> standing_; // by name
    std::map<uint64_t, Proposal> proposals_; // by id; not answered
    std::map<NodeId, Copy> copies_;
    bool has_asked_ = false; // in this term
};

} // namespace ps
