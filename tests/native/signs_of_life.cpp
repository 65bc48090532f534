// How often nodes give signs of life, and after how much silence one is lost, if nobody says so: with many nodes more
// rarely, so that each sends at most 280 in a second.
#include <cmath>
#include <cstdio>
#include <initializer_list>

#include "check.h"
#include "segment/node_options.h"

using namespace ps;

namespace {

ps_node_options options_of(int32_t nodes, int32_t places, double heartbeat, double lost_after) {
    ps_node_options options{};
    options.num_nodes = nodes;
    options.places = places;
    options.heartbeat = heartbeat;
    options.lost_after = lost_after;
    return options;
}

void check(const ps_node_options &options, double heartbeat, double lost_after) {
    CHECK(std::abs(heartbeat_of(options) - heartbeat) < 1e-9);
    CHECK(std::abs(lost_after_of(options) - lost_after) < 1e-9);
}

} // namespace

int main() {
    for (int32_t nodes : {1, 2, 140}) check(options_of(nodes, 0, 0, 0), 0.5, 3);
    check(options_of(280, 0, 0, 0), 1, 5);
    check(options_of(1000, 0, 0, 0), 1000 / 280.0, 5000 / 280.0);
    check(options_of(2, 1000, 0, 0), 1000 / 280.0, 5000 / 280.0);
    check(options_of(1000, 0, 0.25, 1), 0.25, 1);
    check(options_of(1000, 0, 2, 0), 2, 5000 / 280.0);
    std::puts("ok");
}
