// Endpoints as the system's addresses.
#pragma once

#include <sys/socket.h>

#include <string>

namespace ps {

struct Address {
    sockaddr_storage storage{};
    socklen_t bytes = 0; // 0: unknown

    const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&storage); }
};

// The address of "tcp://HOST:PORT", whose host is looked up, or "ipc://PATH"; unknown for anything else.
Address address_of(const std::string &endpoint);

// "tcp://HOST:PORT" with the host's address in place of its name, if it can be looked up; other endpoints unchanged.
std::string numeric_endpoint(const std::string &endpoint);

} // namespace ps
