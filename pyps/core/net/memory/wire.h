// What hubs connect (hub.h): parties, the nodes' hosts, and the wires between them. The hub's mutex guards all of it.
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

// One that sends, receives and waits: a node's server, the links of its vigil, or a worker.
struct Party {
    struct Parcel {
        std::shared_ptr<Wire> wire;
        Message message;
    };

    std::multimap<double, Parcel> parcels; // by the time when they arrive (0: at once), then in the order of sending
    std::vector<ConnectionEvent> events;   // of its own wires
    std::vector<ConnectionEvent>
        message_events; // of the node's wires for messages: for its links, or for its server until there are links
    const bool wakes_for_events; // of links
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
    Party *links = nullptr; // null: there are none yet
    std::map<std::string, std::shared_ptr<Wire>> names; // of wires that lead here
    double bound_at = 0;
    size_t breaks_done = 0;
    bool is_cut = false;
    std::minstd_rand random; // the same for the same name
};

// One connection: from the end that made it to a host.
struct Wire {
    std::string name;
    std::string endpoint; // where it leads
    NodeId node;
    Heartbeats heartbeats;
    int64_t longest; // bytes of a message that comes to its maker
    bool is_for_messages = false; // of a node: its events are for the links

    std::shared_ptr<Host> home; // of its maker
    Party *maker;               // null: it was taken away
    std::shared_ptr<Host> there; // null: it is not connected
    bool is_silent = false;     // what is sent is lost, and `breaks_at` it breaks
    bool was_refused = false;
    double breaks_at = std::numeric_limits<double>::infinity();
    std::deque<Message> waiting; // while it is not connected
    struct Way {
        double last = 0;     // when the last message arrives
        uint64_t parcels = 0; // not received yet
    } to_host, to_maker;

    bool is_inside() const { return there == home; }
    bool leads_outside(const Host &host) const {
        return there && !is_inside() && (&host == home.get() || &host == there.get());
    }
};

} // namespace ps
