// A worker's way to other nodes: sends over its transport what its requests (requests/) decide, and waits for the
// answers. Belongs to one thread at a time.
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
constexpr double welcome_timeout = 30.0; // seconds within which a node's server must answer a new worker
constexpr double look_again_after = 0.1; // seconds: how often a wait looks whether it can still succeed

class Remote : private Outbox {
public:
    // `check` is called now and then during a wait, and throws if what is waited for cannot happen any more. A wait
    // whose time is over throws PS_ETIMEDOUT, or PS_EBUSY after `patience` seconds; call it again to go on.
    //
    // `inside`: the node's server if it is in this process, else null.
    Remote(Segment &segment, std::shared_ptr<Inside> inside, uint32_t worker, uint32_t slot, double patience,
           std::function<void()> check);

    // Wait until this node's own server knows the worker. Nothing is sent before that, as answers may come through it.
    void be_introduced(double timeout, double patience);
    bool is_introduced() const { return requests_.questions().is_introduced(); }

    bool is_busy() const { return !requests_.is_idle(); }
    size_t pending() const { return requests_.pending(); }
    // Whether the request must wait for operations on its keys that are on their way: wait_for_keys() waits for them.
    bool conflicts(const ps_request &request);
    bool may_follow(const ps_request &request) const { return requests_.may_follow(request); }
    int64_t next_conflict(const ps_request &request, int64_t from) const {
        return requests_.next_conflict(request, from);
    }
    void wait_for_keys(const ps_request &request, double timeout);
    int64_t filling(const ps_request &request) const { return requests_.filling(request); }
    // Wait until no earlier pull writes to the request's buffer; throws if such a pull has failed.
    void wait_for_buffer(const ps_request &request, Deadline &deadline);

    // Wait for room (see in_flight.h) for so many bytes of keys and values, or for intents with so many bytes of keys.
    // An operation that needs more than the limit goes when nothing else is on its way.
    bool has_room(uint64_t bytes) const { return requests_.in_flight().has_room(bytes); }
    void make_room(uint64_t bytes, double timeout);
    void make_room_for_intents(uint64_t bytes, double timeout);

    // The same as in Requests. They throw PS_ELOST if the membership of the cluster has ended.
    int64_t start(const ps_request &request, const std::vector<int64_t> &positions);
    int64_t start(const ps_request &request);
    int64_t localize(const int64_t *keys, int64_t num_keys);
    int64_t ask_about_rows(Operation operation, const int64_t *keys, int64_t num_keys, uint8_t *answers);
    void intent(const int64_t *keys, int64_t num_keys, int64_t first, int64_t end);
    void abandon(int64_t timestamp) { requests_.abandon(timestamp); }

    void require_issued(int64_t timestamp) const; // throws PS_EINVAL
    bool is_finished(int64_t timestamp); // takes in the messages that have arrived first
    void wait(int64_t timestamp, double timeout);
    void wait_all(double timeout);
    // Wait until what was sent before, and what follows from it, is done: see Until. With `behind`, until that is so
    // which was asked so many questions before. After PS_EBUSY, call it again to go on, or with a short timeout to give
    // up.
    void settle(Until until, double timeout, uint64_t behind);

private:
    struct Reserved { // a message that is being written; see reserve()
        NodeId to;
        Message message;
    };

    char *reserve(NodeId to, uint64_t bytes) override;
    void send_reserved() override;
    void send(NodeId to, Bytes message) override;
    void ended(Operation operation, double began) override;
    void show_pending(); // in the worker's slot

    double begin_sending(); // returns the time
    void look_at_epoch();
    void look_for_breaks(double now); // throws PS_ELOST if a break is the reason why a question gets no answer
    void receive();

    // Throws PS_ELOST or PS_ENOMEM if the operation failed; only the first time that it is asked.
    void require_not_failed(int64_t timestamp);
    [[noreturn]] void fail_for(NodeId node) const;
    // Waits until done() is true; false: the time is over.
    bool is_in_time(const std::function<bool()> &done, double seconds);
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
