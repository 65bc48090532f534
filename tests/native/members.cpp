// Who the members are, under random kills, stops and cut connections: nodes see each other's links break and come back,
// late or early; what they tell each other travels in order, takes any time, and is lost when a link breaks. Connections
// for messages about keys break with a killed node, and by themselves.
//
// Always: an epoch has the same members for all living nodes that it is in force for, and fewer than the one before. Two
// whose connection broke while both lived are not members together.
// In the end, when nothing happens any more: every living node has ended or has only living members, who say the same.
//
// members FIRST LAST: the seeds to run. A failure names its seed; a third word makes it show the steps.
#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <queue>
#include <random>
#include <string>

#include "membership/membership.h"
#include "require.h"

using namespace ps;

namespace {

constexpr double patience = 0.5, silence = 2.0; // seconds: of a node; until a link that carries nothing breaks

bool tracing;
long went_on, ended_by_minority, told; // that all of this was met

__attribute__((format(printf, 2, 3))) void trace(double now, const char *format, ...) {
    if (!tracing) return;
    std::printf("%7.3f ", now);
    va_list arguments;
    va_start(arguments, format);
    std::vprintf(format, arguments);
    va_end(arguments);
    std::printf("\n");
}

struct World;

struct Node : MembershipPort {
    World &world;
    const NodeId id;
    Membership membership;
    bool dead = false, stopped = false;
    std::vector<std::function<void()>> missed; // while it was stopped
    std::vector<NodeId> members;
    bool ended = false;
    double last = 0;

    Node(World &world, NodeId id, NodeId nodes, OnLoss on_loss)
        : world(world), id(id), membership(id, nodes, patience, on_loss, *this) {
        for (NodeId node = 0; node < nodes; node++) members.push_back(node);
    }
    void probe(NodeId node) override;
    void tell(NodeId node, const Alive &message) override;
    void tell(NodeId node, const Lost &message) override;
    void tell(NodeId node, const Vote &message) override;
    void end(NodeId node, Evidence evidence, NodeId by) override;
    void begin(uint32_t epoch, const std::vector<NodeId> &now) override;
    void run(const std::function<void()> &what); // now, or when it is not stopped any more
};

// One node's link to another.
struct Link {
    bool up = true;
    double quiet_since = -1; // nothing comes through; -1: it does
    uint64_t generation = 0; // what was sent over a former one is lost
    double busy_until = 0;   // messages stay in order
};

struct World {
    struct Event {
        double at;
        uint64_t number;
        std::function<void()> what;
        bool operator<(const Event &other) const {
            return at > other.at || (at == other.at && number > other.number);
        }
    };

    std::mt19937_64 random;
    double now = 0;
    uint64_t events = 0;
    std::priority_queue<Event> queue;
    NodeId count;
    std::vector<std::unique_ptr<Node>> nodes;
    std::map<std::pair<NodeId, NodeId>, Link> links;
    std::map<std::pair<NodeId, NodeId>, bool> cut;
    std::vector<std::pair<NodeId, NodeId>> broken; // connections
    std::map<uint32_t, std::map<std::vector<NodeId>, std::vector<NodeId>>> epochs; // members, for whom it is in force

    World(uint64_t seed, NodeId count, OnLoss on_loss) : random(seed), count(count) {
        for (NodeId id = 0; id < count; id++) nodes.push_back(std::make_unique<Node>(*this, id, count, on_loss));
        for (NodeId a = 0; a < count; a++)
            for (NodeId b = 0; b < count; b++)
                if (a != b) nodes[a]->membership.linked(b);
    }

    double draw(double most) { return std::uniform_real_distribution<double>(0, most)(random); }
    uint64_t pick(uint64_t below) { return random() % below; }
    void after(double seconds, std::function<void()> what) { queue.push({now + seconds, events++, std::move(what)}); }
    bool is_cut(NodeId a, NodeId b) { return cut[{std::min(a, b), std::max(a, b)}]; }
    bool passes(NodeId a, NodeId b) {
        return !is_cut(a, b) && !nodes[a]->dead && !nodes[b]->dead && !nodes[a]->stopped && !nodes[b]->stopped;
    }

    // After every change: links go quiet, break, come back.
    void look_at_links() {
        for (NodeId a = 0; a < count; a++)
            for (NodeId b = 0; b < count; b++)
                if (a != b && !nodes[a]->dead) look_at_link(a, b, links[{a, b}]);
    }

    void look_at_link(NodeId a, NodeId b, Link &link) {
        if (passes(a, b)) {
            link.quiet_since = -1;
            if (!link.up) after(draw(0.3), [this, a, b] { restore(a, b); });
        } else if (link.up && nodes[b]->dead && !is_cut(a, b)) {
            after(draw(0.1), [this, a, b] { sever(a, b); });
        } else if (link.up && link.quiet_since < 0) {
            double since = link.quiet_since = now;
            after(silence + draw(patience), [this, a, b, since] {
                if (links[{a, b}].quiet_since == since) sever(a, b);
            });
        }
    }

    void sever(NodeId a, NodeId b) {
        Link &link = links[{a, b}];
        if (!link.up || nodes[a]->dead) return;
        link.up = false;
        link.generation++;
        trace(now, "%d sees its link to %d break", a, b);
        nodes[a]->run([this, a, b] { nodes[a]->membership.unlinked(b, now); });
        after(0, [this] { look_at_links(); });
    }

    void restore(NodeId a, NodeId b) {
        Link &link = links[{a, b}];
        if (link.up || !passes(a, b)) return;
        link.up = true;
        trace(now, "%d has its link to %d again", a, b);
        nodes[a]->run([this, a, b] { nodes[a]->membership.linked(b); });
    }

    // A message goes over the sender's link; while nothing passes it waits, and is lost when the link breaks.
    void send(NodeId from, NodeId to, std::function<void()> deliver) {
        Link &link = links[{from, to}];
        if (!link.up) return;
        link.busy_until = std::max(now + draw(pick(10) ? 0.01 : 0.4), link.busy_until);
        travel(from, to, link.generation, link.busy_until - now, std::move(deliver));
    }
    void travel(NodeId from, NodeId to, uint64_t generation, double seconds, std::function<void()> deliver) {
        after(seconds, [=] {
            if (nodes[to]->dead || links[{from, to}].generation != generation) return;
            if (is_cut(from, to)) return travel(from, to, generation, 0.05, deliver);
            nodes[to]->run(deliver);
        });
    }

    void kill(NodeId node) {
        trace(now, "%d is killed", node);
        nodes[node]->dead = true;
        look_at_links();
        for (NodeId other = 0; other < count; other++)
            if (other != node && !is_cut(other, node)) after(draw(0.1), [=] { see_break(other, node); });
    }
    void see_break(NodeId a, NodeId b) {
        trace(now, "%d sees its connection to %d break", a, b);
        nodes[a]->run([=] { nodes[a]->membership.broken(b, now); });
    }
    void break_connection(NodeId a, NodeId b) { // one way: that is where messages are lost
        if (a == b || nodes[a]->dead || nodes[b]->dead) return;
        broken.emplace_back(a, b);
        after(draw(0.3), [=] { see_break(a, b); });
    }
    void stop(NodeId node, double seconds) {
        if (nodes[node]->dead || nodes[node]->stopped) return;
        trace(now, "%d is stopped", node);
        nodes[node]->stopped = true;
        look_at_links();
        after(seconds, [this, node] {
            Node &n = *nodes[node];
            trace(now, "%d goes on", node);
            n.stopped = false;
            look_at_links();
            n.membership.ask();
            auto missed = std::move(n.missed);
            n.missed.clear();
            for (auto &what : missed) n.run(what);
        });
    }
    void split(uint64_t side, double seconds) { // bits: who is on this side
        trace(now, "cut off: %llx", static_cast<unsigned long long>(side));
        set_cut(side, true);
        after(seconds, [this, side] {
            trace(now, "healed: %llx", static_cast<unsigned long long>(side));
            set_cut(side, false);
        });
    }
    void set_cut(uint64_t side, bool value) {
        for (NodeId a = 0; a < count; a++)
            for (NodeId b = NodeId(a + 1); b < count; b++)
                if ((side >> a & 1) != (side >> b & 1)) cut[{a, b}] = value;
        look_at_links();
    }
    void cut_pair(NodeId a, NodeId b, double seconds) {
        if (a == b) return;
        auto pair = std::make_pair(std::min(a, b), std::max(a, b));
        trace(now, "cut: %d - %d", a, b);
        cut[pair] = true;
        look_at_links();
        after(seconds, [this, pair] {
            cut[pair] = false;
            look_at_links();
        });
    }

    void run_until(double end) {
        for (;;) {
            Node *next = nullptr;
            for (auto &node : nodes)
                if (!node->dead && !node->stopped && (!next || node->membership.due() < next->membership.due()))
                    next = node.get();
            double due = next ? std::max(now, next->membership.due()) : never;
            double at = queue.empty() ? never : queue.top().at;
            if (std::min(due, at) > end) break;
            if (at <= due) {
                Event event = queue.top();
                queue.pop();
                now = event.at;
                event.what();
                continue;
            }
            now = due;
            next->membership.tick(now);
            REQUIRE(next->membership.due() > now); // it does not ask for the same time for ever
        }
        now = end;
    }

    void check_end() {
        for (auto &node : nodes) {
            if (node->dead || node->ended) continue;
            for (NodeId other : node->members) {
                Node &member = *nodes[other];
                REQUIRE(!member.dead && !member.ended);
                REQUIRE(member.membership.epoch() == node->membership.epoch());
                REQUIRE(member.members == node->members);
                for (auto pair : broken) REQUIRE(pair != std::make_pair(node->id, other));
            }
        }
    }
    long alive() const {
        return std::count_if(nodes.begin(), nodes.end(), [](const auto &node) { return !node->dead && !node->ended; });
    }
};

void Node::run(const std::function<void()> &what) {
    if (dead) return;
    if (stopped)
        missed.push_back(what);
    else
        what();
}

void Node::probe(NodeId node) {
    double seconds = world.draw(patience);
    world.after(seconds, [this, node] {
        bool refused = world.nodes[node]->dead && !world.is_cut(id, node);
        run([this, node, refused] { membership.probed(node, refused, world.now); });
    });
}

void Node::tell(NodeId node, const Alive &message) {
    uint32_t epoch = membership.epoch();
    world.send(id, node, [this, node, message, epoch] {
        world.nodes[node]->membership.receive(id, epoch, message, world.now);
    });
}

// The answer comes over the link of the one who asked.
void Node::tell(NodeId node, const Lost &message) {
    Link &link = world.links[{node, id}];
    uint32_t epoch = membership.epoch();
    if (link.up)
        world.travel(id, node, world.links[{id, node}].generation, world.draw(0.01), [this, node, message, epoch] {
            world.nodes[node]->membership.receive(id, epoch, message);
        });
}

void Node::tell(NodeId node, const Vote &message) {
    trace(world.now, "%d -> %d: phase %d, epoch %u, ballot %u of %d", id, node, int(message.phase), message.epoch,
          message.ballot.round, message.ballot.proposer);
    world.send(id, node, [this, node, message] { world.nodes[node]->membership.receive(id, message, world.now); });
}

void Node::end(NodeId node, Evidence evidence, NodeId by) {
    trace(world.now, "%d ends: lost %d, evidence %d, by %d", id, node, int(evidence), by);
    REQUIRE(!ended);
    ended = true;
    ended_by_minority += evidence == Evidence::minority;
    told += node == id;
}

void Node::begin(uint32_t epoch, const std::vector<NodeId> &now) {
    std::string text;
    for (NodeId node : now) text += " " + std::to_string(node);
    trace(world.now, "%d begins epoch %u:%s", id, epoch, text.c_str());
    REQUIRE(!ended && epoch == membership.epoch());
    REQUIRE(now.size() < members.size() && std::includes(members.begin(), members.end(), now.begin(), now.end()));
    REQUIRE(std::find(now.begin(), now.end(), id) != now.end());
    members = now;
    world.epochs[epoch][now].push_back(id);
    for (auto &[other, whom] : world.epochs[epoch])
        for (NodeId node : whom) REQUIRE(other == now || world.nodes[node]->dead);
    went_on++;
}

void run(uint64_t number) {
    seed = number;
    World world(seed, 1, OnLoss::go_on);
    auto count = NodeId(2 + world.pick(4));
    auto on_loss = world.pick(8) ? OnLoss::go_on : OnLoss::fail;
    World w(seed * 7919, count, on_loss);
    uint64_t disturbances = 1 + w.pick(4);
    for (uint64_t i = 0; i < disturbances; i++) {
        w.after(w.draw(w.pick(2) ? 12.0 : 1.0), [&w, count] {
            NodeId node = NodeId(w.pick(count));
            switch (w.pick(5)) {
            case 0: w.kill(node); break;
            case 1: w.stop(node, w.draw(8.0)); break;
            case 4: w.break_connection(node, NodeId(w.pick(count))); break;
            case 2: w.split(w.pick(uint64_t(1) << count), w.draw(8.0)); break;
            default: w.cut_pair(node, NodeId(w.pick(count)), w.draw(8.0));
            }
        });
    }
    w.run_until(60.0);
    w.check_end();
    bool any_dead = std::any_of(w.nodes.begin(), w.nodes.end(), [](const auto &node) { return node->dead; });
    if (on_loss == OnLoss::fail && any_dead) REQUIRE(w.alive() == 0);
}

// Each way, or only one: one of the two goes, or with OnLoss::fail everybody ends.
void check_broken_connections(NodeId count) {
    for (NodeId a = 0; a < count; a++) {
        for (NodeId b = 0; b < count; b++) {
            if (a == b) continue;
            for (bool both : {false, true}) {
                for (OnLoss on_loss : {OnLoss::go_on, OnLoss::fail}) {
                    World world(uint64_t(a * count + b + 1), count, on_loss);
                    world.break_connection(a, b);
                    if (both) world.break_connection(b, a);
                    world.run_until(5.0);
                    world.check_end();
                    REQUIRE(world.alive() == (on_loss == OnLoss::fail ? 0 : count - 1));
                    if (on_loss == OnLoss::fail) continue;
                    REQUIRE(world.nodes[a]->ended != world.nodes[b]->ended);
                }
            }
        }
    }
}

// One event, and who must go on.
void check_plain_losses() {
    for (NodeId count = 2; count <= 5; count++) {
        check_broken_connections(count);
        for (NodeId victim = 0; victim < count; victim++) {
            World killed(victim + 1, count, OnLoss::go_on);
            killed.kill(victim);
            killed.run_until(20.0);
            killed.check_end();
            REQUIRE(killed.alive() == count - 1);

            World stopped(victim + 1, count, OnLoss::go_on);
            stopped.stop(victim, 6.0);
            stopped.run_until(20.0);
            stopped.check_end();
            bool others_may = 2 * (count - 1) > count || victim != 0;
            REQUIRE(stopped.alive() == count - 1); // of two the one with the lowest, when it goes on
            REQUIRE(stopped.nodes[victim]->ended == others_may);
        }
        for (uint64_t side = 1; side + 1 < uint64_t(1) << count; side++) {
            World split(side, count, OnLoss::go_on);
            split.split(side, 10.0);
            split.run_until(30.0);
            split.check_end();
            auto here = NodeId(__builtin_popcountll(side));
            bool this_side = 2 * here > count || (2 * here == count && side & 1);
            for (NodeId node = 0; node < count; node++)
                REQUIRE(split.nodes[node]->ended != ((side >> node & 1) == this_side));
        }
    }
    World brief(1, 4, OnLoss::go_on);
    brief.stop(2, 1.5);
    brief.run_until(20.0);
    REQUIRE(brief.alive() == 4 && brief.epochs.empty());
}

} // namespace

int main(int count, char **arguments) {
    uint64_t first = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0;
    uint64_t last = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : first + 10'000;
    tracing = count > 3;
    check_plain_losses();
    went_on = ended_by_minority = told = 0;
    for (uint64_t number = first; number <= last; number++) run(number);
    if (last > first + 1000) REQUIRE(went_on > 0 && ended_by_minority > 0 && told > 0);
    std::printf("ok\n");
}
