// Where a server hears the others: workers of its own process inside of that, without ZeroMQ's threads and the network
// between them, which make most of a message's way; all others outside, where a stranger cannot take the place of a
// worker inside.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>

#include "net/sign_of_life.h"
#include "net/socket_file.h"
#include "net/zeromq.h"

namespace ps {

constexpr char inside_endpoint[] = "inproc://server"; // in the context of its process

class Routers {
public:
    Routers(ZmqContext &context, uint32_t max_workers);

    std::string bind(const std::string &endpoint); // returns the one that was taken
    std::weak_ptr<ZmqContext> inside() const { return context_; }
    ZmqSocket &outside() { return outside_; }

    // Nothing of these waits. A message goes to the peer that has that name; false: there is none, and it is whole.
    bool send(const std::string &peer, Bytes &&message);
    bool send(const std::string &peer, ZmqMessage &message);
    bool wait(int descriptor, double seconds); // for a message, or the descriptor; as wait_for_any
    bool rang() const { return rang_; }        // the descriptor, when it was waited for last

    // Take one message from each, if there is one; false: there was none. `take(peer, frame, router)` gets the first
    // two parts, and reads the rest from there if there are more. It may keep the frame.
    template <class Take>
    bool receive(Take &&take) {
        bool any = receive(inside_, take);
        return receive(outside_, take) || any;
    }

private:
    template <class Message>
    bool send_inside(const std::string &peer, Message &&message);

    template <class Take>
    bool receive(ZmqSocket &router, Take &&take) {
        ZmqMessage peer, frame;
        if (!router.may_have_more() || !router.receive(&peer)) return false;
        if (&router == &inside_) insiders_.emplace(peer.data(), peer.size());
        if (peer.more() && router.receive(&frame)) take(peer, frame, router);
        return true;
    }

    std::shared_ptr<ZmqContext> context_; // of inside_: with the last worker it goes
    SocketFile file_; // of outside_
    ZmqSocket inside_, outside_;
    bool rang_ = false;
    std::unordered_set<std::string> insiders_; // peers that were heard inside
    SignOfLife sign_of_life_; // ends before outside_: its endpoint may be another's then
};

} // namespace ps
