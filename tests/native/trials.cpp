// Whether intents are acted on, found by trial: nodes whose clocks take so many seconds with it, and so many without.
#include <cstdio>
#include <deque>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <numeric>
#include <vector>

#include "protocol/intent_trials.h"
#include "seeds.h"

using namespace ps;

namespace {

// Seconds of a clock: of a node, where such a part of all nodes acts on intents.
using Clock = std::function<double(NodeId node, double acting)>;

struct Message {
    double at;
    NodeId from, to;
    TrialNote note;
};

class Cluster;

class Node : private IntentTrials::Port {
public:
    Node(Cluster &cluster, NodeId self, std::vector<NodeId> members, uint64_t told_ahead)
        : trials(self, std::move(members), *this), cluster_(cluster), self_(self), told_ahead_(told_ahead),
          told_(told_ahead, true) {}

    void go_on(double now, double seconds, double clock) {
        progress_ += seconds / clock;
        for (; progress_ >= 1; progress_--, all++, clocks++) {
            acted += trials.acts();
            told_.push_back(trials.acts());
            told_.pop_front();
        }
        trials.observe(now, clocks, told_ahead_, barriers);
    }
    bool has_effect() const { return told_.front(); } // of what it told some clocks ago

    IntentTrials trials;
    uint64_t clocks = 0, acted = 0, all = 0, barriers = 0;

private:
    void tell(NodeId to, const TrialNote &note) override;

    Cluster &cluster_;
    const NodeId self_;
    const uint64_t told_ahead_;
    std::deque<bool> told_;
    double progress_ = 0;
};

class Cluster {
public:
    Cluster(NodeId size, uint64_t told_ahead = 5) {
        std::vector<NodeId> members(size);
        std::iota(members.begin(), members.end(), 0);
        for (NodeId node : members) nodes.push_back(std::make_unique<Node>(*this, node, members, told_ahead));
    }

    // Returns the part of the clocks that advanced while intents were acted on.
    double run(double seconds, const Clock &clock) {
        for (auto &node : nodes) node->acted = node->all = 0;
        for (double end = now + seconds; now < end;) round(clock);
        return part();
    }
    double run(double seconds, double with, double without) { // of all nodes
        return run(seconds, [=](NodeId, double acting) { return acting * with + (1 - acting) * without; });
    }
    // So many times so many clocks of each node, a barrier, and a pause of so many seconds. Returns what run() does.
    double train(int epochs, uint64_t clocks, double pause, double with, double without) {
        for (auto &node : nodes) node->acted = node->all = 0;
        for (uint64_t until = clocks; epochs > 0; epochs--, until += clocks) {
            const Clock clock = [&](NodeId node, double acting) {
                return nodes[node]->all >= until ? 1e9 : acting * with + (1 - acting) * without;
            };
            for (bool any = true; any;) {
                round(clock);
                any = false;
                for (auto &node : nodes) any |= node->all < until;
            }
            for (auto &node : nodes) node->barriers++;
            for (double end = now + pause; now < end;) round(clock);
        }
        return part();
    }
    void send(const Message &message) { on_their_way.push_back(message); }
    bool agrees() const {
        for (auto &node : nodes)
            if (!node->trials.is_over() || node->trials.acts() != nodes[0]->trials.acts()) return false;
        return true;
    }

    std::vector<std::unique_ptr<Node>> nodes;
    double now = 100;
    std::deque<Message> on_their_way;
    uint64_t messages = 0;

private:
    void round(const Clock &clock) {
        now += 0.001;
        deliver();
        double acting = 0;
        for (auto &node : nodes) acting += node->has_effect() / double(nodes.size());
        for (NodeId i = 0; i < nodes.size(); i++) nodes[i]->go_on(now, 0.001, clock(i, acting));
    }
    double part() const {
        uint64_t acted = 0, all = 0;
        for (auto &node : nodes) acted += node->acted, all += node->all;
        return double(acted) / double(all);
    }
    void deliver() {
        for (; !on_their_way.empty() && on_their_way.front().at <= now; on_their_way.pop_front(), messages++) {
            const Message message = on_their_way.front();
            nodes[message.to]->trials.receive(now, message.from, message.note);
        }
    }
};

double delay = 0; // seconds of a message

void Node::tell(NodeId to, const TrialNote &note) { cluster_.send({cluster_.now + delay, self_, to, note}); }

// Some seconds for the first trial, then what was found is kept but for later trials.
void check_found(NodeId size, double with, double without, bool acts) {
    Cluster cluster(size);
    REQUIRE(cluster.nodes[0]->trials.acts());
    cluster.run(200 * (with + without) + 1, with, without);
    const double part = cluster.run(4000 * (with + without) + 20, with, without);
    REQUIRE(acts ? part > 0.85 : part < 0.15);
}

void check_found_by_any() {
    for (NodeId size : {1, 2, 5}) {
        for (double clock : {0.0004, 0.003, 0.05}) {
            check_found(size, clock, 0.8 * clock, false);
            check_found(size, 0.8 * clock, clock, true);
        }
        check_found(size, 0.003, 0.001, false);
        check_found(size, 0.001, 0.003, true);
        check_found(size, 0.003, 0.003, true); // without a clear reason nothing is changed
    }
}

void check_what_one_node_does() {
    Cluster early(1, 200); // as in programs that tell long before
    early.run(20, 0.001, 0.003);
    REQUIRE(early.run(60, 0.001, 0.003) > 0.85);
    Cluster late(1); // its workers evaluate now and then, which takes long
    for (int i = 0; i < 40; i++) {
        late.run(0.2, 0.002, 0.001);
        late.now += 5;
    }
    REQUIRE(late.run(20, 0.002, 0.001) < 0.15);
    Cluster changing(1); // first intents pay, then they do not
    REQUIRE(changing.run(60, 0.001, 0.002) > 0.85);
    changing.run(60, 0.002, 0.001);
    REQUIRE(changing.run(60, 0.002, 0.001) < 0.15);
    Cluster leaving(1); // one of its workers does
    leaving.run(0.02, 0.002, 0.001);
    leaving.nodes[0]->clocks /= 2;
    leaving.run(2, 0.002, 0.001);
    REQUIRE(!leaving.nodes[0]->trials.acts() && leaving.agrees());
}

// Intents take turns with what the others compute: only if all do without is it clear that this is faster.
void check_all_try_at_once() {
    Cluster cluster(4);
    const Clock clock = [](NodeId, double acting) { return acting == 0 ? 0.002 : 0.0025 + 0.0005 * (1 - acting); };
    cluster.run(10, clock);
    REQUIRE(cluster.run(60, clock) < 0.15);
    REQUIRE(cluster.messages < 3000);
}

// What keys did before has effects for long: the speed without intents grows for fifty clocks.
void check_waits_for_effects_to_end() {
    Cluster cluster(2);
    double settled = 0;
    const Clock clock = [&](NodeId, double acting) {
        settled = acting > 0 ? 0 : std::min(1.0, settled + 0.001 / 0.1 / 2);
        return acting > 0 ? 0.002 : 0.0035 - 0.002 * settled;
    };
    cluster.run(10, clock);
    REQUIRE(cluster.run(60, clock) < 0.15);
}

// A plain difference is found in two steps; a small one needs the third.
void check_a_plain_difference() {
    for (const double faster : {1.2, 2.0}) {
        Cluster cluster(2);
        double again = 0; // seconds
        for (bool has_stopped = false; !has_stopped || !cluster.agrees();) {
            cluster.run(0.001, 0.002, 0.002 / faster);
            const bool acts = cluster.nodes[0]->trials.acts();
            again += has_stopped && acts ? 0.001 : 0;
            has_stopped |= !acts;
        }
        REQUIRE((again < 0.025) == (faster > 1.5)); // while nodes are asked they act as before
    }
}

// The mean decides, of those whose clocks move; and which of them leads does not matter.
void check_different_nodes() {
    for (const bool most_gain : {false, true}) {
        Cluster cluster(4);
        const Clock clock = [=](NodeId node, double acting) {
            if (node == 0) return 1e9; // it only stores
            return (node == 3) == most_gain ? 0.002 : 0.002 + 0.0006 * (most_gain ? 1 - acting : acting);
        };
        cluster.run(20, clock);
        const double part = cluster.run(60, clock);
        REQUIRE(most_gain ? part > 0.85 : part < 0.15);
    }
}

// Blocks of ten clocks have the pause after an epoch or not; some pauses are longer than twenty clocks without intents
// and not so long with them.
void check_programs_that_evaluate(Chance &chance) {
    const uint64_t clocks = 5 + chance.draw(36);
    const double pause = 0.01 * double(5 + chance.draw(46));
    Cluster cluster(4);
    cluster.train(100, clocks, pause, 0.02, 0.015);
    REQUIRE(cluster.train(200, clocks, pause, 0.02, 0.015) < 0.15);
}

// One of two nodes evaluates just when the last step begins to count: it knows from the first how long its clocks take.
void check_a_pause_as_a_step_begins() {
    Cluster cluster(2);
    Node &evaluates = *cluster.nodes[1];
    uint64_t again = 0; // its clocks when the last step begins
    double until = 0;
    const Clock clock = [&](NodeId node, double acting) {
        return node == 1 && cluster.now < until ? 1e9 : 0.018 - 0.001 * acting;
    };
    for (bool has_stopped = false; !has_stopped || !cluster.agrees();) {
        cluster.run(0.001, clock);
        has_stopped |= !evaluates.trials.acts();
        if (again == 0 && has_stopped && evaluates.trials.acts()) again = evaluates.clocks;
        if (again > 0 && evaluates.clocks == again + 6 && until == 0) { // clocks that do not count
            until = cluster.now + 0.15;
            evaluates.barriers++;
        }
    }
    REQUIRE(until > 0 && evaluates.trials.acts());
}

void check_programs_that_become_slower() {
    Cluster slower(2); // all meet after each clock; during a trial these begin to take longer, as if all were pauses
    slower.train(20, 1, 0, 0.01, 0.01);
    slower.train(200, 1, 0, 0.03, 0.03);
    REQUIRE(slower.agrees());
}

// The node that leads goes, and then the workers of all but one: the others go on.
void check_leaders_go() {
    Cluster cluster(3);
    cluster.run(0.04, 0.002, 0.001);
    REQUIRE(!cluster.agrees());
    auto gone = std::move(cluster.nodes[0]);
    cluster.nodes[0] = std::make_unique<Node>(cluster, NodeId(0), std::vector<NodeId>{0}, 5);
    cluster.on_their_way.clear();
    for (NodeId node : {1, 2}) cluster.nodes[node]->trials.begin_epoch({1, 2});
    cluster.run(2, 0.002, 0.001);
    for (NodeId node : {1, 2}) REQUIRE(!cluster.nodes[node]->trials.acts());

    Cluster idle(2);
    idle.run(0.02, 0.002, 0.001);
    REQUIRE(!idle.agrees());
    const Clock only_last = [](NodeId node, double acting) { return node == 0 ? 1e9 : 0.002 - 0.001 * (1 - acting); };
    idle.run(30, only_last);
    REQUIRE(idle.run(30, only_last) < 0.15);

    Cluster silent(2); // nothing comes from the node that leads, but no epoch begins
    while (silent.nodes[1]->trials.acts()) silent.run(0.001, 0.002, 0.001);
    for (int i = 0; i < 32; i++) {
        silent.nodes[1]->go_on(silent.now += 1, 1, 0.002);
        silent.on_their_way.clear();
    }
    REQUIRE(silent.nodes[1]->trials.acts());
}

} // namespace

int main(int count, char **arguments) {
    void (*const checks[])() = {check_found_by_any,
                                check_what_one_node_does,
                                check_all_try_at_once,
                                check_waits_for_effects_to_end,
                                check_different_nodes,
                                check_leaders_go,
                                check_a_plain_difference,
                                check_programs_that_become_slower,
                                check_a_pause_as_a_step_begins};
    Seeds(count, arguments).for_each([&](uint64_t seed) {
        Chance chance(seed);
        delay = 0.0001 * double(1 + chance.draw(40));
        const size_t number = seed % (std::size(checks) + 1);
        number < std::size(checks) ? checks[number]() : check_programs_that_evaluate(chance);
    });
    std::printf("ok\n");
}
