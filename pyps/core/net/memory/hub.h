// Where the nodes of one process that have memory:// endpoints, and their workers, meet. It carries messages, lets time
// and breaks happen to them, and tells what happened. Everything is done by the threads that send, receive and wait: it
// has none of its own. May be used by any of them.
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
    static Hub &here(); // of this process: a forked child has another one than its parent

    void bind(const std::shared_ptr<Host> &host); // gives it a name if it has none; throws PS_ESYSTEM: it is taken
    void unbind(const std::shared_ptr<Host> &host);

    void add(const std::shared_ptr<Wire> &wire); // connects it as soon as that can be done
    void remove(const std::vector<std::shared_ptr<Wire>> &wires); // what was sent over them arrives
    void set_links(Host &host, Party *links); // null: there are none any more

    void send(const std::shared_ptr<Wire> &wire, Message &&message);
    bool reply(Host &host, const std::string &name, Message &&message);
    // False: nothing is there. `name`: of the connection that it came on; may be null.
    bool receive(Party &party, Message *message, std::string *name);
    NodeTransport::Woken wait(Party &party, int descriptor, double seconds);
    std::vector<ConnectionEvent> take_events(std::vector<ConnectionEvent> &events); // of any party

    Reach look(const Host &from, const std::string &endpoint);

private:
    std::shared_ptr<Host> host_at(const std::string &endpoint);
    void carry(const std::shared_ptr<Wire> &wire, bool to_host, Message &&message, double now);
    void connect(const std::shared_ptr<Wire> &wire, double now);
    void disconnect(Wire &wire, bool loses);
    void forget_name(Wire &wire);
    void fall_silent(Wire &wire, double now);
    void tell(Wire &wire, bool is_connected);
    void pass_time(double now); // let happen what is due
    void pass_time(Host &host, double now);
    bool has_news(const Party &party, double now) const;
    double first_due(const Party &party) const;

    std::mutex mutex_; // guards everything that is reached from here
    std::map<std::string, std::shared_ptr<Host>> hosts_; // by endpoint
    std::vector<std::shared_ptr<Wire>> wires_;
    double next_ = std::numeric_limits<double>::infinity(); // when something is due, at the earliest
    uint64_t names_ = 0;
};

} // namespace ps
