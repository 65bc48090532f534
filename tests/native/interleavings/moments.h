// Moments of nodes, marked now and then: what has been exchanged since one has all that the node added before, and
// brought all that others had then.
#pragma once

#include <vector>

#include "workers.h"
#include "world.h"

namespace ps::interleavings {

class Moments {
public:
    explicit Moments(World &world) : world_(world), ahead_(world.num_nodes) {}

    long reached() const { return reached_; }
    bool are_all_reached() const {
        for (auto &moments : ahead_)
            if (!moments.empty()) return false;
        return true;
    }

    void mark(NodeId id) {
        if (world_.sets || ahead_[id].size() > 3) return;
        Moment moment{world_.nodes[id]->protocol.mark(), {}, {}};
        for (Key key = 0; key < world_.num_keys; key++) {
            int64_t added = 0;
            for (Worker &worker : world_.workers)
                if (worker.node == id) added += worker.added[key];
            moment.added.push_back(part_of(id, added));
            moment.owned.push_back(owned(key));
        }
        ahead_[id].push_back(std::move(moment));
    }

    void check() {
        for (NodeId id = 0; id < world_.num_nodes; id++) {
            std::vector<Moment> &moments = ahead_[id];
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
    };

    int64_t owned(Key key) {
        Node *owner = world_.owner(key);
        return owner ? number_at(owner->values, key) : world_.transferred[key];
    }

    void check(NodeId id, const Moment &moment) {
        Values &values = world_.nodes[id]->values;
        for (Key key = 0; key < world_.num_keys; key++) {
            REQUIRE(part_of(id, owned(key)) >= moment.added[key]);
            if (values.standing(key) != Standing::replica) continue;
            for (NodeId other = 0; other < world_.num_nodes; other++)
                REQUIRE(part_of(other, number_at(values, key)) >= part_of(other, moment.owned[key]));
        }
    }

    World &world_;
    std::vector<std::vector<Moment>> ahead_; // by node
    long reached_ = 0;
};

} // namespace ps::interleavings
