// What a hub (hub.h) connects: parties, the nodes' hosts, and the wires between them. The hub's mutex guards all of it.
#pragma once

#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "net/memory/options.h"
#include "net/transport.h"
#include "segment/doorbell.h"

namespace ps {

struct Wire;

// An end that sends, receives and waits: a node's server, the links of its vigil, or a worker.
struct Party {
    struct Parcel {
        std::shared_ptr<Wire> wire;
        Message message;
    };

    std::multimap<double, Parcel> parcels; // by the time when they arrive (0: at once), then in the order of sending
    std::vector<ConnectionEvent> events; // of its own wires
    // Of the server's wires. The links get them; until there are links, the server keeps them.
    std::vector<ConnectionEvent> message_events;
    const bool wakes_for_events; // only of links
    bool sleeps = false;
    Doorbell bell;

    explicit Party(bool for_events = false) : wakes_for_events(for_events) {}
    void wake() {
        if (std::exchange(sleeps, false)) bell.ring();
    }
};

// A node as its network sees it.
struct Host {
    explicit Host(const NodeEnd &node, MemoryOptions wanted)
        : end(node.end), refused(node.refused), options(std::move(wanted)),
          random(std::hash<std::string>()(options.name)) {}

    const End end;
    std::atomic<uint64_t> *const refused;
    MemoryOptions options;
    Party server;
    Party *links = nullptr; // null while there are none
    std::map<std::string, std::shared_ptr<Wire>> names; // the wires that lead here, by name
    double bound_at = 0;
    size_t breaks_done = 0;
    bool is_cut = false;
    std::minstd_rand random; // seeded by the node's name, so that a run can be repeated
};

// One connection, from the party that made it to a host.
struct Wire {
    std::string name;
    std::string endpoint; // where it leads
    NodeId node;
    Heartbeats heartbeats;
    int64_t longest; // bytes of a message that comes to its maker
    bool is_for_messages = false; // made by a node's server; then its events go to the links

    std::shared_ptr<Host> home; // the host of the maker
    Party *maker; // null: the wire was removed
    std::shared_ptr<Host> there; // null: not connected now
    bool is_silent = false; // what is sent is lost; it breaks at `breaks_at`
    bool was_refused = false;
    double breaks_at = std::numeric_limits<double>::infinity();
    std::deque<Message> waiting; // sent while it is not connected
    struct Way {
        double last = 0; // when the last message arrives
        uint64_t parcels = 0; // not received yet
    } to_host, to_maker;

    bool is_inside() const { return there == home; }
    bool leads_outside(const Host &host) const {
        return there && !is_inside() && (&host == home.get() || &host == there.get());
    }
};

} // namespace ps
