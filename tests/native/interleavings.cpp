// The protocol under random orders of everything: messages between pairs of nodes and workers are delivered in their
// order, but which pair is next, and what workers do meanwhile, is drawn; at times a worker stops with a key's latch.
// After each step: every key is at one place. What has been exchanged since a moment has all that this node added
// before, and brought all that others had then. In the end: all operations were answered, sums are exact, replicas
// equal the owner's value, nothing is left over.
//
// interleavings FIRST LAST plain|memory|tight: the seeds to run, with what kind of values; tight: often without room
// for what others want. A failure names its seed; a fourth word makes it show the steps.
#include <algorithm>
#include <cstdio>
#include <string>

#include "interleavings/checks.h"
#include "interleavings/mail.h"
#include "interleavings/moments.h"
#include "interleavings/workers.h"
#include "interleavings/world.h"

using namespace ps;
using namespace ps::interleavings;

namespace {

class Simulation {
public:
    Simulation(uint64_t seed, MakeStore make, bool is_tight)
        : world_(seed, make), moments_(world_, is_tight), is_tight_(is_tight) {}

    // Returns how many moments were reached.
    long run() {
        for (int actions = 400; actions > 0;) actions -= step();
        settle();
        if (!is_tight_) check_only_wanters(world_); // a node that was refused does not ask again
        stop_intending();
        settle();
        check_nothing_is_left(world_);
        return moments_.reached();
    }

private:
    // With sets, those that write are drawn more often.
    uint64_t draw_worker() {
        uint64_t workers = world_.workers.size();
        return world_.draw(world_.sets && world_.draw(2) ? std::min(workers, world_.num_keys) : workers);
    }

    // Returns whether a worker did something.
    bool step() {
        uint64_t what = world_.draw(11);
        if (what == 10) {
            auto node = NodeId(world_.draw(world_.num_nodes));
            if (world_.draw(3) > 0)
                world_.retry(node);
            else
                stop_or_go_on(world_.nodes[node]->store, world_.draw(world_.num_keys));
        } else if (what < 4) {
            act(world_, draw_worker());
        } else if (what == 4) {
            auto node = NodeId(world_.draw(world_.num_nodes));
            trace("exchange at %d", node);
            world_.choose(world_.nodes[node]->protocol, world_.num_keys);
            world_.nodes[node]->protocol.exchange();
            world_.flush();
            if (world_.draw(4) == 0) moments_.mark(node);
        } else {
            world_.deliver();
        }
        check_places(world_);
        moments_.check();
        return what < 4;
    }

    // A worker whose server has not read its last intents has to wait with the next one.
    void stop_intending() {
        for (uint64_t worker = 0; worker < world_.workers.size(); worker++)
            for (Key key = 0; key < world_.num_keys; key++)
                for (intend(world_, worker, key, false); world_.workers[worker].intends[key];
                     intend(world_, worker, key, false))
                    REQUIRE(world_.deliver());
    }

    void settle() {
        become_quiet();
        REQUIRE(moments_.are_all_reached());
        check_values(world_);
    }

    void become_quiet() {
        world_.is_settling = true;
        for (auto &node : world_.nodes) all_go_on(node->store);
        bool have_rests = world_.sends_parts;
        for (int round = 0; round < 200; round++) {
            for (NodeId id = 0; id < world_.num_nodes; id++) {
                world_.retry(id);
                world_.nodes[id]->protocol.exchange();
                world_.flush();
            }
            while (world_.deliver()) {
                check_places(world_);
                moments_.check();
            }
            moments_.check();
            if (round <= 5 || !is_quiet(world_)) continue;
            if (!have_rests) return;
            for (auto &node : world_.nodes) node->protocol.mark();
            have_rests = false;
        }
        REQUIRE(!"it becomes quiet");
    }

    World world_;
    Moments moments_;
    const bool is_tight_;
};

} // namespace

int main(int count, char **arguments) {
    const Seeds seeds(count, arguments);
    const std::string values = count > 3 ? arguments[3] : "plain";
    MakeStore make = values == "memory"  ? make_store<MemoryStore>
                     : values == "tight" ? make_store<TightStore>
                                         : make_store<NumberStore>;
    tracing = count > 4;
    long moments_reached = 0;
    seeds.for_each([&](uint64_t seed) { moments_reached += Simulation(seed, make, values == "tight").run(); });
    REQUIRE(seeds.last - seeds.first < 100 || moments_reached > 0);
    std::printf("ok\n");
}
