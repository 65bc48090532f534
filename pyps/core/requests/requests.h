// A worker's half of the protocol: its operations on keys that live on other nodes, until all their answers have come
// or they are given up. It decides which node is asked, what has to wait for what, which buffer an answer fills, and
// what ends when an epoch begins or a connection breaks. It has no sockets, clocks or threads: Remote (net/remote.h)
// sends and waits for it.
//
// What always holds:
// - Pulls may overtake pulls, and pushes pushes. Sets on one key may not overtake each other, nor may operations of
//   different kinds: conflicts() tells before anything is done. A pull may follow pushes on the same way: may_follow().
// - A buffer is written only while its pull is on its way and not abandoned, and no two pulls write to the same memory.
// - Every operation ends once: it is answered key by key, or its failure is kept until the caller takes it.
// - Messages belong to an epoch. Questions of a former epoch are over, and so are their answers.
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
        uint32_t worker, slot; // the worker's number, and its slot at its node
        uint32_t element_bytes; // of values
        uint64_t in_flight; // most bytes of keys and values; see in_flight.h
        double break_patience; // seconds after a connection broke until what it may have lost is given up
        uint64_t longest = most_for_worker; // most bytes of a message; see is_one_message
        bool asks_again = false; // in a new epoch, as keys have backups; else what is on its way fails
    };

    // `header`: has the node and the cluster that messages come from.
    Requests(const FrameHeader &header, const Shape &shape, const Settings &settings, Whereabouts &whereabouts,
             Outbox &outbox);

    // Call it before anything else, and whenever the epoch changes. What is on its way is asked again, or fails because
    // of `lost`.
    void begin_epoch(uint32_t epoch, std::vector<NodeId> members, NodeId lost);
    bool is_in(uint32_t epoch) const { return header_.epoch == epoch; }

    // Whether the request must wait, and what for: for operations that its keys must not overtake, until no conflict is
    // left; and for a pull that writes to the request's buffer.
    bool conflicts(const ps_request &request);
    // Position of the next key with a conflict; num_keys if none is left.
    int64_t next_conflict(const ps_request &request, int64_t from) const;
    // Whether a request with conflicts may be sent at once: it is a pull, and each of its keys with a conflict goes to
    // its home as all before it did. These come there in their order, and keep it on the way on to the key's owner
    // (protocol.h). Such a key must not be pulled here, though it may have come here meanwhile.
    bool may_follow(const ps_request &request) const;
    int64_t filling(const ps_request &request) const; // the timestamp of the pull, or -1
    // The request must also wait for room. What is larger than the limit has room when nothing else is on its way.
    const InFlight &in_flight() const { return in_flight_; }
    // False: the server was asked for room; call this again when a message has come.
    bool make_room_for_intents(uint64_t bytes);

    // Send all keys of a request that was checked, or those at these positions, in the order of the keys. The buffer
    // must live until the operation has ended or was abandoned. Returns a timestamp. Throws PS_EINVAL if the caller has
    // changed the keys since they were checked.
    int64_t start(const ps_request &request, double now);
    int64_t start(const ps_request &request, const std::vector<int64_t> &positions, double now);
    int64_t localize(const int64_t *keys, int64_t num_keys, double now);
    // What is about rows (see Operation); `answers` has a byte per key, and must live as a request's buffer.
    int64_t ask_about_rows(Operation operation, const int64_t *keys, int64_t num_keys, uint8_t *answers, double now);
    void intent(const int64_t *keys, int64_t num_keys, int64_t first, int64_t end);
    void abandon(int64_t timestamp); // the buffer may go: values that still come are dropped

    void say_hello();
    void ask(Until until); // whether everything has settled
    Questions &questions() { return questions_; }
    const Questions &questions() const { return questions_; }

    // Takes in a message to the worker. Throws Malformed, and has changed nothing then.
    void receive(const char *bytes, uint64_t size);

    // A connection to a node has broken, so what was sent before may be lost.
    void note_break(NodeId node, double now);
    // End the operations that a break may have lost, some time after it. Returns no_node; or the worker's own node, if
    // its questions to that will not be answered either.
    NodeId give_up(double now);

    bool is_idle() const { return sent_.empty(); }
    // Whether no answer can come any more, not even to an operation that was given up.
    bool expects_nothing() const { return is_idle() && questions_.are_answered() && given_up_ == 0; }
    size_t pending() const; // how many operations are on their way and not abandoned
    bool is_issued(int64_t timestamp) const { return timestamp >= -1 && timestamp < next_; }
    int64_t last_issued() const { return next_ - 1; }
    bool is_on_its_way(int64_t timestamp) const { return sent_.count(timestamp); }
    Operation operation(int64_t timestamp) const { return sent_.at(timestamp).operation; } // of an operation on its way
    size_t num_keys(int64_t timestamp) const { return sent_.at(timestamp).keys.size(); }

    // The node because of which an operation that has ended failed; no_room for want of memory; no_node if it did not
    // fail, or if that was told already.
    NodeId take_failure(int64_t timestamp) { return failures_.take(timestamp); }
    // For all failures: the node of the first.
    NodeId take_failures() { return failures_.empty() ? no_node : failures_.take_all(); }

private:
    // An operation on its way. `keys` and `spans` are in the order of the positions that messages name.
    struct Sent {
        Operation operation{};
        std::vector<Key> keys;
        // Each key's value; empty: the values lie one after another from `values` on, all of one length.
        std::vector<ValueSpan> spans;
        char *values = nullptr; // null for a pull that was abandoned: the values are dropped
        Bytes kept; // the values of a write that may be asked for again: the caller's memory may change meanwhile
        std::vector<bool> answered; // empty: no key is answered
        std::vector<bool> strays; // which keys went to another node than their homes; empty: none
        uint64_t left = 0;
        double began = 0;
        uint64_t bytes = 0; // what it takes of in_flight_
        bool noted = false; // its keys that are not answered are in keys_
        bool abandoned = false;
        NodeId lost_with = no_node; // why it fails: a key was lost with this node, or no_room
        bool is_answered(size_t position) const { return !answered.empty() && answered[position]; }
    };
    using Known = std::unordered_map<int64_t, Sent>::iterator;
    struct Break { // a connection to a node broke
        NodeId node;
        double seen;
        int64_t before; // it may have carried messages of operations before this one
    };

    Sent prepare(const ps_request &request) const;
    void check(const std::vector<Key> &keys) const;
    std::vector<ValueSpan> spans_of(const std::vector<Key> &keys, const ps_request &request) const;
    int64_t note_buffer(const ps_request &request, int64_t timestamp);
    uint64_t bytes_of(const ps_request &request) const {
        return uint64_t(request.num_values) * settings_.element_bytes;
    }
    int64_t send(Sent sent, double now);
    void keep_values(Sent &sent) const;
    uint32_t behind(int64_t timestamp);
    void depart(int64_t timestamp, Sent &sent, std::vector<uint32_t> positions = {});
    void ask_again(NodeId lost);
    Sent unanswered(const Sent &sent, std::vector<uint32_t> *positions) const;
    std::vector<NodeId> targets_of(Sent &sent) const;
    bool is_among_others(Operation operation) const; // whether operations of other kinds are on their way
    void announce(uint32_t channel, const int64_t *keys, int64_t num_keys, int64_t first, int64_t end);
    template <class Message>
    void send_to_own_channels(Message &&message);
    void note_keys(Sent &sent);
    void forget_keys(const Sent &sent);
    void drop(Known found);
    void give_up(const Break &broken);

    void take(const AnswerBatch &answer, NodeId from, ValueBytes values);
    bool is_answered_whole(const Sent &sent, const AnswerBatch &answer) const;
    void mark_answered(Sent &sent, const AnswerBatch &answer, uint64_t value_bytes) const;
    void fill(const Sent &sent, const AnswerBatch &answer, const char *values) const;
    uint64_t length(const Sent &sent, uint32_t position) const {
        return sent.spans.empty() ? each_ : sent.spans[position].bytes;
    }

    FrameHeader header_;
    const Shape &shape_;
    const uint64_t each_; // bytes of every value, or 0 if they differ
    const Settings settings_;
    Whereabouts &whereabouts_;
    Outbox &outbox_;
    HomeRule rule_; // of the current epoch
    Questions questions_;
    Failures failures_;
    std::deque<Break> breaks_;
    int64_t given_up_ = 0; // operations before this one may get late answers though they are not on their way
    std::unordered_map<int64_t, Sent> sent_; // by timestamp
    InFlight in_flight_; // of what is in sent_
    // Intents that the server may not have read yet; those of them that were sent after the last hello.
    InFlight announced_, since_hello_;
    uint32_t underway_[int(last_operation) + 1] = {}; // how many operations of each kind are on their way
    KeyTable keys_; // keys of operations on their way; only filled when a request may conflict with them
    Buffers buffers_;
    int64_t next_ = 0;
    int64_t oldest_ = 0; // all operations before this one have ended
    // Those that were given up in this epoch may still be done.
    int64_t first_given_up_ = INT64_MAX;
};

} // namespace ps
