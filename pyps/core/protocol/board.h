// Notices on which all nodes agree, short texts under names: one node's part in it. A node proposes a notice to node 0,
// which decides. A proposal is adopted if nothing stands under the name; what stands can be taken down. Node 0 tells
// all nodes what it has adopted, in one order, and then answers the proposal: so when a proposal is answered here, the
// board shows what node 0 had when it decided.
//
// Once node 0 is lost, nothing is decided any more.
//
// It has no I/O, clock or threads, like the whole protocol.
#pragma once

#include <map>
#include <string>

#include "protocol/messages.h"

namespace ps {

struct Notice {
    uint64_t number = 0; // counts what was adopted, from 1; in a proposal to take something down, the number of that
    std::string name, text; // an empty text takes the notice of this name and number down
};

class Board {
public:
    class Port {
    public:
        virtual ~Port() = default;
        virtual void propose(uint64_t id, const Notice &notice) = 0; // to node 0
        virtual void tell(NodeId to, const Notice &notice) = 0;
        virtual void answer(NodeId to, uint64_t id) = 0;
        virtual void adopted(const Notice &notice) = 0; // it stands here from now on, or was taken down
        virtual void answered(uint64_t id) = 0; // this node's proposal was decided
    };

    Board(NodeId self, NodeId nodes, Port &port) : self_(self), nodes_(nodes), port_(port) {}

    // Proposes a notice, or with an empty text to take one down. The id is answered, perhaps during this call.
    void propose(uint64_t id, const Notice &notice);
    void receive_proposal(NodeId from, uint64_t id, const Notice &notice); // only node 0
    void receive(const Notice &notice) { adopt(notice); }
    void receive_answer(uint64_t id) { port_.answered(id); }

    const Notice *find(const std::string &name) const; // what stands; null: nothing

private:
    void decide(const Notice &proposed);
    void adopt(const Notice &notice);

    const NodeId self_, nodes_;
    Port &port_;
    uint64_t last_number_ = 0;
    std::map<std::string, Notice> standing_;
};

} // namespace ps
