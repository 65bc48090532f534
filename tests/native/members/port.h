// What a node sees and tells, and what must hold when it begins an epoch or ends.
#pragma once

#include <algorithm>
#include <string>

#include "links.h"
#include "world.h"

namespace ps::members {

class Port : public MembershipPort {
public:
    Port(World &world, NodeId self) : world_(world), self_(self) {}

    void probe(NodeId node) override {
        world_.after(world_.draw_seconds(patience), [this, node] {
            bool refused = world_.nodes[node]->dead && !world_.is_cut(self_, node);
            self().run([this, node, refused] { self().membership.probed(node, refused, world_.now); });
        });
    }

    void tell(NodeId node, const Alive &message) override {
        world_.told++;
        uint32_t epoch = self().membership.epoch();
        send(world_, self_, node, [this, node, message, epoch] {
            world_.nodes[node]->membership.receive(self_, epoch, message, world_.now);
        });
    }

    void tell(NodeId node, const Join &message) override {
        send(world_, self_, node,
             [this, node, message] { world_.nodes[node]->membership.receive(self_, message, world_.now); });
    }

    void tell(NodeId node, const Introduction &message) override {
        const uint32_t epoch = self().membership.epoch();
        send(world_, self_, node,
             [this, node, epoch, message] { world_.nodes[node]->membership.receive(epoch, message); });
    }

    bool may_join() const override { return world_.draw(4) > 0; }

    // The answer comes over the link of the one who asked.
    void tell(NodeId node, const Lost &message) override {
        uint32_t epoch = self().membership.epoch();
        if (world_.links[{node, self_}].up)
            travel(world_, self_, node, world_.draw_seconds(0.01),
                   [this, node, message, epoch] { world_.nodes[node]->membership.receive(self_, epoch, message); });
    }

    void tell(NodeId node, const Vote &message) override {
        trace("%7.3f %d -> %d: phase %d, epoch %u, ballot %u of %d", world_.now, self_, node, int(message.phase),
              message.epoch, message.ballot.round, message.ballot.proposer);
        send(world_, self_, node,
             [this, node, message] { world_.nodes[node]->membership.receive(self_, message, world_.now); });
    }

    void end(NodeId node, Evidence evidence, NodeId by) override {
        trace("%7.3f %d ends: lost %d, evidence %d, by %d", world_.now, self_, node, int(evidence), by);
        REQUIRE(!self().ended);
        self().ended = true;
        world_.met.ended_by_minority += evidence == Evidence::minority;
        world_.met.told += node == self_;
    }

    void begin(uint32_t epoch, const std::vector<NodeId> &now) override {
        std::string text;
        for (NodeId node : now) text += " " + std::to_string(node);
        trace("%7.3f %d begins epoch %u:%s", world_.now, self_, epoch, text.c_str());
        std::vector<NodeId> &members = self().members;
        REQUIRE(!self().ended && epoch == self().membership.epoch());
        std::vector<NodeId> others;
        std::set_difference(now.begin(), now.end(), members.begin(), members.end(), std::back_inserter(others));
        world_.met.joined += self().is_member() ? 0 : 1;
        if (self().is_member() && epoch == self().epoch + 1) REQUIRE(others.size() <= 1 && now != members);
        self().epoch = epoch;
        REQUIRE(std::find(now.begin(), now.end(), self_) != now.end());
        members = now;
        world_.epochs[epoch][now].push_back(self_);
        for (auto &[other, whom] : world_.epochs[epoch])
            for (NodeId node : whom) REQUIRE(other == now || world_.nodes[node]->dead);
        world_.met.went_on++;
    }

private:
    Node &self() { return *world_.nodes[self_]; }

    World &world_;
    const NodeId self_;
};

inline std::unique_ptr<MembershipPort> make_port(World &world, NodeId self) {
    return std::make_unique<Port>(world, self);
}

} // namespace ps::members
