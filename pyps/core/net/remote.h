// A worker's operations on keys that live on other nodes: sent over connections of its own, answered straight into the
// caller's buffer, in whatever order the answers come. Belongs to one thread at a time.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>

#include "net/deadline.h"
#include "net/peer.h"
#include "net/worker_connections.h"
#include "protocol/homes.h"
#include "ps.h"
#include "wire/barriers.h"
#include "wire/operations.h"
#include "worker/failures.h"
#include "worker/in_flight.h"
#include "worker/key_table.h"

namespace ps {

constexpr double default_wait_timeout = 300.0; // seconds
constexpr double welcome_timeout = 30.0; // seconds until a node's server has answered a new worker

class Remote {
public:
    // `check` is called now and then while waiting, and throws when waiting has become pointless. Every wait throws
    // PS_ETIMEDOUT, or PS_EBUSY after `patience` seconds: nothing was done, call again to go on.
    //
    // `inside` is the context of the node's server if that is in this process, else null.
    Remote(Segment &segment, std::shared_ptr<ZmqContext> inside, uint32_t worker, uint32_t slot, double patience,
           std::function<void()> check);

    // Wait until this node's own server knows the worker, as answers may come through it: before anything is sent.
    void be_introduced(double timeout, double patience);
    bool is_introduced() const { return is_introduced_; }

    bool is_busy() const { return !operations_.empty(); }
    size_t pending() const; // somebody wants to know how they end
    bool conflicts(const ps_request &request); // with what is on its way: wait for that first, and for nothing else
    void wait_for_keys(const ps_request &request, double timeout);

    // Wait for room (see in_flight.h) for so many bytes of keys and values; for intents with so many bytes of keys.
    // What is sent next goes even if it needs more.
    bool has_room(uint64_t bytes) const { return in_flight_.has_room(bytes); }
    void make_room(uint64_t bytes, double timeout);
    void make_room_for_intents(uint64_t bytes, double timeout);

    // Send what is at these positions of a request; the buffer must live until it is finished. Returns a timestamp.
    int64_t start(const ps_request &request, const std::vector<int64_t> &positions);
    int64_t start(const ps_request &request); // all of them
    int64_t filling(const ps_request &request) const; // the pull on its way that writes to the request's buffer, or -1
    void wait_for_buffer(const ps_request &request, Deadline &deadline); // until there is none
    void abandon(int64_t timestamp); // its buffer will be gone: what still comes is dropped
    int64_t localize(const int64_t *keys, int64_t num_keys);
    void intent(const int64_t *keys, int64_t num_keys, int64_t first, int64_t end);

    void require_issued(int64_t timestamp) const; // throws PS_EINVAL
    bool is_finished(int64_t timestamp); // looks at what has arrived
    void wait(int64_t timestamp, double timeout);
    void wait_all(double timeout);
    // Wait for what was sent before, and what came of it. Who does not go on gives up by any short timeout.
    void settle(Until until, double timeout);

private:
    // What is on its way of one operation; `keys` and `places` by the positions that messages name.
    struct Operation {
        ps::Operation operation{};
        std::vector<Key> keys;
        std::vector<char *> places; // of each key's value; none: one after another from `values` on, of one length
        char *values = nullptr; // of a pull: nobody wants them any more
        std::vector<bool> answered; // none: no key is
        uint64_t left = 0;
        double sent = 0; // when; seconds
        uint64_t bytes = 0; // it takes of in_flight_
        bool noted = false; // what is left is in keys_
        bool abandoned = false;
        NodeId lost_with = no_node; // a key was lost with this node
        bool is_answered(size_t position) const { return !answered.empty() && answered[position]; }
    };
    struct Break { // of a connection to a node
        NodeId node;
        double seen; // seconds
        int64_t before; // operations whose messages it may have taken
    };
    struct Filled { // memory that a pull on its way writes to; these do not overlap
        const char *end;
        int64_t timestamp;
    };

    static constexpr uint32_t no_epoch = UINT32_MAX;

    void look_at_epoch();
    void require_not_failed(int64_t timestamp); // throws PS_ELOST, once
    Key key_at(const ps_request &request, int64_t position) const;
    void say_hello();
    int64_t send(Operation operation);
    void note_keys(Operation &operation);
    int64_t next_conflict(const ps_request &request, int64_t from) const;
    int64_t note_buffer(const ps_request &request, int64_t timestamp);
    NodeId target_of(Key key) const;
    void remember(const Operation &operation, const AnswerBatch &answer, NodeId owner);
    void look_for_breaks(double now); // throws PS_ELOST if that is why a question has no answer
    void give_up(const Break &broken);
    void drop(std::unordered_map<int64_t, Operation>::iterator found);
    [[noreturn]] void fail_for(NodeId node) const;
    void receive();
    void receive(const ZmqMessage &frame);
    void take(const AnswerBatch &answer, NodeId from, Span values);
    void count_end(const Operation &operation);
    void take_part(Operation &operation, const AnswerBatch &answer, Span values);
    bool is_in_time(const std::function<bool()> &done, double seconds); // by waiting for it
    void wait_until(const std::function<bool()> &done, double timeout, double patience, const char *what);

    Segment &segment_;
    StoreShape shape_;
    FrameHeader header_;
    const uint32_t worker_, slot_;
    const double patience_;
    std::function<void()> check_;
    HomeRule rule_; // of the epoch
    Failures failures_;
    WorkerConnections connections_;
    std::deque<Break> breaks_;
    double look_at_ = 0; // when to look for more of them
    int64_t given_up_ = 0; // operations before this one may still be answered, and are not on their way
    std::unordered_map<int64_t, Operation> operations_; // by timestamp
    InFlight in_flight_; // operations_
    InFlight announced_; // intents that the server may not have read yet
    uint32_t underway_[3] = {}; // operations by their kind, without localize
    KeyTable keys_; // of operations on their way, as far as that was needed
    std::map<const char *, Filled> filled_; // by the memory's beginning
    int64_t next_ = 0;
    uint64_t asked_ = 0, settled_ = 0; // numbers of questions whether all has settled
    std::optional<Until> asking_; // what the last one's caller will go on waiting for
    bool is_introduced_ = false, welcome_ = false; // ever; since it said hello last
};

} // namespace ps
