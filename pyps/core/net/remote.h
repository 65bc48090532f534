// A worker's way to other nodes: carries out what its requests (requests/) decide, over its transport, and waits for
// what comes of it. Belongs to one thread at a time.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "net/deadline.h"
#include "net/peer.h"
#include "net/transport.h"
#include "ps.h"
#include "requests/requests.h"
#include "store/store_whereabouts.h"

namespace ps {

constexpr double default_wait_timeout = 300.0; // seconds
constexpr double welcome_timeout = 30.0; // seconds until a node's server has answered a new worker
constexpr double look_again_after = 0.1; // seconds: how soon a wait notices that there is nothing to wait for

class Remote : private Outbox {
public:
    // `check` is called now and then during a wait, and throws when there is nothing left to wait for. A wait that ends
    // too early throws PS_ETIMEDOUT, or PS_EBUSY after `patience` seconds: nothing was done, call it again to go on.
    //
    // `inside`: the node's server if that is in this process, else null.
    Remote(Segment &segment, std::shared_ptr<Inside> inside, uint32_t worker, uint32_t slot, double patience,
           std::function<void()> check);

    // Wait until this node's own server knows the worker, as answers may come through it: before anything is sent.
    void be_introduced(double timeout, double patience);
    bool is_introduced() const { return requests_.questions().is_introduced(); }

    bool is_busy() const { return !requests_.is_idle(); }
    size_t pending() const { return requests_.pending(); }
    bool conflicts(const ps_request &request); // with operations on their way: only these are to be waited for
    void wait_for_keys(const ps_request &request, double timeout);
    int64_t filling(const ps_request &request) const { return requests_.filling(request); }
    void wait_for_buffer(const ps_request &request, Deadline &deadline); // until no pull writes to it

    // Wait for room (see in_flight.h) for so many bytes of keys and values; for intents with so many bytes of keys.
    // What is sent next goes even if it needs more.
    bool has_room(uint64_t bytes) const { return requests_.in_flight().has_room(bytes); }
    void make_room(uint64_t bytes, double timeout);
    void make_room_for_intents(uint64_t bytes, double timeout);

    // As Requests has them. Throw PS_ELOST where other nodes are no more.
    int64_t start(const ps_request &request, const std::vector<int64_t> &positions);
    int64_t start(const ps_request &request);
    int64_t localize(const int64_t *keys, int64_t num_keys);
    void intent(const int64_t *keys, int64_t num_keys, int64_t first, int64_t end);
    void abandon(int64_t timestamp) { requests_.abandon(timestamp); }

    void require_issued(int64_t timestamp) const; // throws PS_EINVAL
    bool is_finished(int64_t timestamp); // looks at what has arrived
    void wait(int64_t timestamp, double timeout);
    void wait_all(double timeout);
    // Wait for what was sent before and for what follows from it. After PS_EBUSY, call it again to go on, or with a
    // short timeout to give up.
    void settle(Until until, double timeout);

private:
    struct Reserved { // a message that is being written
        NodeId to;
        Message message;
    };

    char *reserve(NodeId to, uint64_t bytes) override;
    void send_reserved() override;
    void send(NodeId to, Bytes message) override;
    void ended(double began) override;

    double begin_sending(); // returns the time
    void look_at_epoch();
    void look_for_breaks(double now); // throws PS_ELOST if that is why a question has no answer
    void receive();

    void require_not_failed(int64_t timestamp); // throws PS_ELOST, PS_ENOMEM, once
    [[noreturn]] void fail_for(NodeId node) const;
    bool is_in_time(const std::function<bool()> &done, double seconds); // by waiting for it
    void wait_until(const std::function<bool()> &done, double timeout, double patience, const char *what);

    Segment &segment_;
    StoreShape shape_;
    StoreWhereabouts whereabouts_;
    const FrameHeader header_;
    const uint32_t slot_;
    const double patience_;
    std::function<void()> check_;
    std::unique_ptr<WorkerTransport> transport_;
    std::deque<Reserved> reserved_;
    bool expects_nothing_ = false; // no node owed an answer when the current call began to send
    double look_at_ = 0; // when to look for connections that have broken
    Requests requests_;
};

} // namespace ps
