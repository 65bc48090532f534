#include "net/zeromq/address.h"

#include <netdb.h>
#include <sys/un.h>

#include <cstddef>
#include <cstring>

namespace ps {

namespace {

// As ZeroMQ looks it up: brackets mark IPv6.
Address address_of_host(const std::string &host, const std::string &port, bool is_ipv6) {
    Address address;
    addrinfo hints{}, *found = nullptr;
    hints.ai_family = is_ipv6 ? AF_INET6 : AF_INET;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return address;
    std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
    address.bytes = found->ai_addrlen;
    freeaddrinfo(found);
    return address;
}

Address address_of_path(const std::string &path) {
    Address address;
    auto *name = reinterpret_cast<sockaddr_un *>(&address.storage);
    if (path.empty() || path.size() >= sizeof name->sun_path) return address;
    name->sun_family = AF_UNIX;
    std::memcpy(name->sun_path, path.data(), path.size());
    bool is_abstract = path[0] == '@'; // ZeroMQ's way to write a name in the abstract namespace
    if (is_abstract) name->sun_path[0] = 0;
    address.bytes = socklen_t(offsetof(sockaddr_un, sun_path) + path.size() + !is_abstract);
    return address;
}

} // namespace

Address address_of(const std::string &endpoint) {
    const std::string tcp = "tcp://", ipc = "ipc://";
    if (endpoint.compare(0, ipc.size(), ipc) == 0) return address_of_path(endpoint.substr(ipc.size()));
    size_t colon = endpoint.rfind(':');
    if (endpoint.compare(0, tcp.size(), tcp) != 0 || colon == std::string::npos || colon < tcp.size()) return {};
    std::string host = endpoint.substr(tcp.size(), colon - tcp.size());
    bool is_ipv6 = host.size() > 2 && host.front() == '[' && host.back() == ']';
    if (is_ipv6) host = host.substr(1, host.size() - 2);
    return address_of_host(host, endpoint.substr(colon + 1), is_ipv6);
}

std::string numeric_endpoint(const std::string &endpoint) {
    Address address = address_of(endpoint);
    bool is_ipv6 = address.storage.ss_family == AF_INET6;
    if (address.bytes == 0 || (address.storage.ss_family != AF_INET && !is_ipv6)) return endpoint;
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getnameinfo(address.get(), address.bytes, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
        return endpoint;
    return is_ipv6 ? "tcp://[" + std::string(host) + "]:" + port : "tcp://" + std::string(host) + ":" + port;
}

} // namespace ps
