#include "sockets.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "cluster.h"

namespace ps::simulate {

namespace {
constexpr uint64_t largest_batch = 8192; // bytes that ZeroMQ sends or receives at once, if they are of several messages
} // namespace

Sockets::Carrier::Carrier(Sockets &sockets)
    : thread(sockets.cluster_.events, sockets.node_.processors(), sockets.cluster_.costs,
             [this, &sockets](Thread &self) { sockets.carry(self, queue); }) {}

Sockets::Sockets(Cluster &cluster, Node &node, size_t threads) : cluster_(cluster), node_(node) {
    while (carriers_.size() < threads) carriers_.push_back(std::make_unique<Carrier>(*this));
}

// ZeroMQ gives a new connection to the thread that has the fewest.
void Sockets::pass(const std::shared_ptr<Packet> &packet, NodeId peer) {
    Carrier &carrier = *carriers_[peer % carriers_.size()];
    carrier.queue.push_back(packet);
    carrier.thread.wake();
}

// What waits for the same peer goes together, as far as it fits into a batch: then only the first message of it has the
// cost of a call of the system.
void Sockets::carry(Thread &self, std::deque<std::shared_ptr<Packet>> &queue) {
    for (;;) {
        self.rest(HUGE_VAL, [&] { return !queue.empty(); });
        std::map<std::pair<NodeId, NodeId>, uint64_t> filled; // bytes of the last batch, by the ends
        for (auto left = queue.size(); left > 0; left--) {
            const std::shared_ptr<Packet> packet = std::move(queue.front());
            queue.pop_front();
            const uint64_t size = packet->message.size();
            auto [batch, is_first] = filled.try_emplace({packet->from, packet->to}, 0);
            const bool begins = is_first || batch->second + size > largest_batch;
            batch->second = begins ? size : batch->second + size;
            self.charge(cluster_.costs.io.of(0, size) + (begins ? cluster_.costs.system : 0));
            self.pay();
            if (packet->to == node_.id()) {
                node_.give(packet);
                continue;
            }
            node_.batches += begins;
            cluster_.carry(packet, begins);
        }
    }
}

double Sockets::computed() const {
    double sum = 0;
    for (const auto &carrier : carriers_) sum += carrier->thread.computed();
    return sum;
}

double Sockets::most_computed() const {
    double most = 0;
    for (const auto &carrier : carriers_) most = std::max(most, carrier->thread.computed());
    return most;
}

} // namespace ps::simulate
