// The protocol when nodes are lost: as in interleavings.cpp, but now and then a node is killed, with a part of what it has
// sent, or cut off and goes on by itself. The others hear of the epoch without it one by one, their workers before their
// servers, and what is on its way belongs to whatever epoch its sender was in.
//
// Always: a key has at most one owner among the members. In the end: every operation was answered or given up, every key
// has one owner with each push that was acknowledged, once, or is lost for everybody; replicas equal the owner's value.
//
// losses FIRST LAST: the seeds to run. A failure names its seed; a third word makes it show the steps.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>

#include "membership/crossing.h"
#include "protocol/protocol.h"
#include "stores.h"

using namespace ps;

namespace {

bool tracing;
long keys_lost, keys_rehomed, taken_late, refused; // that all of this was met

template <class... Parts>
void trace(const char *format, Parts... parts) {
    if (!tracing) return;
    std::printf(format, parts...);
    std::printf("\n");
}

struct World;

enum class Kind { plain, brings_keys, crossing, anytime };

struct Letter {
    NodeId from;
    uint32_t epoch;
    Kind kind;
    std::function<void()> deliver;
};

class Mail : public Post {
public:
    Mail(World &world, NodeId self) : world_(world), self_(self) {}
    void send(NodeId to, Key key, const Request &message, bool from_home) override {
        post(to, Kind::plain, [=](Protocol &at) { at.receive(key, message, from_home); });
    }
    void send(NodeId to, Key key, const Want &message, bool from_home) override {
        trace("  %d -> %d: key %d, want %d", self_, to, int(key), int(message.number));
        post(to, Kind::plain, [=](Protocol &at) { at.receive({key}, message.node, {message.number}, from_home); });
    }
    void send(NodeId to, Key key, const Delta &message, bool from_home) override {
        trace("  %d -> %d: key %d, delta %d of %d, last %d", self_, to, int(key), int(message.sequence),
              int(message.number), int(message.last));
        post(to, Kind::plain, [=](Protocol &at) { at.receive(key, message, from_home); });
    }
    void send(NodeId to, Key key, const Refresh &message) override { single(to, key, message, "refresh"); }
    void send(NodeId to, Key key, const Ended &message) override { single(to, key, message, "ended"); }
    void send(NodeId to, Key key, const Gone &message) override { single(to, key, message, "gone"); }
    void send(NodeId to, Key key, const Localize &message) override {
        trace("  %d -> %d: key %d, localize", self_, to, int(key));
        post(to, Kind::plain, [=](Protocol &at) { at.receive({key}, message); });
    }
    void send(NodeId to, Key key, const Relocate &message) override {
        trace("  %d -> %d: key %d, relocate", self_, to, int(key));
        post(to, Kind::plain, [=](Protocol &at) { at.receive(std::vector<Key>{key}, message); });
    }
    void send(NodeId to, Key key, const Transfer &message) override;
    void send(NodeId to, Moves &&message) override;
    void send(NodeId to, Key key, const Holds &message) override {
        post(to, Kind::crossing, [=](Protocol &at) { at.receive(key, message); });
    }
    void answer(const Origin &origin, Key key, const Bytes &value, bool after_refresh) override;
    void refuse(const Origin &origin, Key key, NodeId lost_with) override;
    bool takes_refreshes(NodeId) const override { return true; }
    void landed(uint64_t waiter, Key key) override { answer(Origin{self_, 0, 0, waiter}, key, {}, false); }
    void gone(uint64_t waiter, Key key, NodeId lost_with) override { refuse(Origin{self_, 0, 0, waiter}, key, lost_with); }

    void post(NodeId to, Kind kind, std::function<void(Protocol &)> deliver);

private:
    template <class Message>
    void single(NodeId to, Key key, const Message &message, const char *name) {
        trace("  %d -> %d: key %d, %s", self_, to, int(key), name);
        post(to, Kind::plain, [=](Protocol &at) { at.receive(key, message); });
    }
    World &world_;
    NodeId self_;
};

struct Node {
    std::unique_ptr<NumberStore> store;
    Mail mail;
    Protocol protocol;
    Crossing crossing;
    uint32_t heard = 0;      // the epoch that its workers know
    bool dead = false, out = false; // out: no member, but it does not know
    std::deque<Letter> held;
    std::vector<int> intents;
    Node(World &world, NodeId self, NodeId nodes, uint64_t keys, Techniques techniques)
        : store(std::make_unique<NumberStore>(self, nodes, keys)), mail(world, self),
          protocol(self, nodes, keys, techniques, *store, mail), crossing(nodes), intents(keys) {}
};

struct Pending {
    uint64_t worker;
    Operation operation;
    Key key;
    int bit;
    uint32_t epoch;
};

struct World {
    std::mt19937_64 random;
    NodeId num_nodes;
    uint64_t num_keys;
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<NodeId> workers;              // their nodes
    std::vector<std::vector<bool>> intends;   // by worker
    std::map<std::pair<int, int>, std::deque<Letter>> paths; // nodes 0..; 1000 + worker; 2000: who decides
    std::map<uint64_t, Pending> pending;
    uint64_t last_operation = 0;
    std::vector<int> bits;                              // pushes to each key so far
    std::vector<std::map<int, uint64_t>> acknowledged;  // by key: bit, worker
    std::vector<bool> said_lost;
    std::vector<NodeId> members;
    uint32_t epoch = 0;
    int steps_left = 300, losses_left;

    explicit World(uint64_t seed) : random(seed) {
        num_nodes = NodeId(2 + draw(4));
        num_keys = 1 + draw(6);
        losses_left = int(draw(std::min<uint64_t>(3, num_nodes - 1)) + 1);
        auto techniques = Techniques(std::max<int>(0, int(draw(6)) - 3));
        for (NodeId id = 0; id < num_nodes; id++) {
            nodes.push_back(std::make_unique<Node>(*this, id, num_nodes, num_keys, techniques));
            members.push_back(id);
            for (uint64_t i = 0; i <= draw(2); i++) workers.push_back(id);
        }
        intends.assign(workers.size(), std::vector<bool>(num_keys));
        bits.resize(num_keys);
        acknowledged.resize(num_keys);
        said_lost.resize(num_keys);
        trace("%d nodes, %d keys", num_nodes, int(num_keys));
    }

    uint64_t draw(uint64_t below) { return random() % below; }
    Node &node_of(uint64_t worker) { return *nodes[workers[worker]]; }
    bool is_member(NodeId node) { return std::find(members.begin(), members.end(), node) != members.end(); }

    bool deliver() {
        std::vector<std::pair<const std::pair<int, int>, std::deque<Letter>> *> busy;
        for (auto &path : paths)
            if (!path.second.empty()) busy.push_back(&path);
        if (busy.empty()) return false;
        auto &[path, queue] = *busy[draw(busy.size())];
        Letter letter = std::move(queue.front());
        queue.pop_front();
        if (path.second < 1000 && path.first < 2000)
            arrive(NodeId(path.second), std::move(letter));
        else
            letter.deliver();
        return true;
    }

    void arrive(NodeId to, Letter letter) {
        Node &node = *nodes[to];
        if (node.dead) return;
        Crossing::Verdict verdict;
        if (letter.kind == Kind::crossing)
            verdict = node.crossing.judge_crossing(letter.from, letter.epoch);
        else if (letter.kind == Kind::anytime)
            verdict = node.crossing.judge(letter.from, node.crossing.epoch(), false);
        else
            verdict = node.crossing.judge(letter.from, letter.epoch, letter.kind == Kind::brings_keys);
        taken_late += verdict == Crossing::Verdict::take_late;
        switch (verdict) {
        case Crossing::Verdict::take:
        case Crossing::Verdict::take_late: letter.deliver(); break;
        case Crossing::Verdict::hold: node.held.push_back(std::move(letter)); break;
        case Crossing::Verdict::drop: break;
        }
    }

    void let_in(NodeId id) {
        std::deque<Letter> held = std::move(nodes[id]->held);
        nodes[id]->held.clear();
        for (Letter &letter : held) arrive(id, std::move(letter));
    }

    // A node is lost; the members hear of the epoch without it.
    void lose(NodeId lost) {
        losses_left--;
        members.erase(std::find(members.begin(), members.end(), lost));
        epoch++;
        bool killed = draw(2);
        trace("%d is lost, %s", lost, killed ? "killed" : "cut off");
        nodes[lost]->out = true;
        if (killed) {
            nodes[lost]->dead = true;
            for (auto &[path, queue] : paths) {
                bool its_worker = path.first >= 1000 && path.first < 2000 && workers[path.first - 1000] == lost;
                if (path.first == lost || its_worker) queue.resize(draw(queue.size() + 1));
            }
        }
        for (auto it = pending.begin(); it != pending.end();)
            it = killed && workers[it->second.worker] == lost ? pending.erase(it) : std::next(it);
        for (NodeId node : members) {
            uint32_t number = epoch;
            std::vector<NodeId> with = members;
            paths[{2000, node}].push_back({0, 0, Kind::plain, [=] { hear(node, number, with, lost); }});
        }
    }

    void hear(NodeId id, uint32_t number, const std::vector<NodeId> &with, NodeId lost) {
        Node &node = *nodes[id];
        if (node.dead || node.out) return;
        node.heard = number;
        for (auto it = pending.begin(); it != pending.end();) // its workers give up
            it = workers[it->second.worker] == id ? pending.erase(it) : std::next(it);
        paths[{2001, id}].push_back({0, 0, Kind::plain, [=] { adopt(id, number, with, lost); }});
    }

    void adopt(NodeId id, uint32_t number, const std::vector<NodeId> &with, NodeId lost) {
        Node &node = *nodes[id];
        if (node.dead || node.out) return;
        trace("%d begins epoch %u", id, number);
        node.crossing.begin(number, with);
        node.protocol.begin_epoch(with);
        for (NodeId other : with)
            if (other != id) node.mail.post(other, Kind::crossing, [=](Protocol &) { mark(other, id, lost); });
        let_in(id);
        mark(id, id, lost);
    }

    void mark(NodeId at, NodeId from, NodeId lost) {
        Node &node = *nodes[at];
        if (!node.crossing.mark(from)) return;
        node.protocol.report();
        for (NodeId other : members_of(at))
            if (other != at) node.mail.post(other, Kind::crossing, [=](Protocol &) { done(other, at, lost); });
        done(at, at, lost);
    }

    void done(NodeId at, NodeId from, NodeId lost) {
        Node &node = *nodes[at];
        if (!node.crossing.done(from)) return;
        trace("%d is settled", at);
        node.protocol.settle(lost);
        let_in(at);
    }

    std::vector<NodeId> members_of(NodeId at) { // as that node knows them: all epochs are known to the test
        return views[nodes[at]->crossing.epoch()];
    }
    std::map<uint32_t, std::vector<NodeId>> views;

    void act(uint64_t number) {
        Node &node = node_of(number);
        NodeId id = workers[number];
        if (node.dead) return;
        Key key = draw(num_keys);
        switch (draw(8)) {
        case 0: {
            uint64_t operation = start(number, Operation::localize, key, -1);
            paths[{1000 + int(number), id}].push_back({id, node.heard, Kind::plain, [=, &node] {
                                                           node.protocol.localize(std::vector<Key>{key}, operation);
                                                       }});
            return;
        }
        case 1:
        case 2: intend(number, key, !intends[number][key]); return;
        default: operate(number, key, Operation(draw(2)));
        }
    }

    void intend(uint64_t number, Key key, bool begin) {
        if (intends[number][key] == begin) return;
        intends[number][key] = begin;
        NodeId id = workers[number];
        Node &node = *nodes[id];
        paths[{1000 + int(number), id}].push_back({id, 0, Kind::anytime, [=, &node] {
                                                       node.intents[key] += begin ? 1 : -1;
                                                       if (begin && node.intents[key] == 1) node.protocol.want(key);
                                                       if (!begin && node.intents[key] == 0)
                                                           node.protocol.stop_wanting(key);
                                                   }});
    }

    uint64_t start(uint64_t worker, Operation operation, Key key, int bit) {
        pending[++last_operation] = {worker, operation, key, bit, node_of(worker).heard};
        return last_operation;
    }

    void operate(uint64_t number, Key key, Operation operation) {
        for (auto &[id, known] : pending)
            if (known.worker == number && known.key == key && known.operation != Operation::localize) return;
        int bit = -1;
        if (operation == Operation::push) {
            if (bits[key] >= 30) return;
            bit = bits[key]++;
        }
        Node &node = node_of(number);
        NodeId id = workers[number];
        int64_t operand = bit < 0 ? 0 : int64_t(1) << (2 * bit);
        Standing standing = node.store->standing(key);
        if (standing == Standing::owned || standing == Standing::shared || standing == Standing::replica) {
            Bytes value = bytes_of(operand);
            if (operation == Operation::pull) node.store->pull(key, &value);
            if (operation == Operation::push) node.store->push(key, value);
            finish({number, operation, key, bit, node.heard}, number_of(value));
            return;
        }
        uint64_t operation_id = start(number, operation, key, bit);
        trace("worker %d at %d starts %d on key %d", int(number), id, int(operation), int(key));
        Request request{operation, Origin{id, uint32_t(number), 0, operation_id},
                        operation == Operation::pull ? Bytes() : bytes_of(operand)};
        NodeId to = id;
        if (standing == Standing::absent) {
            to = node.store->seen_at(key);
            if (to == no_node) to = NodeId(key % num_nodes);
            if (draw(4) == 0) to = NodeId(draw(num_nodes));
        }
        const std::vector<NodeId> &view = views.count(node.heard) ? views[node.heard] : all();
        if (std::find(view.begin(), view.end(), to) == view.end()) to = HomeRule(num_nodes, view).home(key);
        Node &target = *nodes[to];
        paths[{1000 + int(number), to}].push_back(
            {id, node.heard, Kind::plain, [=, &target] { target.protocol.receive(key, request, false); }});
    }

    const std::vector<NodeId> &all() {
        if (!views.count(0))
            for (NodeId node = 0; node < num_nodes; node++) views[0].push_back(node);
        return views[0];
    }

    // What a worker reads has what it pushed, and nothing twice.
    void finish(const Pending &operation, int64_t value) {
        if (operation.operation == Operation::push) acknowledged[operation.key][operation.bit] = operation.worker;
        if (operation.operation == Operation::pull && !node_of(operation.worker).out)
            check_value(operation.key, value, operation.worker);
    }

    void check_value(Key key, int64_t value, int64_t worker) { // of this worker's pushes; -1: of all members' workers
        REQUIRE((value & 0x2aaaaaaaaaaaaaaa) == 0 && value >= 0);
        for (auto [bit, by] : acknowledged[key])
            if (worker < 0 ? !node_of(by).out : int64_t(by) == worker) REQUIRE(value >> (2 * bit) & 1);
        REQUIRE(value >> (2 * bits[key]) == 0);
    }

    void answer(uint64_t operation, const Bytes &value) {
        auto found = pending.find(operation);
        if (found == pending.end()) return; // it was given up
        finish(found->second, value.empty() ? 0 : number_of(value));
        pending.erase(operation);
    }
    void refuse(uint64_t operation, NodeId lost_with) {
        auto found = pending.find(operation);
        if (found == pending.end()) return;
        refused++;
        REQUIRE(lost_with < num_nodes && nodes[lost_with]->out);
        if (!node_of(found->second.worker).out) said_lost[found->second.key] = true;
        pending.erase(found);
    }

    void check_owners() {
        for (Key key = 0; key < num_keys; key++) {
            int owners = 0;
            for (NodeId node : members) owners += owns(node, key);
            REQUIRE(owners <= 1);
        }
    }
    bool owns(NodeId node, Key key) {
        Standing standing = nodes[node]->store->standing(key);
        return standing == Standing::owned || standing == Standing::shared;
    }

    void step() {
        uint64_t what = draw(20);
        if (what < 8 && steps_left > 0) {
            steps_left--;
            act(draw(workers.size()));
        } else if (what < 10) {
            exchange(NodeId(draw(num_nodes)));
        } else if (what == 10 && losses_left > 0 && steps_left < 250 && draw(10) == 0) {
            lose(members[draw(members.size())]);
            views[epoch] = members;
        } else {
            deliver();
        }
        check_owners();
    }
    void exchange(NodeId id) {
        Node &node = *nodes[id];
        if (!node.dead && node.crossing.is_settled()) node.protocol.exchange();
    }

    void settle() {
        for (auto it = pending.begin(); it != pending.end();)
            it = node_of(it->second.worker).out ? pending.erase(it) : std::next(it);
        for (int round = 0; round < 60; round++) {
            for (NodeId node : members) exchange(node);
            while (deliver()) check_owners();
        }
    }

    void check_end() {
        for (NodeId node : members) {
            REQUIRE(nodes[node]->crossing.epoch() == epoch && nodes[node]->crossing.is_settled());
            REQUIRE(nodes[node]->held.empty());
            REQUIRE(nodes[node]->protocol.is_quiet());
        }
        REQUIRE(pending.empty());
        for (Key key = 0; key < num_keys; key++) {
            Node *owner = nullptr;
            for (NodeId node : members)
                if (owns(node, key)) owner = nodes[node].get();
            int64_t value = 0;
            if (owner) {
                Bytes bytes;
                owner->store->pull(key, &bytes);
                value = number_of(bytes);
                check_value(key, value, -1);
                REQUIRE(!said_lost[key]);
                keys_rehomed += !is_member(NodeId(key % num_nodes));
            }
            keys_lost += !owner;
            for (NodeId node : members) {
                Standing standing = nodes[node]->store->standing(key);
                REQUIRE(standing != Standing::awaited);
                if (standing != Standing::replica) continue;
                REQUIRE(owner);
                Bytes bytes;
                nodes[node]->store->pull(key, &bytes);
                REQUIRE(number_of(bytes) == value);
            }
        }
    }

    void run() {
        all();
        while (steps_left > 0) step();
        settle();
        check_end();
        for (uint64_t worker = 0; worker < workers.size(); worker++) {
            if (node_of(worker).out) continue;
            for (Key key = 0; key < num_keys; key++) {
                operate(worker, key, Operation::pull);
                intend(worker, key, false);
            }
        }
        settle();
        check_end();
        for (Key key = 0; key < num_keys; key++) {
            bool owned = false;
            for (NodeId node : members) owned |= owns(node, key);
            REQUIRE(owned != said_lost[key]); // somebody has asked
        }
        for (NodeId node : members) REQUIRE(nodes[node]->protocol.remembers_nothing());
    }
};

void Mail::post(NodeId to, Kind kind, std::function<void(Protocol &)> deliver) {
    REQUIRE(to != self_);
    Node &target = *world_.nodes[to];
    world_.paths[{self_, to}].push_back(
        {self_, world_.nodes[self_]->crossing.epoch(), kind, [=, &target] { deliver(target.protocol); }});
}

void Mail::send(NodeId to, Key key, const Transfer &message) {
    trace("  %d -> %d: key %d", self_, to, int(key));
    Node &target = *world_.nodes[to];
    uint32_t epoch = world_.nodes[self_]->crossing.epoch();
    post(to, Kind::brings_keys, [=, &target](Protocol &at) {
        target.crossing.epoch() == epoch ? at.receive(key, message) : at.receive_late(key, message);
    });
}

void Mail::send(NodeId to, Moves &&message) {
    trace("  %d -> %d: %d keys, the first is %d", self_, to, int(message.keys.size()), int(message.keys[0]));
    Node &target = *world_.nodes[to];
    uint32_t epoch = world_.nodes[self_]->crossing.epoch();
    post(to, Kind::brings_keys, [=, &target](Protocol &at) {
        if (target.crossing.epoch() == epoch) {
            at.receive(message.keys, message.values.data());
            return;
        }
        for (size_t i = 0; i < message.keys.size(); i++) {
            const char *value = message.values.data() + 8 * i;
            at.receive_late(message.keys[i], Transfer{0, {}, {}, Bytes(value, value + 8)});
        }
    });
}

void Mail::answer(const Origin &origin, Key, const Bytes &value, bool after_refresh) {
    World &world = world_;
    uint64_t operation = origin.operation;
    auto deliver = [=, &world] { world.answer(operation, value); };
    int worker = 1000 + int(origin.worker);
    if (after_refresh)
        post(origin.node, Kind::plain, [=, &world](Protocol &) {
            world.paths[{origin.node, worker}].push_back({origin.node, 0, Kind::plain, deliver});
        });
    else
        world.paths[{self_, worker}].push_back({self_, 0, Kind::plain, deliver});
}

void Mail::refuse(const Origin &origin, Key, NodeId lost_with) {
    World &world = world_;
    uint64_t operation = origin.operation;
    world.paths[{self_, 1000 + int(origin.worker)}].push_back(
        {self_, 0, Kind::plain, [=, &world] { world.refuse(operation, lost_with); }});
}

} // namespace

int main(int count, char **arguments) {
    uint64_t first = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0;
    uint64_t last = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : first + 10'000;
    tracing = count > 3;
    for (seed = first; seed <= last; seed++) World(seed).run();
    if (last > first + 1000) REQUIRE(keys_lost > 0 && keys_rehomed > 0 && taken_late > 0 && refused > 0);
    std::printf("ok\n");
}
