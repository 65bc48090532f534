// Whether a TCP connection to an endpoint is refused: then a host answered, and no process listens there any more.
//
// Looked at now and then, because a host that is gone or cut off answers nothing. A firewall that drops what it gets
// leaves the question open; one that answers with a reset in place of a host cannot be told from it.
#pragma once

#include <string>

#include "net/transport.h"
#include "net/zeromq/address.h"

namespace ps {

class Probe {
public:
    Probe() = default;
    Probe(const Probe &) = delete;
    Probe &operator=(const Probe &) = delete;
    ~Probe() { stop(); }

    void aim(const std::string &endpoint) { address_ = address_of(endpoint); } // an unknown one is never refused
    void start(double now, double timeout);
    Reach look(double now); // open also where it cannot be known
    bool is_pending() const { return pending_; }

private:
    void stop();

    Address address_;
    int socket_ = -1;
    bool pending_ = false, refused_ = false;
    double end_ = 0;
};

} // namespace ps
