// Where a node's workers look for keys: in the directory, which also remembers where an absent key was seen last.
#pragma once

#include "requests/ports.h"
#include "segment/segment.h"

namespace ps {

class StoreWhereabouts : public Whereabouts {
public:
    explicit StoreWhereabouts(Segment &segment) : segment_(segment) {}

    void find(const std::vector<Key> &keys, std::vector<NodeId> *nodes) const override;
    void note_owner(const std::vector<Key> &keys, const AnswerBatch &answer, NodeId owner) override;

private:
    Segment &segment_;
};

} // namespace ps
