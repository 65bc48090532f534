// A node's server: a thread that takes what other nodes and workers send, and what is due round by round. Its parts:
// the inbox (inbox.h) gives each message to the one that it is for.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "net/admission.h"
#include "server/inbox.h"
#include "store/traced_values.h"

namespace ps {

class Server {
public:
    // Bound, but it works only when it is connected.
    Server(std::shared_ptr<Segment> segment, Slabs &slabs, const std::string &endpoint, Trace *trace);
    ~Server();

    const std::string &endpoint() const { return endpoint_; }
    std::weak_ptr<ZmqContext> inside() const { return routers_.inside(); } // where workers of this process find it
    void connect(const std::vector<std::string> &endpoints);
    void leave(); // this node comes to its end
    bool is_alone_here() const; // this process serves no other node of the cluster that has not come to its end

private:
    void run() noexcept;
    void work();
    void look_around();
    void begin_round(double now);
    void say_goodbye();
    double patience() const;
    bool has_work() const;
    bool rest(double seconds);
    Intents::Clock clocks();
    Intents::Change changes();

    std::shared_ptr<Segment> segment_;
    ZmqContext context_;
    Routers routers_;
    std::unique_ptr<Admission> admission_; // with keys
    Connections peers_;
    Trace *const trace_; // may be null: the node keeps none; outlives this
    TracedValues values_;
    Mailbox mailbox_;
    Protocol protocol_;
    Serving serving_;
    EpochChange epoch_change_;
    Intents intents_;
    Gates gates_;
    Settling settling_;
    Farewells farewells_;
    Inbox inbox_;
    std::string endpoint_;
    bool is_leaving_ = false;
    bool is_awake_ = false; // the last round had something to do, or the doorbell rang: another one comes soon
    bool rested_ = false; // since the last round
    double last_round_ = 0;
    std::atomic<bool> stop_{false};
    std::unique_ptr<Vigil> vigil_;
    std::thread thread_;
};

} // namespace ps
