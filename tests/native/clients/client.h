// A simulated worker: the shipped half of the protocol (requests/) between a store and a world, beside a second account
// of everything that it is to decide. After each step the two must agree.
#pragma once

#include <map>

#include "../operations.h"
#include "../trace.h"
#include "record.h"
#include "requests/requests.h"

namespace ps::clients {

class Client : private Whereabouts, private Outbox {
public:
    Client(Surroundings &world, const Store &store, const WideShape &shape, NodeId node, uint64_t number,
           bool asks_again = false);

    // False: nothing was done, it has to wait or there is nothing to do.
    bool operate(Operation operation, std::vector<Key> keys);
    bool localize(const std::vector<Key> &keys);
    bool intend(const std::vector<Key> &keys, bool begin);
    void ask();
    void abandon_one();

    void receive(const Bytes &message);
    void note_read(uint64_t intents) { unread_ -= intents; } // bytes of them, by its server
    void begin_epoch(uint32_t epoch, const std::vector<NodeId> &members, NodeId lost);
    void note_break(NodeId node); // what was sent before and is not answered may be lost
    void tick(); // time has passed
    void die() { records_.clear(), is_dead_ = true; }

    bool is_dead() const { return is_dead_; }
    bool is_busy(Key key, Operation operation) const; // has it such an operation under way?
    void check_idle(); // at the end

private:
    struct Break {
        NodeId node;
        double seen;
        int64_t before;
    };
    struct Message {
        NodeId to;
        Bytes bytes;
    };

    void find(const std::vector<Key> &keys, std::vector<NodeId> *nodes) const override;
    void note_owner(const std::vector<Key> &keys, const AnswerBatch &answer, NodeId owner) override;
    char *reserve(NodeId to, uint64_t bytes) override;
    void send_reserved() override;
    void send(NodeId to, Bytes message) override;
    void ended(Operation, double) override { told_ended_++; }

    uint64_t bytes_in_flight() const;
    bool has_room(uint64_t bytes) const;
    bool must_wait(const ps_request &request, const Record &record);
    void check_sent(const Record &record, int64_t timestamp, const std::vector<NodeId> &targets); // the first of sent_
    void check_asked_again(int64_t timestamp, const Record &record);
    bool is_done_here(Operation operation, Key key) const;
    bool is_underway(Key key) const; // of an operation other than a pull
    std::vector<NodeId> expected_targets(const std::vector<Key> &keys) const;
    void start(const ps_request &request, Record record);
    void expect(const AnswerBatch &answer, NodeId from, ValueBytes values, Record &record);
    bool is_refused(const Bytes &message);
    void receive_damaged(Bytes message, const AnswerBatch &answer, bool has_values);
    void receive_all_at_once(const FrameHeader &header, AnswerBatch answer, const Record &record);
    void receive_again(const Bytes &message);
    void conclude();
    void conclude(const Record &record);
    void tell(int64_t timestamp, NodeId failed);
    bool awaits_welcome() const { return std::count(welcome_.begin(), welcome_.end(), false) > 0; }
    bool is_settled() const { return *std::min_element(settled_.begin(), settled_.end()) == asked_; }
    void give_up_questions() {
        std::fill(welcome_.begin(), welcome_.end(), true);
        std::fill(settled_.begin(), settled_.end(), asked_);
    }

    Surroundings &world_;
    const Store &store_;
    const WideShape &shape_;
    const NodeId node_;
    const uint64_t number_;
    const uint32_t slot_;
    const uint64_t in_flight_, longest_;
    const double patience_ = 5;
    const bool asks_again_; // in a new epoch, and writes go to the servers
    Requests requests_;
    std::map<int64_t, Record> records_; // by timestamp
    std::vector<Memory> memories_;
    std::set<Key> localized_; // once
    uint32_t epoch_ = UINT32_MAX;
    std::vector<NodeId> members_;
    std::vector<Break> breaks_;
    int64_t next_ = 0, given_up_ = 0;
    struct Sent {
        std::vector<Message> messages;
        std::vector<NodeId> seen; // of the operation's keys, as they were found
    };
    std::vector<Message> reserved_;
    std::vector<Sent> sent_; // by operation; those that were not checked yet
    std::vector<NodeId> seen_;
    long told_ended_ = 0, expected_ended_ = 0;
    long noted_owners_ = 0, expected_owners_ = 0;
    uint64_t unread_ = 0; // bytes of intents
    std::vector<bool> welcome_; // by channel
    uint32_t hello_ = 0; // number of the last one
    std::map<int64_t, NodeId> untold_; // failures of operations that have ended
    uint64_t asked_ = 0;
    std::vector<uint64_t> settled_; // by channel
    bool introduced_ = false, is_dead_ = false;
    bool follows_ = false; // the last request went behind others, to the homes of its keys
};

} // namespace ps::clients

#include "client_answers.h"
#include "client_operations.h"
