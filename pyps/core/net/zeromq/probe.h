// Finds out whether a TCP connection to an endpoint is refused. If it is, the host has answered, and no process listens
// at the endpoint any more.
//
// A host that is gone or cut off does not answer, so the caller looks now and then until the time is over. The same
// happens behind a firewall that drops packets. A firewall that answers with a reset looks like the host itself.
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

    // An endpoint without an address is never refused.
    void aim(const std::string &endpoint) { address_ = address_of(endpoint); }
    void start(double now, double timeout);
    Reach look(double now); // `open` also if there was no answer in time
    bool is_pending() const { return pending_; }

private:
    void stop();

    Address address_;
    int socket_ = -1;
    bool pending_ = false, refused_ = false;
    double end_ = 0;
};

} // namespace ps
