#include "cluster.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <utility>

#include "net/zeromq/carriers.h"

namespace ps::simulate {

namespace {

constexpr int most_at_once = 64; // messages between two rounds, as in the shipped server
constexpr uint64_t cluster_number = 1;

std::vector<int64_t> lengths_of(const Settings &settings) {
    const std::string &file = settings.text("lengths");
    if (file == "-") return {settings.integer("value_length")};
    std::ifstream in(file, std::ios::binary);
    std::vector<int64_t> lengths(size_t(settings.integer("keys")));
    if (!in.read(reinterpret_cast<char *>(lengths.data()), std::streamsize(lengths.size() * sizeof(int64_t))))
        throw std::runtime_error(file + " has too few lengths");
    const bool are_classes = settings.integer("capacity") > 0;
    if (!are_classes && std::count(lengths.begin(), lengths.end(), lengths[0]) == std::ptrdiff_t(lengths.size()))
        lengths.resize(1);
    return lengths;
}

} // namespace

Cluster::Cluster(const Settings &given)
    : settings(given), costs(costs_of(given)), hosts(hosts_of(given)), links_(size_t(hosts.nodes)) {
    if (hosts.machine > 0) machine.emplace(hosts.machine);
    const std::vector<int64_t> lengths = lengths_of(given);
    for (NodeId node = 0; node < hosts.nodes; node++)
        nodes.push_back(std::make_unique<Node>(*this, options_of(node, lengths)));
}

Cluster::~Cluster() = default;

ps_node_options Cluster::options_of(NodeId node, const std::vector<int64_t> &lengths) const {
    ps_node_options options{};
    options.size = sizeof options;
    options.capacity = settings.integer("capacity");
    options.num_keys = options.capacity ? 0 : settings.integer("keys");
    options.value_lengths = lengths.data(); // read at once by who makes the node
    options.num_lengths = int64_t(lengths.size());
    options.dtype = PS_FLOAT32;
    options.max_workers = int32_t(hosts.workers);
    options.num_nodes = int32_t(hosts.nodes);
    options.node = node;
    options.techniques = int32_t(settings.integer("techniques"));
    options.cluster = cluster_number;
    options.latch_timeout = 1e6;
    return options;
}

void Cluster::carry(const std::shared_ptr<Packet> &packet, bool begins) {
    const uint64_t size = packet->message.size(), packets = (size + hosts.packet - 1) / hosts.packet;
    const double wire = double(size + packets * hosts.packet_overhead), duration = hosts.per_byte * wire;
    Link &from = links_[packet->from], &to = links_[packet->to];
    from.sent = std::max(now, from.sent) + duration;
    const double once = begins ? hosts.shared_once : 0;
    shared_ = std::max(from.sent, shared_ + once + hosts.shared_per_byte * wire);
    // A message's first packet is at the other end before its last one leaves.
    to.received = std::max(shared_ + hosts.delay, to.received + duration);
    shared_ += once;
    nodes[packet->from]->sent.add(size);
    events.at(to.received, [this, packet] {
        nodes[packet->to]->received.add(packet->message.size());
        nodes[packet->to]->arrive(packet);
    });
}

Node::Node(Cluster &cluster, const ps_node_options &options)
    : segment(Segment::create(options)), cluster_(cluster), slabs_(*segment), promises_(*segment), shape_(*segment),
      channel_(0, *segment, slabs_, promises_, *this, nullptr, [](uint32_t, NodeId, uint32_t, Bytes) {}),
      processors_(cluster.hosts, cluster.machine ? &*cluster.machine : nullptr),
      server_(cluster.events, processors_, cluster.costs, [this](Thread &self) { serve(self); }),
      sockets_(cluster, *this, carriers_of_node(1, uint32_t(options.num_nodes), uint32_t(cluster.hosts.processors))) {
    if (segment->header().is_range()) hold_first_keys(*segment, slabs_);
    segment->header().connected.store(1);
}

bool Node::send(NodeId to, Message &&message) {
    const uint64_t size = message.size();
    server_.charge(cluster_.costs.send.of(0, size));
    uint32_t keys;
    std::memcpy(&keys, message.data() + offsetof(FrameHeader, count), sizeof keys);
    keys_sent_ += keys;
    bytes_sent_ += size;
    auto packet = std::make_shared<Packet>(
        Packet{id(), to, name_of_node(id(), segment->header().cluster), false, std::move(message)});
    leave(packet, server_.time(), sockets_);
    return true;
}

// To a worker that has a connection to this node.
bool Node::reply(const std::string &name, Message &&message) {
    if (!connected_.count(name)) return false;
    server_.charge(cluster_.costs.send.of(0, message.size()));
    replied_ += message.size();
    NodeId to;
    std::memcpy(&to, &name[1], sizeof to);
    leave(std::make_shared<Packet>(Packet{id(), to, name, true, std::move(message)}), server_.time(), sockets_);
    return true;
}

void Node::leave(const std::shared_ptr<Packet> &packet, double time, Sockets &sockets) {
    cluster_.events.at(time, [=, &sockets] { packet->to == id() ? give(packet) : sockets.send(packet); });
}

void Node::arrive(const std::shared_ptr<Packet> &packet) {
    packet->to_worker ? workers.at(packet->name)->arrive(packet) : sockets_.arrive(packet);
}

void Node::give(const std::shared_ptr<Packet> &packet) {
    if (packet->to_worker) {
        workers.at(packet->name)->arrive(std::move(packet->message));
        return;
    }
    inbox_.push_back(packet);
    most_waiting = std::max(most_waiting, uint64_t(inbox_.size()));
    server_.wake();
}

bool Node::receive(Received *received) {
    if (inbox_.empty()) return false;
    Packet &packet = *inbox_.front();
    if (packet.name[0] == 'W') connected_.insert(packet.name);
    *received = {packet.name, std::move(packet.message), nullptr};
    inbox_.pop_front();
    server_.charge(cluster_.costs.receive.of(0, received->message.size()));
    return true;
}

NodeTransport::Woken Node::wait(int, double seconds) {
    server_.rest(seconds, [this] { return rang_ || !inbox_.empty(); });
    return {rang_ || !inbox_.empty(), std::exchange(rang_, false)};
}

void Node::look_at_doorbell() {
    if (!segment->doorbell().answer()) return;
    rang_ = true;
    server_.wake();
}

// As the shipped server's thread does it, which also looks at barriers, members and tables.
void Node::serve(Thread &self) {
    channel_.outbound().begin(true);
    for (;;) {
        const double due = channel_.next_round() - now;
        due > channel_.busy_pause() ? rest(due) : void(wait(0, std::max(due, 0.0)));
        Received message;
        for (int i = 0; i < most_at_once && receive(&message); i++) {
            take(std::move(message));
            self.pay();
        }
        end_turn(self);
    }
}

void Node::rest(double seconds) {
    const bool due = channel_.go_to_sleep();
    wait(0, due ? 0 : seconds);
    const bool woken = segment->channel(0).sleeps.exchange(Sleep::none) == Sleep::none;
    channel_.wake_up(due || woken);
}

void Node::take(Received &&received) {
    const Message &message = received.message;
    FrameReader reader(message.data(), message.size());
    const FrameHeader header = decode_header(reader, segment->header().cluster, shape_);
    replied_ = 0;
    const double began = real_seconds();
    channel_.take(received.from, sender_of(received.from, header), message.data(), message.size());
    const double took = real_seconds() - began;
    const uint64_t bytes = message.size() + replied_;
    cluster_.measured["taken " + std::to_string(int(header.kind))].add(header.count, bytes, took);
    taken++;
    server_.charge(cluster_.costs.taken[int(header.kind)].of(header.count, bytes));
}

void Node::end_turn(Thread &self) {
    const bool has_round = channel_.next_round() <= now;
    keys_sent_ = bytes_sent_ = 0;
    const double began = real_seconds();
    channel_.end_turn(now);
    if (has_round) {
        rounds++;
        cluster_.measured["turn"].add(keys_sent_, bytes_sent_, real_seconds() - began);
        self.charge(cluster_.costs.turn.of(keys_sent_, bytes_sent_));
    }
    most_replicas = std::max(most_replicas, segment->header().replicas_held.load());
    self.pay();
}

double Node::sockets_computed() const {
    double sum = sockets_.computed();
    for (const auto &[name, worker] : workers) sum += worker->sockets().computed();
    return sum;
}

double Node::most_carried() const {
    double most = sockets_.most_computed();
    for (const auto &[name, worker] : workers) most = std::max(most, worker->sockets().most_computed());
    return most;
}

} // namespace ps::simulate
