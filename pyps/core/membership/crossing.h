// A node's way from one epoch of the membership to the next: what it does with messages about keys meanwhile. A node
// that learns of a new epoch sends a mark to every other member; what it sends after the mark belongs to the new epoch.
// When it has the marks of all members, no message of a former epoch is on its way to it. So it knows which keys it
// holds, reports them to their homes, and says that it is done. When all members are done, it is settled. Before that
// it takes only those messages of former epochs that bring keys, as no other node has those; messages of the new epoch,
// and of later ones that it has not learned of, are held back. No I/O, clocks or threads.
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

    // What to do with a message about keys, or one that belongs to a crossing.
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

    // Returns true if this was the last one that was missing, as done() does.
    bool mark(NodeId from) { return add(&marked_, from); }
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
