// A node's server: a thread with the node's transport, which takes what other nodes and workers send, and sees to what
// is not about keys. Those belong to channels (channel.h), the first of which it runs itself; each other one has a
// thread of its own. The inbox (inbox.h) gives each message to the part that it is for.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "net/transport.h"
#include "server/inbox.h"

namespace ps {

class Server {
public:
    // Bound, but it works only when it is connected. `trace` may be null: the node keeps none; else it outlives this.
    Server(std::shared_ptr<Segment> segment, Slabs &slabs, const std::string &endpoint, Trace *trace);
    ~Server();

    const std::string &endpoint() const { return transport_->endpoint(); }
    std::weak_ptr<Inside> inside() const { return transport_->inside(); } // where workers of this process find it
    void connect(const std::vector<std::string> &endpoints);
    void leave(); // this node comes to its end
    bool is_alone_here() const; // this process serves no other node of the cluster that has not come to its end

private:
    void run() noexcept;
    void work();
    void look_around();
    void say_goodbye();
    NodeTransport::Woken rest(double seconds);

    std::shared_ptr<Segment> segment_;
    const std::unique_ptr<NodeTransport> transport_;
    Channels channels_;
    Gates gates_;
    Farewells farewells_;
    Inbox inbox_;
    bool is_leaving_ = false;
    std::atomic<bool> stop_{false};
    std::unique_ptr<Vigil> vigil_;
    std::thread thread_;
};

} // namespace ps
