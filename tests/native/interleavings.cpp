// The protocol under random orders of everything: messages between pairs of nodes and workers are delivered in their
// order, but which pair is next, and what workers do meanwhile, is drawn. After each step: every key is at one place.
// What has been exchanged since a moment has all that this node added before, and brought all that others had then.
// In the end: all operations were answered, sums are exact, replicas equal the owner's value, nothing is left over.
//
// interleavings FIRST LAST plain|memory: the seeds to run, with what kind of values. A failure names its seed; a fourth
// word makes it show the steps.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <tuple>

#include "stores.h"
#include "protocol/protocol.h"

using namespace ps;

namespace {

bool in_memory, tracing;
long moments_reached;

template <class... Parts>
void trace(const char *format, Parts... parts) {
    if (!tracing) return;
    std::printf(format, parts...);
    std::printf("\n");
}

struct World;

class Mail : public Post {
public:
    Mail(World &world, NodeId self) : world_(world), self_(self) {}
    void send(NodeId to, Key key, const Request &message, bool from_home) override {
        to_owner(to, key, message, from_home);
    }
    void send(NodeId to, Key key, const Want &message, bool from_home) override;
    void send(NodeId to, Key key, const Delta &message, bool from_home) override {
        to_owner(to, key, message, from_home);
    }
    void send(NodeId to, Key key, const Refresh &message) override { plain(to, key, message, "refresh"); }
    void send(NodeId to, Key key, const Ended &message) override { plain(to, key, message, "ended"); }
    void send(NodeId to, Key key, const Localize &message) override;
    void send(NodeId to, Key key, const Relocate &message) override;
    void send(NodeId to, Key key, const Transfer &message) override;
    void send(NodeId to, Moves &&message) override;
    bool takes_refreshes(NodeId to) const override;
    void answer(const Origin &origin, Key key, const Bytes &value, bool after_refresh) override;
    void landed(uint64_t waiter, Key key) override;
    void send(NodeId, Key, const Holds &) override { REQUIRE(!"nobody was lost"); }
    void send(NodeId, Key, const Gone &) override { REQUIRE(!"nobody was lost"); }
    void refuse(const Origin &, Key, NodeId) override { REQUIRE(!"nobody was lost"); }
    void gone(uint64_t, Key, NodeId) override { REQUIRE(!"nobody was lost"); }

private:
    template <class Message>
    void to_owner(NodeId to, Key key, const Message &message, bool from_home);
    template <class Message>
    void plain(NodeId to, Key key, const Message &message, const char *name);
    template <class Deliver>
    void in_run(NodeId to, Key key, uint64_t number, const std::tuple<int, int, bool> &alike, Deliver &&deliver);
    World &world_;
    NodeId self_;
};

// Messages about several keys, which are alike in what the tuple says.
struct Run {
    std::tuple<int, int, bool> alike{-1, -1, false};
    std::vector<Key> keys;
    std::vector<uint64_t> numbers;
};

struct Letter {
    std::function<void()> deliver;
    std::shared_ptr<Run> run; // or null
};

// A worker: operations that wait for their answers, never two on one key; what it added, and what it read last.
struct Worker {
    NodeId node;
    struct Pending {
        Operation operation;
        int64_t number;
    };
    std::map<Key, Pending> pending;
    std::map<Key, int> localizing;
    std::vector<int64_t> added, read;
    std::vector<bool> intends;
};

struct Node {
    Store store;
    Values &values;
    Mail mail;
    Protocol protocol;
    std::vector<int> intents; // of its workers, per key
    struct Moment {
        Mark mark;
        std::vector<int64_t> added, owned; // per key: by this node's workers; the owner's value
    };
    std::vector<Moment> moments;
    Node(World &world, NodeId self, NodeId nodes, uint64_t keys, Techniques techniques)
        : store(in_memory ? make_store<MemoryStore>(self, nodes, keys) : make_store<NumberStore>(self, nodes, keys)),
          values(*store.values), mail(world, self), protocol(self, nodes, keys, techniques, values, mail),
          intents(keys) {}
};

struct World {
    std::mt19937_64 random;
    NodeId num_nodes;
    uint64_t num_keys;
    bool sets; // then each key has one worker that writes, and its value is what that one made it last
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<Worker> workers;
    std::map<std::pair<int, int>, std::deque<Letter>> paths; // nodes 0..; workers 1000..
    std::vector<int64_t> total;                // what was pushed
    std::vector<std::vector<int64_t>> history; // with sets: all values that the key has had
    std::vector<int> in_transfer;
    std::vector<int64_t> transferred; // the value in it
    Techniques techniques;
    int steps_left = 400;
    bool is_settling = false;

    explicit World(uint64_t seed) : random(seed) {
        num_nodes = NodeId(1 + draw(5));
        num_keys = 1 + draw(4);
        sets = draw(4) == 0;
        techniques = Techniques(std::max<int>(0, int(draw(6)) - 3));
        for (NodeId id = 0; id < num_nodes; id++)
            nodes.push_back(std::make_unique<Node>(*this, id, num_nodes, num_keys, techniques));
        for (NodeId id = 0; id < num_nodes; id++)
            for (uint64_t i = 0; i <= draw(2); i++) {
                Worker worker;
                worker.node = id;
                worker.added.resize(num_keys);
                worker.read.resize(num_keys);
                worker.intends.resize(num_keys);
                workers.push_back(std::move(worker));
            }
        total.resize(num_keys);
        history.assign(num_keys, {0});
        in_transfer.resize(num_keys);
        transferred.resize(num_keys);
        trace("%d nodes, %d keys, %d workers, techniques %d", num_nodes, int(num_keys), int(workers.size()),
              int(techniques));
    }

    uint64_t draw(uint64_t below) { return random() % below; }

    // Without sets, what the workers of a node added to a value has its own digits.
    static constexpr int digits = 12;
    static int64_t part_of(NodeId node, int64_t number) { return number >> (digits * node) & ((1 << digits) - 1); }

    int64_t owned(Key key) {
        for (auto &node : nodes) {
            Standing standing = node->values.standing(key);
            if (standing == Standing::owned || standing == Standing::shared) return number_at(*node, key);
        }
        return transferred[key];
    }

    void mark(Node &node, NodeId id) {
        if (sets || node.moments.size() > 3) return;
        Node::Moment moment{node.protocol.mark(), {}, {}};
        for (Key key = 0; key < num_keys; key++) {
            int64_t added = 0;
            for (Worker &worker : workers)
                if (worker.node == id) added += worker.added[key];
            moment.added.push_back(part_of(id, added));
            moment.owned.push_back(owned(key));
        }
        node.moments.push_back(std::move(moment));
    }

    void check_moments() {
        for (NodeId id = 0; id < num_nodes; id++) {
            Node &node = *nodes[id];
            for (size_t i = 0; i < node.moments.size();) {
                Node::Moment &moment = node.moments[i];
                if (!node.protocol.reached(&moment.mark)) {
                    i++;
                    continue;
                }
                for (Key key = 0; key < num_keys; key++) {
                    REQUIRE(part_of(id, owned(key)) >= moment.added[key]);
                    if (node.values.standing(key) != Standing::replica) continue;
                    for (NodeId other = 0; other < num_nodes; other++)
                        REQUIRE(part_of(other, number_at(node, key)) >= part_of(other, moment.owned[key]));
                }
                node.moments.erase(node.moments.begin() + long(i));
                moments_reached++;
            }
        }
    }

    void post(int from, int to, std::function<void()> deliver, std::shared_ptr<Run> run = nullptr) {
        paths[{from, to}].push_back({std::move(deliver), std::move(run)});
    }

    bool deliver() {
        std::vector<std::deque<Letter> *> busy;
        for (auto &[path, queue] : paths)
            if (!queue.empty()) busy.push_back(&queue);
        if (busy.empty()) return false;
        auto &queue = *busy[draw(busy.size())];
        Letter letter = std::move(queue.front());
        queue.pop_front();
        letter.deliver();
        return true;
    }

    void act(uint64_t number) {
        Worker &worker = workers[number];
        Key key = draw(num_keys);
        switch (draw(8)) {
        case 0:
            localize(worker, number, key);
            return;
        case 1:
        case 2: intend(worker, key, !worker.intends[key]); return;
        default: operate(number, key);
        }
    }

    // Several keys at once, some of them twice.
    void localize(Worker &worker, uint64_t number, Key key) {
        std::vector<Key> keys{key};
        while (draw(2)) keys.push_back(draw(num_keys));
        for (Key k : keys) {
            worker.localizing[k]++;
            trace("worker %d at %d localizes %d", int(number), worker.node, int(k));
        }
        nodes[worker.node]->protocol.localize(keys, number);
    }

    void intend(Worker &worker, Key key, bool begin) {
        Node &node = *nodes[worker.node];
        if (worker.intends[key] == begin) return;
        worker.intends[key] = begin;
        node.intents[key] += begin ? 1 : -1;
        trace("a worker at %d %s %d", worker.node, begin ? "wants" : "stops wanting", int(key));
        if (begin && node.intents[key] == 1) node.protocol.want(std::vector<Key>{key});
        if (!begin && node.intents[key] == 0) node.protocol.stop_wanting(std::vector<Key>{key});
    }

    void operate(uint64_t number, Key key) {
        Worker &worker = workers[number];
        if (worker.pending.count(key)) return;
        Node &node = *nodes[worker.node];
        bool writes = !sets || key % workers.size() == number;
        auto operation = writes ? Operation(draw(sets ? 3 : 2)) : Operation::pull;
        int64_t operand = int64_t(draw(1'000'000));
        if (operation == Operation::push) operand = (1 + operand % 9) << (sets ? 0 : digits * worker.node);
        Standing standing = node.values.standing(key);
        trace("worker %d at %d: %s %d, standing %d", int(number), worker.node,
              operation == Operation::pull ? "pull" : operation == Operation::push ? "push" : "set", int(key),
              int(standing));
        bool reachable = standing == Standing::owned || standing == Standing::shared ||
                         (standing == Standing::replica && operation != Operation::set);
        if (operation == Operation::push) total[key] += operand;
        if (operation == Operation::set) total[key] = operand;
        if (sets && operation != Operation::pull) history[key].push_back(total[key]);
        if (reachable) {
            Bytes value = bytes_of(operand);
            if (operation == Operation::pull) node.values.pull(key, &value);
            if (operation == Operation::push) node.values.push(key, value);
            if (operation == Operation::set) node.values.set(key, value);
            finish(worker, key, {operation, operand}, number_of(value));
            return;
        }
        worker.pending[key] = {operation, operand};
        Origin origin{worker.node, uint32_t(number), 0, 0};
        Request request{operation, origin, operation == Operation::pull ? Bytes() : bytes_of(operand)};
        NodeId to = worker.node; // of an absent key: where it was seen last, which may be anywhere, or its home
        if (standing == Standing::absent) {
            to = node.store.seen_at(key);
            if (to == no_node) to = NodeId(key % num_nodes);
            if (draw(4) == 0) to = NodeId(draw(num_nodes));
        }
        post(1000 + int(number), to, [=] { nodes[to]->protocol.receive(key, request, false); });
    }

    // Reads never go back, and have all that the worker wrote.
    void finish(Worker &worker, Key key, Worker::Pending pending, int64_t number) {
        trace("a worker at %d finished: key %d, number %d", worker.node, int(key), int(number));
        if (pending.operation == Operation::push) worker.added[key] += pending.number;
        if (pending.operation != Operation::pull) return;
        if (sets) {
            std::vector<int64_t> &values = history[key];
            bool is_writer = &worker == &workers[key % workers.size()];
            auto from = is_writer ? values.end() - 1 : values.begin() + worker.read[key];
            auto found = std::find(from, values.end(), number);
            REQUIRE(found != values.end());
            worker.read[key] = found - values.begin();
        } else {
            REQUIRE(number >= worker.read[key]);
            REQUIRE(number >= worker.added[key]);
            worker.read[key] = number;
        }
    }

    void check_places() {
        for (Key key = 0; key < num_keys; key++) {
            int places = in_transfer[key];
            for (auto &node : nodes) {
                Standing standing = node->values.standing(key);
                places += standing == Standing::owned || standing == Standing::shared;
            }
            REQUIRE(places == 1);
        }
    }

    void step() {
        uint64_t what = draw(10);
        if (what < 4 && steps_left > 0) {
            steps_left--;
            act(draw(workers.size()));
        } else if (what == 4) {
            NodeId node = NodeId(draw(num_nodes));
            trace("exchange at %d", node);
            nodes[node]->protocol.exchange();
            if (draw(4) == 0) mark(*nodes[node], node);
        } else {
            deliver();
        }
        check_places();
        check_moments();
    }

    bool is_quiet() {
        for (auto &[path, queue] : paths)
            if (!queue.empty()) return false;
        for (auto &node : nodes)
            if (!node->protocol.is_quiet()) return false;
        return true;
    }

    int64_t number_at(Node &node, Key key) {
        Bytes value;
        node.values.pull(key, &value);
        return number_of(value);
    }

    void settle() {
        is_settling = true;
        for (int round = 0; round < 200; round++) {
            for (auto &node : nodes) node->protocol.exchange();
            while (deliver()) {
                check_places();
                check_moments();
            }
            check_moments();
            if (round > 5 && is_quiet()) return;
        }
        REQUIRE(!"it becomes quiet");
    }

    void check_end() {
        for (auto &node : nodes) REQUIRE(node->moments.empty());
        for (Worker &worker : workers) {
            REQUIRE(worker.pending.empty());
            for (auto &[key, count] : worker.localizing) REQUIRE(count == 0);
        }
        for (Key key = 0; key < num_keys; key++) {
            int64_t owned = 0;
            for (auto &node : nodes) {
                Standing standing = node->values.standing(key);
                bool owns = standing == Standing::owned || standing == Standing::shared;
                if (owns) owned = number_at(*node, key);
            }
            REQUIRE(owned == total[key]);
            for (auto &node : nodes)
                if (node->values.standing(key) == Standing::replica) REQUIRE(number_at(*node, key) == owned);
            for (auto &node : nodes) REQUIRE(node->values.standing(key) != Standing::awaited);
        }
    }

    // A key that only one node intends to use is there.
    void check_only_wanters() {
        if (techniques != Techniques::all) return;
        for (Key key = 0; key < num_keys; key++) {
            Node *only = nullptr;
            int wanters = 0;
            for (auto &node : nodes)
                if (node->intents[key] > 0) wanters++, only = node.get();
            if (wanters == 1) REQUIRE(only->values.standing(key) == Standing::owned);
        }
    }

    void run() {
        while (steps_left > 0) step();
        settle();
        check_end();
        check_only_wanters();
        for (Worker &worker : workers)
            for (Key key = 0; key < num_keys; key++) intend(worker, key, false);
        settle();
        check_end();
        for (auto &node : nodes) {
            REQUIRE(node->protocol.remembers_nothing());
            for (Key key = 0; key < num_keys; key++) {
                Standing standing = node->values.standing(key);
                REQUIRE(standing == Standing::owned || standing == Standing::absent);
            }
        }
    }
};

template <class Message>
void Mail::to_owner(NodeId to, Key key, const Message &message, bool from_home) {
    REQUIRE(to != self_);
    trace("  %d -> %d: key %d, request, want or delta%s", self_, to, int(key), from_home ? ", from home" : "");
    World &world = world_;
    world.post(self_, to, [=, &world] { world.nodes[to]->protocol.receive(key, message, from_home); });
}

template <class Message>
void Mail::plain(NodeId to, Key key, const Message &message, const char *name) {
    REQUIRE(to != self_);
    trace("  %d -> %d: key %d, %s", self_, to, int(key), name);
    World &world = world_;
    world.post(self_, to, [=, &world] { world.nodes[to]->protocol.receive(key, message); });
}

void Mail::send(NodeId to, Key key, const Transfer &message) {
    REQUIRE(to != self_);
    trace("  %d -> %d: key %d, transfer", self_, to, int(key));
    World &world = world_;
    world.in_transfer[key]++;
    world.transferred[key] = number_of(message.value);
    world.post(self_, to, [=, &world] {
        world.in_transfer[key]--;
        world.nodes[to]->protocol.receive(key, message);
    });
}

// What follows each other on a path and is alike may be one message.
template <class Deliver>
void Mail::in_run(NodeId to, Key key, uint64_t number, const std::tuple<int, int, bool> &alike, Deliver &&deliver) {
    REQUIRE(to != self_);
    trace("  %d -> %d: key %d, message %d in a run", self_, to, int(key), std::get<0>(alike));
    std::deque<Letter> &queue = world_.paths[{self_, to}];
    std::shared_ptr<Run> run = queue.empty() ? nullptr : queue.back().run;
    if (!run || run->alike != alike || world_.draw(4) == 0) {
        run = std::make_shared<Run>();
        run->alike = alike;
        Protocol &protocol = world_.nodes[to]->protocol;
        world_.post(self_, to, [=, &protocol] { deliver(protocol, *run); }, run);
    }
    run->keys.push_back(key);
    run->numbers.push_back(number);
}

void Mail::send(NodeId to, Key key, const Localize &message) {
    in_run(to, key, 0, {0, message.to, false},
           [=](Protocol &protocol, const Run &run) { protocol.receive(run.keys, message); });
}

void Mail::send(NodeId to, Key key, const Relocate &message) {
    in_run(to, key, 0, {1, message.to, false},
           [=](Protocol &protocol, const Run &run) { protocol.receive(run.keys, message); });
}

void Mail::send(NodeId to, Key key, const Want &message, bool from_home) {
    in_run(to, key, message.number, {2, message.node, from_home}, [=](Protocol &protocol, const Run &run) {
        protocol.receive(run.keys, message.node, std::vector<uint32_t>(run.numbers.begin(), run.numbers.end()),
                         from_home);
    });
}

void Mail::send(NodeId to, Moves &&message) {
    REQUIRE(to != self_ && !message.keys.empty() && message.values.size() == 8 * message.keys.size());
    trace("  %d -> %d: %d keys move, the first is %d", self_, to, int(message.keys.size()), int(message.keys[0]));
    World &world = world_;
    for (size_t i = 0; i < message.keys.size(); i++) {
        world.in_transfer[message.keys[i]]++;
        const char *value = &message.values[8 * i];
        world.transferred[message.keys[i]] = number_of(Bytes(value, value + 8));
    }
    auto moves = std::make_shared<Moves>(std::move(message));
    world.post(self_, to, [=, &world] {
        for (Key key : moves->keys) world.in_transfer[key]--;
        world.nodes[to]->protocol.receive(moves->keys, moves->values.data());
    });
}

void Mail::answer(const Origin &origin, Key key, const Bytes &value, bool after_refresh) {
    World &world = world_;
    auto deliver = [=, &world] {
        Worker &worker = world.workers[origin.worker];
        REQUIRE(worker.pending.count(key) == 1);
        Worker::Pending pending = worker.pending[key];
        worker.pending.erase(key);
        world.finish(worker, key, pending, value.empty() ? 0 : number_of(value));
    };
    int worker = 1000 + int(origin.worker);
    int self = self_;
    trace("  %d answers worker %d%s", self_, int(origin.worker), after_refresh ? " through its node" : "");
    if (after_refresh)
        world.post(self, origin.node, [=, &world] { world.post(origin.node, worker, deliver); });
    else
        world.post(self, worker, deliver);
}

// At times a node is slow.
bool Mail::takes_refreshes(NodeId) const { return world_.is_settling || world_.draw(3); }

void Mail::landed(uint64_t waiter, Key key) {
    REQUIRE(world_.workers[waiter].localizing[key] > 0);
    world_.workers[waiter].localizing[key]--;
}

} // namespace

int main(int count, char **arguments) {
    uint64_t first = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0;
    uint64_t last = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : first + 10'000;
    in_memory = count > 3 && std::string(arguments[3]) == "memory";
    tracing = count > 4;
    for (seed = first; seed <= last; seed++) World(seed).run();
    REQUIRE(last - first < 100 || moments_reached > 0);
    std::printf("ok\n");
}
