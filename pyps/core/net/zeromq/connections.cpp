#include "net/zeromq/connections.h"

#include <algorithm>
#include <cstring>

#include "errors.h"
#include "net/zeromq/address.h"
#include "ps.h"

namespace ps {

namespace {

int milliseconds(double seconds) {
    constexpr double most = 1e6; // seconds; in milliseconds still an int
    return std::max(1, int(std::min(seconds, most) * 1000));
}

// Not the number alone: names that begin with a zero byte are reserved by ZeroMQ.
std::string name_for_zmq(NodeId node) {
    std::string name(1 + sizeof node, 'P');
    std::memcpy(&name[1], &node, sizeof node);
    return name;
}

} // namespace

ConnectionEvents::ConnectionEvents(ZmqSocket &socket, ZmqContext &context, NodeId num_nodes)
    : socket_(socket), events_(socket.monitor(context)), connected_(num_nodes) {}

ConnectionEvents::~ConnectionEvents() { socket_.stop_monitor(); }

void ConnectionEvents::expect(NodeId node, const std::string &endpoint) {
    std::lock_guard<std::mutex> lock(mutex_);
    nodes_[endpoint] = node;
}

std::vector<ConnectionEvent> ConnectionEvents::all() {
    std::vector<ConnectionEvent> events;
    if (!events_.may_have_more()) return events;
    std::string endpoint;
    for (ZmqEvent what; (what = events_.next_event(&endpoint)) != ZmqEvent::none;)
        events.push_back(note(what, endpoint));
    return events;
}

ConnectionEvent ConnectionEvents::note(ZmqEvent what, const std::string &endpoint) {
    NodeId node = node_at(endpoint);
    bool was_connected = connected_[node];
    connected_[node] = what == ZmqEvent::connected;
    return {node, connected_[node], was_connected};
}

// An event names the endpoint as it was given to ZeroMQ, or, when ZeroMQ has connected again, the address that it
// found. These differ only if the endpoint has a host's name that could not be looked up when it was given.
NodeId ConnectionEvents::node_at(const std::string &endpoint) {
    std::lock_guard<std::mutex> lock(mutex_);
    auto found = nodes_.find(endpoint);
    if (found != nodes_.end()) return found->second;
    auto same = std::find_if(nodes_.begin(), nodes_.end(),
                             [&](const auto &known) { return numeric_endpoint(known.first) == endpoint; });
    if (same == nodes_.end())
        fail(PS_ESYSTEM, Where{}, "ZeroMQ tells of a connection to %s, where no node is", endpoint.c_str());
    return nodes_[endpoint] = same->second;
}

Connections::Connections(ZmqContext &context, NodeId num_nodes, const std::string &name, Heartbeats heartbeats)
    : socket_(context, ZmqSocket::router), events_(socket_, context, num_nodes), has_(num_nodes) {
    names_.reserve(num_nodes);
    for (NodeId node = 0; node < num_nodes; node++) names_.push_back(name_for_zmq(node));
    socket_.set(ZmqOption::routing_id, name);
    socket_.set(ZmqOption::router_mandatory, 1);
    socket_.set(ZmqOption::heartbeat_interval, milliseconds(heartbeats.interval));
    socket_.set(ZmqOption::heartbeat_timeout, milliseconds(heartbeats.timeout));
}

void Connections::connect(NodeId node, const std::string &endpoint) {
    std::string numeric = numeric_endpoint(endpoint);
    events_.expect(node, numeric);
    socket_.set(ZmqOption::connect_routing_id, names_[node]); // this names the next connection
    socket_.connect(numeric);
    has_[node] = true;
}

bool Connections::receive(Message *message) {
    for (ZmqMessage name; socket_.may_have_more() && socket_.receive(&name);)
        if (receive_rest(name, message)) return true;
    return false;
}

bool Connections::receive_within(double seconds, Message *message) {
    ZmqMessage name;
    return socket_.receive_within(seconds, &name) && receive_rest(name, message);
}

bool Connections::receive_rest(const ZmqMessage &name, Message *message) {
    auto &frame = message->renew<ZmqMessage>();
    if (!name.more() || !socket_.receive(&frame)) return false;
    if (!frame.more()) return true;
    for (ZmqMessage rest; socket_.receive(&rest) && rest.more();) {
    }
    return false;
}

void Connections::linger(double seconds) { socket_.set(ZmqOption::linger, milliseconds(seconds)); }

} // namespace ps
