// The protocol when nodes are lost: as in interleavings.cpp, but now and then a node is killed, with a part of what it
// has sent, or cut off and goes on by itself, or it leaves. The others hear of the epoch without it one by one, their
// workers before their servers, and what is on its way belongs to whatever epoch its sender was in. At times a worker
// stops with a key's latch, and a worker's connection to a node breaks. Some keys are deleted or let go, which may take
// along what was pushed.
//
// Always: a key has at most one owner among the members. In the end: every operation was answered or given up, every
// key has one owner with each push that was acknowledged, once, or is lost for everybody; replicas equal the owner's
// value.
//
// losses FIRST LAST: the seeds to run. A failure names its seed; a third word makes it show the steps.
#include <algorithm>
#include <cstdio>
#include <utility>

#include "losses/checks.h"
#include "losses/epochs.h"
#include "losses/mail.h"
#include "losses/workers.h"
#include "losses/world.h"

using namespace ps;
using namespace ps::losses;

namespace {

class Simulation {
public:
    explicit Simulation(uint64_t seed) : world_(seed) {}

    Met run() {
        while (actions_left_ > 0) step();
        settle();
        check_values(world_);
        world_.admits_all = true;
        for (uint64_t worker = 0; worker < world_.workers.size(); worker++) {
            if (world_.node_of(worker).out || world_.workers[worker].client->is_dead()) continue;
            for (Key key = 0; key < world_.num_keys; key++) {
                pull(worker, key);
                stop_intending(worker, key);
            }
        }
        settle();
        check_values(world_);
        check_nothing_is_left(world_);
        return world_.met;
    }

private:
    // These wait for what has to come before.
    void pull(uint64_t worker, Key key) {
        while (!world_.workers[worker].client->operate(Operation::pull, {key})) go_on();
    }
    void stop_intending(uint64_t worker, Key key) {
        for (intend(world_, worker, key, false); world_.workers[worker].intends[key];
             intend(world_, worker, key, false))
            go_on();
    }
    void go_on() {
        REQUIRE(++waits_ < 100'000);
        if (!deliver(world_)) exchange_everywhere();
    }

    void step() {
        if (world_.matters != no_node && world_.draw(world_.soon) == 0) lose_what_matters();
        if (world_.is_one_to_join && world_.draw(world_.soon) == 0) join(world_);
        uint64_t what = world_.draw(24);
        if (what == 23) {
            world_.tick(0.5 * double(world_.draw(4)));
        } else if (what == 22) {
            if (world_.connections_break && world_.draw(8) == 0)
                break_connection(world_, world_.draw(world_.workers.size()), NodeId(world_.draw(world_.num_nodes)));
            if (world_.draw(2)) see_breaks(world_);
        } else if (what > 19) {
            auto node = NodeId(world_.draw(world_.num_nodes));
            if (world_.draw(3) > 0)
                world_.retry(node);
            else
                stop_or_read_on(node, world_.draw(world_.num_keys));
        } else if (what < 8) {
            actions_left_--;
            act(world_, world_.draw(world_.workers.size()));
        } else if (what < 10) {
            exchange(NodeId(world_.draw(world_.num_nodes)));
        } else if (what == 10 && world_.losses_left > world_.losses_that_follow && actions_left_ < 250 &&
                   world_.draw(is_anybody_leaving() ? 3 : 10) == 0) {
            world_.losses_left--;
            lose(world_, world_.draw_member());
        } else if (what == 10 && world_.backups > 0 && world_.draw(15) == 0) {
            const NodeId leaver = world_.draw_member();
            bring_keys_to(leaver);
            leave(world_, leaver);
            exchange(leaver);
            delete_keys_of(leaver);
        } else if (what == 10 && world_.draw(10) == 0) {
            join(world_);
        } else if (what == 11) {
            const NodeId node = NodeId(world_.draw(world_.num_nodes));
            const Key key = world_.draw(world_.num_keys);
            world_.backups > 0 ? load(node, key) : let_go(node, key);
        } else {
            deliver(world_);
        }
        check_owners(world_);
        check_copies(world_);
        check_deletions(world_);
    }

    // Those that have waited for the key's latch have it at once.
    void stop_or_read_on(NodeId node, Key key) {
        const Store &store = world_.nodes[node]->store;
        stop_or_go_on(store, key);
        for (Worker &worker : world_.workers)
            if (worker.node == node && !(*store.stops)[key] && !worker.client->is_dead() && world_.draw(2))
                worker.client->operate(Operation::pull, {key});
    }

    void lose_what_matters() {
        const NodeId node = std::exchange(world_.matters, no_node);
        if (world_.losses_left == 0 || world_.nodes[node]->out) return;
        world_.losses_left--;
        lose(world_, node);
    }

    // Some are on their way to it when it leaves, and find their latches taken.
    void bring_keys_to(NodeId node) {
        for (uint64_t number = 0; number < world_.workers.size(); number++) {
            Worker &worker = world_.workers[number];
            if (worker.node != node || worker.client->is_dead()) continue;
            if (world_.draw(2)) worker.client->localize(draw_keys(world_));
            for (uint64_t intents = world_.draw(3); intents > 0; intents--)
                intend(world_, number, world_.draw(world_.num_keys), true);
        }
        for (uint64_t left = world_.draw(40); left > 0; left--)
            if (world_.draw(4) > 0)
                deliver(world_);
            else
                exchange(node);
        for (Key key = 0; key < world_.num_keys; key++)
            if (world_.draw(3) == 0) stop_or_go_on(world_.nodes[node]->store, key);
    }

    // While it offers them to others.
    void delete_keys_of(NodeId leaver) {
        const uint64_t number = world_.draw(world_.workers.size());
        if (!world_.nodes[leaver]->leaves || world_.workers[number].client->is_dead()) return;
        for (Key key = 0; key < world_.num_keys; key++)
            if (owns(world_.nodes[leaver]->values, key) && may_be_erased(world_, key) && world_.draw(4) == 0)
                erase(world_, number, key);
    }

    // A node that is full may need the room of a key.
    void let_go(NodeId id, Key key) {
        Node &node = *world_.nodes[id];
        if (node.dead || !node.protocol.let_go(key)) return;
        trace("%d lets key %d go", id, int(key));
        world_.note_gone(key);
    }

    // A checkpoint is loaded while nobody uses the key: a new value that the protocol does not hear of before a round.
    void load(NodeId id, Key key) {
        Node &node = *world_.nodes[id];
        if (node.dead || world_.is_linear || !owns(node.values, key) || node.protocol.knows(key)) return;
        if (!node.values.has_row(key) || !world_.pushes.can_begin(key, 1)) return;
        trace("%d loads key %d", id, int(key));
        world_.loaded[key] = true;
        const int64_t loaded = Pushes::operand(world_.pushes.begin(key));
        dynamic_cast<NumberStore &>(node.values).write_whole(key, number_at(node.values, key) | loaded);
    }

    void exchange(NodeId id) {
        Node &node = *world_.nodes[id];
        if (!node.dead && node.crossing.is_settled()) {
            world_.choose(node.protocol, world_.num_keys);
            node.protocol.exchange();
        }
        world_.flush();
        if (node.out || !node.protocol.may_go()) return;
        check_empty(node);
        depart(world_, id);
        const NodeId next = world_.draw_member();
        world_.is_one_to_join = world_.losses_that_follow > 0 && world_.draw(2);
        if (!world_.is_one_to_join) world_.note_that_matters(next);
        if (world_.losses_left > world_.losses_that_follow && world_.draw(2)) {
            world_.losses_left--;
            lose(world_, next);
        }
    }

    void exchange_everywhere() {
        for (NodeId node : world_.members()) {
            world_.retry(node);
            exchange(node);
        }
        world_.tick(1);
    }

    void settle() {
        for (NodeId node = 0; node < world_.num_nodes; node++)
            if (world_.nodes[node]->out) world_.kill_workers(node);
        see_breaks(world_);
        int rounds = 0;
        for (int left = 60; left > 0; left = is_anybody_leaving() ? 60 : left - 1) {
            REQUIRE(++rounds < 1000);
            for (auto &node : world_.nodes) all_go_on(node->store);
            if (world_.sends_parts && left == 30) // rests go as well
                for (NodeId node : world_.members()) world_.nodes[node]->protocol.mark();
            exchange_everywhere();
            while (deliver(world_)) check_owners(world_);
        }
    }

    // And others stay.
    bool is_anybody_leaving() const {
        const std::vector<NodeId> &members = world_.members();
        const auto leaving = std::count_if(members.begin(), members.end(),
                                           [&](NodeId node) { return world_.nodes[node]->leaves; });
        return leaving > 0 && size_t(leaving) < members.size();
    }

    World world_;
    int actions_left_ = 300;
    int waits_ = 0;
};

} // namespace

int main(int count, char **arguments) {
    const Seeds seeds(count, arguments);
    tracing = count > 3;
    Met met;
    seeds.for_each([&](uint64_t seed) { met += Simulation(seed).run(); });
    if (seeds.last >= seeds.first + 200)
        REQUIRE(met.keys_lost > 0 && met.keys_rehomed > 0 && met.taken_late > 0 && met.refused > 0 && met.broken > 0 &&
                met.secure > 0 && met.taken_over > 0 && met.departed > 0 && met.joined > 0 && met.spread > 0 &&
                met.dropped > 0);
    std::printf("ok\n");
}
