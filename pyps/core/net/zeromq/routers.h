// Where a node receives messages. Workers of its own process use a socket inside of the process: their messages need
// neither the network nor ZeroMQ's threads, which take most of a message's time. All others use a socket outside. A
// stranger that comes there cannot take the name of a worker inside.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>

#include "net/transport.h"
#include "net/zeromq/sign_of_life.h"
#include "net/zeromq/socket.h"
#include "net/zeromq/socket_file.h"

namespace ps {

class ZmqInside;

class Routers {
public:
    Routers(ZmqContext &context, uint32_t max_workers);

    std::string bind(const std::string &endpoint); // returns it with the port that was chosen
    std::weak_ptr<Inside> inside() const;
    ZmqSocket &outside() { return outside_; }

    // None of these waits. A message goes to the peer that has this name; false if there is none, and then the message
    // is unchanged.
    bool send(const std::string &peer, Message &&message);
    bool receive(Received *received); // from the two sockets in turn; false if nothing has come
    NodeTransport::Woken wait(int descriptor, double seconds);

private:
    bool receive(ZmqSocket &router, Received *received);

    std::shared_ptr<ZmqInside> context_; // the context of inside_; the last of its workers ends it
    SocketFile file_; // the file of outside_
    ZmqSocket inside_, outside_;
    bool outside_is_next_ = false;
    std::unordered_set<std::string> insiders_; // peers from which a message came inside
    SignOfLife sign_of_life_; // ends before outside_ is closed, as another process may take the endpoint then
};

} // namespace ps
