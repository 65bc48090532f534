// A node's server: a thread with the node's transport, which receives what other nodes and workers send, and does what
// is not about keys. Keys belong to channels (channel.h): the first one is run by this thread, each other one has a
// thread of its own. The inbox (inbox.h) passes each message to the part that it is for.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "net/transport.h"
#include "server/inbox.h"
#include "server/tuning.h"
#include "tables/tables.h"

namespace ps {

class Server {
public:
    // Binds the endpoint; the server works once it is connected. `trace` is null if the node keeps none, `tables` if it
    // can have none; both must outlive the server.
    Server(std::shared_ptr<Segment> segment, Slabs &slabs, const std::string &endpoint, Trace *trace, Tables *tables);
    ~Server();

    const std::string &endpoint() const { return transport_->endpoint(); }
    std::weak_ptr<Inside> inside() const { return transport_->inside(); } // the way to it for workers of this process
    void connect(std::vector<std::string> endpoints); // of the first nodes, or by node, empty where there is none
    bool is_connected() const { return thread_.joinable(); }
    void leave(); // this node comes to its end
    bool is_alone_here() const; // whether this process serves no other node of the cluster that has not come to its end

private:
    void run() noexcept;
    void work();
    void look_around();
    void say_goodbye();
    NodeTransport::Woken rest(double seconds);

    std::shared_ptr<Segment> segment_;
    const std::unique_ptr<NodeTransport> transport_;
    Channels channels_;
    Tuning tuning_;
    Tables *const tables_;
    Gates gates_;
    Farewells farewells_;
    Inbox inbox_;
    bool is_leaving_ = false;
    std::atomic<bool> stop_{false};
    std::unique_ptr<Vigil> vigil_;
    std::thread thread_;
};

} // namespace ps
