// Where nodes of one process with memory:// endpoints, and their workers, are connected. The hub carries their
// messages, lets the delays and breaks happen that were asked for, and keeps the events. It has no thread: the threads
// that send, receive and wait do all of that. Any thread may use it.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "net/memory/wire.h"

namespace ps {

class Hub {
public:
    static Hub &here(); // the one of this process; a forked child has one of its own

    // Chooses a name for "*"; throws PS_ESYSTEM if another host has the name.
    void bind(const std::shared_ptr<Host> &host);
    void unbind(const std::shared_ptr<Host> &host);

    void add(const std::shared_ptr<Wire> &wire); // connects it as soon as its endpoint is bound
    void remove(const std::vector<std::shared_ptr<Wire>> &wires); // messages that were sent over them still arrive
    void set_links(Host &host, Party *links); // null: they end

    void send(const std::shared_ptr<Wire> &wire, Message &&message);
    bool reply(Host &host, const std::string &name, Message &&message);
    // False: nothing has come. `name`: of the connection that it came on; may be null.
    bool receive(Party &party, Message *message, std::string *name);
    NodeTransport::Woken wait(Party &party, int descriptor, double seconds);
    // Takes these events, which may be a party's or its message_events.
    std::vector<ConnectionEvent> take_events(std::vector<ConnectionEvent> &events);

    Reach look(const Host &from, const std::string &endpoint);

private:
    std::shared_ptr<Host> host_at(const std::string &endpoint);
    void carry(const std::shared_ptr<Wire> &wire, bool to_host, Message &&message, double now);
    void connect(const std::shared_ptr<Wire> &wire, double now);
    void disconnect(Wire &wire, bool loses);
    void forget_name(Wire &wire);
    void fall_silent(Wire &wire, double now);
    void tell(Wire &wire, bool is_connected);
    void pass_time(double now); // do what is due: cuts and breaks
    void pass_time(Host &host, double now);
    bool has_news(const Party &party, double now) const;
    double first_due(const Party &party) const;

    std::mutex mutex_; // guards everything that can be reached from here
    std::map<std::string, std::shared_ptr<Host>> hosts_; // by endpoint
    std::vector<std::shared_ptr<Wire>> wires_;
    double next_ = std::numeric_limits<double>::infinity(); // when pass_time() has something to do, at the earliest
    uint64_t names_ = 0;
};

} // namespace ps
