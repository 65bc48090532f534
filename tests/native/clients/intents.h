// Intents of simulated workers, and what their nodes do when they hear of them.
#pragma once

#include <vector>

#include "../trace.h"
#include "protocol/messages.h"

namespace ps::clients {

// Other keys of which the same holds come along at times.
template <class World>
void intend(World &world, uint64_t number, Key key, bool begin) {
    auto &worker = world.workers[number];
    if (worker.intends[key] == begin) return;
    std::vector<Key> keys{key};
    for (Key other = 0; other < world.num_keys; other++)
        if (other != key && worker.intends[other] != begin && world.draw(4) == 0) keys.push_back(other);
    if (!worker.client->intend(keys, begin)) return;
    for (Key k : keys) worker.intends[k] = begin;
    trace("worker %d at %d %s %d and %d others", int(number), worker.node, begin ? "wants" : "stops wanting", int(key),
          int(keys.size()) - 1);
}

// Intents for odd keys are long.
template <class Node>
void act_on_intent(Node &node, Key key, bool begin) {
    node.intents[key] += begin ? 1 : -1;
    if (begin && node.intents[key] == 1 && !node.protocol.awaits_admission(key)) node.protocol.want({key}, key % 2);
    if (!begin && node.intents[key] == 0) node.protocol.stop_wanting({key});
}

} // namespace ps::clients
