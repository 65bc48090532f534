// Who the members are, under random kills, stops and cut connections: nodes see each other's links break and come back,
// late or early; what they tell each other travels in order, takes any time, and is lost when a link breaks.
// Connections for messages about keys break with a killed node, and by themselves.
//
// Nodes join as well.
//
// Always: an epoch has the same members for all living nodes that it is in force for, and at most one that the one
// before had not.
// Two whose connection broke while both lived are not members together. In the end, when nothing happens any more:
// every living node has ended or has only living members, who say the same.
//
// members FIRST LAST: the seeds to run. A failure names its seed; a third word makes it show the steps.
#include <algorithm>
#include <cstdio>

#include "members/disturbances.h"
#include "members/plain_losses.h"
#include "members/port.h"
#include "members/world.h"

using namespace ps;
using namespace ps::members;

namespace {

Met run(uint64_t seed) {
    Chance chance(seed);
    const auto on_loss = chance.draw(8) ? OnLoss::go_on : OnLoss::fail;
    const auto count = NodeId(2 + chance.draw(on_loss == OnLoss::fail && chance.draw(2) ? 20 : 4));
    World world(seed * 7919, count, on_loss, on_loss == OnLoss::go_on ? NodeId(chance.draw(3)) : NodeId(0));
    for (uint64_t disturbances = 1 + world.draw(4); disturbances > 0; disturbances--) disturb(world);
    world.run_until(60.0);
    world.check_end();
    bool any_dead = std::any_of(world.nodes.begin(), world.nodes.end(), [](const auto &node) { return node->dead; });
    if (on_loss == OnLoss::fail && any_dead) REQUIRE(world.alive() == 0);
    return world.met;
}

} // namespace

int main(int count, char **arguments) {
    const Seeds seeds(count, arguments);
    tracing = count > 3;
    check_plain_losses();
    Met met;
    seeds.for_each([&](uint64_t seed) { met += run(seed); });
    if (seeds.last >= seeds.first + 200)
        REQUIRE(met.went_on > 0 && met.ended_by_minority > 0 && met.told > 0 && met.joined > 0);
    std::printf("ok\n");
}
