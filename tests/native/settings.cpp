// Settings that nodes change under random orders of messages, of which some are lost, and while nodes are lost: in the
// end all nodes have the same, each the value of a change that was made; and a node that comes to a barrier after its
// change finds that all have it, or a later one, when the barrier is over for the first of them.
//
// settings FIRST LAST: the seeds to run. A failure names its seed.
#include <cstdio>
#include <functional>
#include <memory>
#include <vector>

#include "paths.h"
#include "protocol/agreed_settings.h"
#include "protocol/gate.h"
#include "seeds.h"

using namespace ps;

namespace {

constexpr uint32_t num_settings = 3;

struct World : Chance {
    struct Node : AgreedSettings::Port, Gate::Post {
        World &world;
        NodeId self;
        AgreedSettings agreed;
        Gate gate;
        std::vector<double> values = std::vector<double>(num_settings); // what this node uses
        uint64_t rounds = 0;
        bool lost = false, has_come = false; // to a barrier

        Node(World &owner, NodeId id, NodeId nodes)
            : world(owner), self(id), agreed(id, nodes, num_settings, *this), gate(id, nodes, *this) {}
        void adopt(const SettingChange &change) override { values[change.index] = change.value; }
        void send(NodeId to, const SettingNews &news) override {
            if (world.drops && world.draw(4) == 0) return;
            world.post(self, to, [=](Node &node) {
                node.agreed.receive(self, news);
                node.look();
            });
        }
        void send(NodeId to, const Attend &message) override {
            world.post(self, to, [=](Node &node) {
                node.look();
                node.gate.receive(self, message);
            });
        }
        void send(NodeId to, const Opened &message) override {
            world.post(self, to, [=](Node &node) { node.gate.receive(self, message); });
        }
        void look() { // as server/gates.h does
            if (gate.rounds() == rounds)
                gate.attend(has_come && agreed.are_known() ? Attendance::arrived : Attendance::away);
        }
    };

    std::vector<std::unique_ptr<Node>> nodes;
    Paths<std::function<void()>> paths;
    double last = 0; // each change has a value of its own
    // By setting: the changes that were made, in an order that fits to the barriers between them.
    std::vector<std::vector<double>> made = std::vector<std::vector<double>>(num_settings);
    bool any_lost = false, drops = false;

    explicit World(uint64_t number) : Chance(number) {
        NodeId count = NodeId(1 + number % 5);
        for (NodeId id = 0; id < count; id++) nodes.push_back(std::make_unique<Node>(*this, id, count));
    }

    void post(NodeId from, NodeId to, std::function<void(Node &)> letter) {
        REQUIRE(from != to);
        paths[{from, to}].push_back([=] {
            if (!nodes[to]->lost) letter(*nodes[to]);
        });
    }

    bool deliver() {
        auto *path = draw_path(paths, *this);
        if (!path) return false;
        take_first(path)();
        return true;
    }

    void change(Node &node) {
        SettingChanges changes;
        for (uint32_t index = 0; index < num_settings; index++) {
            if (draw(2)) continue;
            node.values[index] = ++last;
            changes.push_back({index, 0, last});
            made[index].push_back(last);
        }
        node.agreed.change(changes);
    }

    // All nodes hear of it, each at its own time, after what the lost one sent to it or before.
    void lose(NodeId lost) {
        any_lost = nodes[lost]->lost = true;
        for (auto &node : nodes) {
            if (node->lost) continue;
            auto &path = paths[{lost, node->self}];
            path.resize(draw(path.size() + 1));
            post(lost, node->self, [=](Node &to) {
                to.agreed.lose(lost);
                to.look();
                to.gate.lose(lost);
            });
        }
    }

    Node *living() {
        for (auto &node : nodes)
            if (!node->lost) return node.get();
        return nullptr;
    }

    void deliver_all() {
        bool any = true;
        for (int round = 0; any; round++) {
            REQUIRE(round < 1000);
            while (deliver()) continue;
            any = false;
            for (auto &node : nodes) {
                if (node->lost || node->agreed.are_known()) continue;
                node->agreed.repeat();
                any = true;
            }
        }
    }

    void require_agreement() {
        Node *first = living();
        for (auto &node : nodes) REQUIRE(node->lost || node->values == first->values);
        for (uint32_t index = 0; index < num_settings; index++) {
            bool was_made = first->values[index] == 0 && (made[index].empty() || any_lost);
            for (double value : made[index]) was_made |= value == first->values[index];
            REQUIRE(was_made);
        }
    }

    void require_everywhere(const std::vector<double> &wanted) {
        for (auto &node : nodes) REQUIRE(node->lost || node->values == wanted);
    }

    void come(Node &node) {
        node.has_come = true;
        node.look();
    }

    // The first node that passes finds that all have what was changed.
    bool pass(const std::vector<double> &wanted) {
        bool all = true;
        for (auto &node : nodes) {
            if (node->lost) continue;
            if (node->gate.rounds() > node->rounds) require_everywhere(wanted);
            all &= node->gate.rounds() > node->rounds;
        }
        return all;
    }

    // One node changes and comes; the others come without a change, before or after it. Meanwhile the host may be lost.
    void barrier(bool loses) {
        deliver_all();
        require_agreement();
        Node &changer = *nodes[draw(nodes.size())];
        if (changer.lost) return;
        for (auto &node : nodes)
            if (node.get() != &changer && !node->lost && draw(2)) come(*node);
        change(changer);
        const std::vector<double> wanted = changer.values;
        come(changer);
        for (auto &node : nodes)
            if (!node->lost) come(*node);
        for (int step = 0; !pass(wanted); step++) {
            if (loses && living() != &changer && draw(40) == 0) lose(living()->self);
            if (deliver()) continue;
            REQUIRE(step < 10'000);
            for (auto &node : nodes)
                if (!node->lost) node->agreed.repeat();
        }
        for (auto &node : nodes) {
            node->rounds = node->gate.rounds();
            node->has_come = false;
        }
    }

    void run() {
        const bool loses = draw(2);
        drops = draw(2);
        for (int step = 0; step < 100; step++) {
            Node &node = *nodes[draw(nodes.size())];
            switch (node.lost ? 3 : draw(5)) {
            case 0: change(node); break;
            case 1:
                if (loses && draw(20) == 0 && living() != nodes.back().get()) lose(living()->self);
                break;
            default: deliver();
            }
        }
        for (int round = 0; round < 5; round++) barrier(loses);
        deliver_all();
        require_agreement();
    }
};

} // namespace

int main(int count, char **arguments) {
    Seeds(count, arguments).for_each([](uint64_t seed) { World(seed).run(); });
    std::puts("ok");
}
