// A node's way from one epoch of the membership to the next: what it does meanwhile with messages about keys.
//
// A node that hears of an epoch marks its path to every other member: what it sends behind the mark belongs to that
// epoch. When it has the marks of all, nothing of former epochs is on its way to it any more, so it knows what it
// holds, reports that to the keys' homes, and says that it is done. When all have said so it is settled. Until then, of
// the messages of former epochs only those are taken that bring keys along, since no other node has those; and what
// belongs to the epoch, or to a later one that this node has not heard of, is held back.
//
// Free of input, output, clocks and threads.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/messages.h"

namespace ps {

class Crossing {
public:
    enum class Verdict { take, take_late, hold, drop };

    explicit Crossing(NodeId nodes) : members_(nodes, true), marked_(nodes), done_(nodes) {}

    uint32_t epoch() const { return epoch_; }
    bool is_settled() const { return settled_; }

    void begin(uint32_t epoch, const std::vector<NodeId> &members) {
        epoch_ = epoch;
        settled_ = false;
        members_.assign(members_.size(), false);
        for (NodeId node : members) members_[node] = true;
        marked_.assign(members_.size(), false);
        done_.assign(members_.size(), false);
    }

    // Of a message about keys, or of one that only belongs to a crossing.
    Verdict judge(NodeId from, uint32_t epoch, bool brings_keys) const {
        if (epoch > epoch_) return Verdict::hold;
        if (!members_[from]) return Verdict::drop;
        if (epoch == epoch_) return settled_ ? Verdict::take : Verdict::hold;
        return brings_keys && !settled_ && !marked_[from] ? Verdict::take_late : Verdict::drop;
    }
    Verdict judge_crossing(NodeId from, uint32_t epoch) const {
        if (epoch > epoch_) return Verdict::hold;
        return members_[from] && epoch == epoch_ && !settled_ ? Verdict::take : Verdict::drop;
    }

    bool mark(NodeId from) { return add(&marked_, from); } // true: it was the last one; so does the next
    bool done(NodeId from) {
        settled_ = add(&done_, from);
        return settled_;
    }

private:
    bool add(std::vector<bool> *said, NodeId from) {
        if ((*said)[from]) return false;
        (*said)[from] = true;
        return *said == members_;
    }

    uint32_t epoch_ = 0;
    bool settled_ = true;
    std::vector<bool> members_, marked_, done_;
};

} // namespace ps
