// What a worker's requests need from their surroundings: where keys are, a way to send messages, and who is told when
// an operation ends. They have no other I/O, no clock and no threads, so that tests can run them under every order of
// messages. Each of these functions is called for many keys at once.
#pragma once

#include <vector>

#include "wire/operations.h"

namespace ps {

// Where keys are, as far as the worker's node knows.
class Whereabouts {
public:
    virtual ~Whereabouts() = default;

    // `nodes` has one entry per key, at first the worker's own node. An entry stays if that node has the key, waits for
    // it or has a replica of it; else it becomes the node where the key was seen last, or no_node.
    virtual void find(const std::vector<Key> &keys, std::vector<NodeId> *nodes) const = 0;

    // The node `owner` has answered for these keys, so it owned them then.
    virtual void note_owner(const std::vector<Key> &keys, const AnswerBatch &answer, NodeId owner) = 0;
};

class Outbox {
public:
    virtual ~Outbox() = default;

    // Memory for a message, to be filled before send_reserved(). Throws if it cannot be sent.
    virtual char *reserve(NodeId to, uint64_t bytes) = 0;
    virtual void send_reserved() = 0; // in the order of the calls of reserve()
    virtual void send(NodeId to, Bytes message) = 0;

    // An operation of this kind that was sent at this time has all its answers.
    virtual void ended(Operation operation, double began) = 0;
};

} // namespace ps
