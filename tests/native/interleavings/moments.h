// Moments of nodes, marked now and then: what has been exchanged since one has all that the node added before, and
// brought all that others had then. Keys that the node's workers intended to use have been there since.
#pragma once

#include <vector>

#include "workers.h"
#include "world.h"

namespace ps::interleavings {

class Moments {
public:
    Moments(World &world, bool is_tight)
        : world_(world), all_come_(!is_tight && world.techniques != Techniques::relocation_only),
          ahead_(world.num_nodes) {}

    long reached() const { return reached_; }
    bool are_all_reached() const {
        for (auto &moments : ahead_)
            if (!moments.empty()) return false;
        return true;
    }

    void mark(NodeId id) {
        if (world_.sets || ahead_[id].size() > 3) return;
        Protocol &protocol = world_.nodes[id]->protocol;
        const bool is_whole = world_.draw(2); // else it is only of what the node added
        Moment moment{is_whole ? protocol.mark() : protocol.mark_changes(), {}, {}, {}};
        for (Key key = 0; key < world_.num_keys; key++) {
            int64_t added = 0;
            for (Worker &worker : world_.workers)
                if (worker.node == id) added += worker.added[key];
            moment.added.push_back(is_whole || !world_.sends_parts ? part_of(id, added) : 0);
            moment.owned.push_back(is_whole ? owned(key) : 0);
            moment.missing.push_back(is_whole && all_come_ && world_.nodes[id]->intents[key] > 0);
        }
        ahead_[id].push_back(std::move(moment));
    }

    void check() {
        for (NodeId id = 0; id < world_.num_nodes; id++) {
            std::vector<Moment> &moments = ahead_[id];
            for (Moment &moment : moments) look_for_missing(*world_.nodes[id], &moment);
            for (size_t i = 0; i < moments.size();) {
                if (!world_.nodes[id]->protocol.reached(&moments[i].mark)) {
                    i++;
                    continue;
                }
                check(id, moments[i]);
                moments.erase(moments.begin() + long(i));
                reached_++;
            }
        }
    }

private:
    struct Moment {
        Mark mark;
        std::vector<int64_t> added, owned; // per key: by this node's workers; the owner's value
        std::vector<bool> missing;         // workers intend to use it, and it was not here since
    };

    void look_for_missing(const Node &node, Moment *moment) {
        for (Key key = 0; key < world_.num_keys; key++)
            if (node.intents[key] == 0 || is_here(node.values, Operation::pull, key)) moment->missing[key] = false;
    }

    int64_t owned(Key key) {
        Node *owner = world_.owner(key);
        return owner ? number_at(owner->values, key) : world_.transferred[key];
    }

    void check(NodeId id, const Moment &moment) {
        Values &values = world_.nodes[id]->values;
        for (Key key = 0; key < world_.num_keys; key++) {
            REQUIRE(part_of(id, owned(key)) >= moment.added[key]);
            REQUIRE(!moment.missing[key]);
            if (values.standing(key) != Standing::replica) continue;
            for (NodeId other = 0; other < world_.num_nodes; other++)
                REQUIRE(part_of(other, number_at(values, key)) >= part_of(other, moment.owned[key]));
        }
    }

    World &world_;
    const bool all_come_; // keys that are wanted; else there may be no room, or another node has just taken one
    std::vector<std::vector<Moment>> ahead_; // by node
    long reached_ = 0;
};

} // namespace ps::interleavings
