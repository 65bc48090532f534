#include "report.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <utility>

namespace ps::simulate {

namespace {

// The sum of all values, each counted where it lives. The nodes must be at rest.
double sum_of(const Segment &segment) {
    double sum = 0;
    const auto add = [&](uint64_t key) {
        const Place place = segment.place(key);
        if (place.residence() != Residence::owned && place.residence() != Residence::shared) return;
        const LengthClass &c = segment.length_class(place.length_class());
        if (place.residence() == Residence::shared && segment.shared(c, place.index())->is_replica) return;
        const auto *value = reinterpret_cast<const float *>(segment.value(place));
        sum += std::accumulate(value, value + c.length, 0.0);
    };
    for (int64_t key = 0; key < segment.header().num_keys; key++) add(uint64_t(key));
    return sum;
}

class Object {
public:
    explicit Object(std::ostream &out) : out_(out) { out_ << "{"; }
    ~Object() { out_ << "}"; }

    std::ostream &key(const std::string &name) {
        out_ << (std::exchange(is_first_, false) ? "\"" : ", \"") << name << "\": ";
        return out_;
    }
    template <class Value>
    void add(const std::string &name, const Value &value) {
        key(name) << value;
    }
    void add(const std::string &name, const std::vector<double> &values) {
        std::ostream &list = key(name);
        for (size_t i = 0; i < values.size(); i++) list << (i ? ", " : "[") << values[i];
        list << (values.empty() ? "[]" : "]");
    }

private:
    std::ostream &out_;
    bool is_first_ = true;
};

template <class Of>
void add_spread(Object &object, const std::string &name, const Cluster &cluster, Of &&of) {
    double sum = 0, most = 0;
    for (const auto &node : cluster.nodes) {
        sum += double(of(*node));
        most = std::max(most, double(of(*node)));
    }
    object.add(name, std::vector<double>{sum / double(cluster.nodes.size()), most});
}

// Of the remote operations of a kind on all nodes, the time that this part of them stayed below.
double latency(const Cluster &cluster, int32_t operation, double part) {
    std::vector<int64_t> counts(PS_LATENCY_COUNTS);
    for (const auto &node : cluster.nodes)
        for (int32_t i = 0; i < PS_LATENCY_COUNTS; i++)
            counts[size_t(i)] += node->segment->header().latencies[operation][1].counts[i].load();
    const double wanted = part * double(std::accumulate(counts.begin(), counts.end(), int64_t(0)));
    int64_t seen = 0;
    for (int32_t i = 0; wanted > 0 && i < PS_LATENCY_COUNTS - 1; i++)
        if (double(seen += counts[size_t(i)]) >= wanted) return 1e-9 * double(latency_limit(i));
    return 0;
}

} // namespace

void report(const Cluster &cluster, const Meeting &meeting, const std::vector<std::unique_ptr<Player>> &players,
            double took, std::ostream &out) {
    out.precision(15);
    {
        Object whole(out);
        whole.add("barriers", meeting.times());
        add_spread(whole, "messages", cluster, [](const Node &node) { return node.sent.messages; });
        add_spread(whole, "bytes", cluster, [](const Node &node) { return node.sent.bytes; });
        add_spread(whole, "messages_received", cluster, [](const Node &node) { return node.received.messages; });
        add_spread(whole, "bytes_received", cluster, [](const Node &node) { return node.received.bytes; });
        add_spread(whole, "batches", cluster, [](const Node &node) { return node.batches; });
        add_spread(whole, "taken", cluster, [](const Node &node) { return node.taken; });
        add_spread(whole, "rounds", cluster, [](const Node &node) { return node.rounds; });
        add_spread(whole, "most_waiting", cluster, [](const Node &node) { return node.most_waiting; });
        add_spread(whole, "server_seconds", cluster, [](const Node &node) { return node.server_computed(); });
        add_spread(whole, "socket_seconds", cluster, [](const Node &node) { return node.sockets_computed(); });
        add_spread(whole, "carrier_seconds", cluster, [](const Node &node) { return node.most_carried(); });
        std::map<const Node *, double> computed;
        uint64_t keys = 0, local = 0;
        double pushed = 0, sum = 0;
        for (const auto &player : players) {
            computed[&player->node()] += player->computed();
            keys += player->keys();
            local += player->keys_local();
            pushed += player->pushed();
        }
        add_spread(whole, "worker_seconds", cluster, [&](const Node &node) { return computed[&node]; });
        add_spread(whole, "replicas", cluster, [](const Node &node) { return node.most_replicas; });
        add_spread(whole, "memory", cluster, [](const Node &node) { return node.segment->mapping().committed(); });
        add_spread(whole, "relocations", cluster,
                   [](const Node &node) { return node.segment->header().relocations_in.load(); });
        add_spread(whole, "refused", cluster, [](const Node &node) { return node.segment->header().refused.load(); });
        for (const auto &node : cluster.nodes) sum += sum_of(*node->segment);
        whole.add("share_local", keys ? double(local) / double(keys) : 1.0);
        whole.add("pushed", pushed);
        whole.add("total", sum);
        whole.add("pull_median", latency(cluster, PS_PULL, 0.5));
        whole.add("localize_median", latency(cluster, PS_LOCALIZE, 0.5));
        whole.add("localize_slow", latency(cluster, PS_LOCALIZE, 0.99));
        whole.add("events", cluster.events.count());
        whole.add("took", took);
        Object measured(whole.key("measured"));
        for (const auto &[what, seen] : cluster.measured)
            measured.add(what,
                         std::vector<double>{double(seen.count), double(seen.keys), double(seen.bytes), seen.seconds});
    }
    out << "\n";
}

} // namespace ps::simulate
