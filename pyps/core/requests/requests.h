// A worker's half of the protocol: its operations on keys that live on other nodes, from the moment at which they may
// begin until all their answers have come or they are given up. Whom to ask, what has to wait for what, which buffer an
// answer fills, and what is over when an epoch begins or a connection breaks is decided here, without sockets, clocks
// and threads. Remote (net/remote.h) has these: it sends and waits.
//
// What always holds:
// - Operations of one kind may overtake each other, sets and those of different kinds on one key may not: conflicts()
//   says so before anything is done.
// - A buffer is written only while its pull is on its way and was not abandoned, and no two pulls write to the same.
// - Every operation ends once: it is answered key by key, or its failure is kept until somebody takes it.
// - Messages are of their epoch. What was asked in a former one is over, and so are its answers.
#pragma once

#include <deque>
#include <unordered_map>
#include <vector>

#include "protocol/homes.h"
#include "ps.h"
#include "requests/buffers.h"
#include "requests/departure.h"
#include "requests/failures.h"
#include "requests/in_flight.h"
#include "requests/key_table.h"
#include "requests/ports.h"
#include "requests/questions.h"
#include "wire/bounds.h"
#include "wire/shape.h"

namespace ps {

class Requests {
public:
    struct Settings {
        uint32_t worker, slot; // its number and its slot at its node
        uint32_t element_bytes; // of values
        uint64_t in_flight; // bytes of keys and values, see in_flight.h
        double break_patience; // seconds from a broken connection until what it may have lost is given up
        uint64_t longest = most_for_worker; // bytes of a message, see is_one_message
    };

    // The header says from which node and cluster messages are.
    Requests(const FrameHeader &header, const Shape &shape, const Settings &settings, Whereabouts &whereabouts,
             Outbox &outbox);

    // Before anything else, and whenever it changes. What is on its way fails, by a node that was lost.
    void begin_epoch(uint32_t epoch, std::vector<NodeId> members, NodeId lost);
    bool is_in(uint32_t epoch) const { return header_.epoch == epoch; }

    // Whether the request must wait for something on its way, and for what: for operations that its keys must not
    // overtake, until no conflict is left; for a pull that writes to the request's buffer.
    bool conflicts(const ps_request &request);
    int64_t next_conflict(const ps_request &request, int64_t from) const; // its position; num_keys: none is left
    int64_t filling(const ps_request &request) const; // the pull, or -1
    // For room as well; what is larger than the limit needs nothing else on its way.
    const InFlight &in_flight() const { return in_flight_; }
    bool make_room_for_intents(uint64_t bytes); // false: it was asked for, look again when something has come

    // Send all of a checked request, or what is at these positions, in the order of the keys; the buffer must live
    // until it is finished or abandoned. Returns a timestamp. Throws PS_EINVAL where the caller has changed the keys.
    int64_t start(const ps_request &request, double now);
    int64_t start(const ps_request &request, const std::vector<int64_t> &positions, double now);
    int64_t localize(const int64_t *keys, int64_t num_keys, double now);
    void intent(const int64_t *keys, int64_t num_keys, int64_t first, int64_t end);
    void abandon(int64_t timestamp); // its buffer will be gone: what still comes is dropped

    void say_hello();
    void ask(Until until); // whether all has settled
    Questions &questions() { return questions_; }
    const Questions &questions() const { return questions_; }

    // A message to the worker, as it was sent. Throws Malformed, and nothing has changed then.
    void receive(const char *bytes, uint64_t size);

    // A connection to a node has broken. What was sent before may be lost: give_up() ends it when its time has come. If
    // that leaves questions to the worker's own node without answers, give_up() returns this node; else no_node.
    void note_break(NodeId node, double now);
    NodeId give_up(double now);

    bool is_idle() const { return sent_.empty(); }
    bool expects_nothing() const { return is_idle() && questions_.are_answered() && given_up_ == 0; } // not even late
    size_t pending() const; // somebody wants to know how they end
    bool is_issued(int64_t timestamp) const { return timestamp >= -1 && timestamp < next_; }
    int64_t last_issued() const { return next_ - 1; }
    bool is_on_its_way(int64_t timestamp) const { return sent_.count(timestamp); }
    Operation operation(int64_t timestamp) const { return sent_.at(timestamp).operation; } // on its way
    size_t num_keys(int64_t timestamp) const { return sent_.at(timestamp).keys.size(); }

    // By which node an operation that has ended failed, no_room for want of memory; no_node: it did not, or that was
    // told.
    NodeId take_failure(int64_t timestamp) { return failures_.take(timestamp); }
    NodeId take_failures() { return failures_.empty() ? no_node : failures_.take_all(); } // of all; the first one's

private:
    // What is on its way of an operation; `keys` and `spans` by the positions that messages name.
    struct Sent {
        Operation operation{};
        std::vector<Key> keys;
        std::vector<ValueSpan> spans; // of each key's value; none: one after another from `values` on, of one length
        char *values = nullptr; // of a pull: nobody wants them any more
        std::vector<bool> answered; // none: no key is
        uint64_t left = 0;
        double began = 0;
        uint64_t bytes = 0; // it takes of in_flight_
        bool noted = false; // what is left is in keys_
        bool abandoned = false;
        NodeId lost_with = no_node; // a key was lost with this node
        bool is_answered(size_t position) const { return !answered.empty() && answered[position]; }
    };
    using Known = std::unordered_map<int64_t, Sent>::iterator;
    struct Break { // of a connection to a node
        NodeId node;
        double seen;
        int64_t before; // operations whose messages it may have taken
    };

    Sent prepare(const ps_request &request) const;
    void check(const std::vector<Key> &keys) const;
    std::vector<ValueSpan> spans_of(const std::vector<Key> &keys, char *values) const;
    int64_t note_buffer(const ps_request &request, int64_t timestamp);
    uint64_t bytes_of(const ps_request &request) const {
        return uint64_t(request.num_values) * settings_.element_bytes;
    }
    int64_t send(Sent sent, double now);
    std::vector<NodeId> targets_of(const Sent &sent) const;
    void announce(uint32_t channel, const int64_t *keys, int64_t num_keys, int64_t first, int64_t end);
    template <class Message>
    void send_to_own_channels(Message &&message);
    void note_keys(Sent &sent);
    void drop(Known found);
    void give_up(const Break &broken);

    void take(const AnswerBatch &answer, NodeId from, Span values);
    bool is_answered_whole(const Sent &sent, const AnswerBatch &answer) const;
    void mark_answered(Sent &sent, const AnswerBatch &answer, uint64_t value_bytes) const;
    void fill(const Sent &sent, const AnswerBatch &answer, const char *values) const;
    uint64_t length(const Sent &sent, uint32_t position) const {
        return sent.spans.empty() ? each_ : sent.spans[position].bytes;
    }

    FrameHeader header_;
    const Shape &shape_;
    const uint64_t each_; // bytes of every value, or 0
    const Settings settings_;
    Whereabouts &whereabouts_;
    Outbox &outbox_;
    HomeRule rule_; // of the epoch
    Questions questions_;
    Failures failures_;
    std::deque<Break> breaks_;
    int64_t given_up_ = 0; // operations before this one may still be answered, and are not on their way
    std::unordered_map<int64_t, Sent> sent_; // by timestamp
    InFlight in_flight_; // of sent_
    InFlight announced_, since_hello_; // intents that the server may not have read yet; the last of them
    uint32_t underway_[4] = {}; // operations by their kind
    KeyTable keys_; // of operations on their way, as far as that was needed
    Buffers buffers_;
    int64_t next_ = 0;
};

} // namespace ps
