// Which sender may send which message to a node's server. A transport names the connection that a message came on, and
// what the message says about its sender must fit that name. Without CURVE keys any process that knows the cluster's
// number can take any name. All checks throw Malformed.
#pragma once

#include "net/peer.h"
#include "protocol/homes.h"
#include "wire/backups.h"
#include "wire/moves.h"
#include "wire/numbers.h"
#include "wire/operations.h"
#include "wire/replicas.h"

namespace ps {

struct Sender {
    enum class Role : uint8_t { node, vigil, worker };

    Role role;
    NodeId node; // a vigil's and a worker's own node
    uint32_t worker; // a worker's number

    bool is_node() const { return role == Role::node; }
};

Sender sender_of(const std::string &name, const FrameHeader &header); // the header's cluster must have been checked
void require_other_node(const Sender &sender, NodeId self);

class Senders {
public:
    Senders(const Header &header, const HomeRule &rule) // `rule`: of the current epoch
        : self_(NodeId(header.node)), rule_(rule) {}

    void require_worker_here(const Sender &sender) const;
    void require_node(const Sender &sender) const { require_other_node(sender, self_); }

    // Check that this sender may send a message about these keys.
    void check(const Sender &sender, const RequestBatch &batch) const;
    void check(const Sender &sender, const AnswerBatch &batch) const;
    void check(const Sender &sender, const LocalizeBatch &batch) const;
    void check(const Sender &sender, const RelocateBatch &batch) const;
    void check(const Sender &sender, const OfferBatch &batch) const;
    void check(const Sender &sender, const TransferBatch &batch) const;
    void check(const Sender &sender, const WantBatch &batch) const;
    void check(const Sender &sender, const DeltaBatch &batch) const;
    void check(const Sender &sender, const RefreshBatch &batch) const;
    void check(const Sender &sender, const EndedBatch &batch) const;
    void check(const Sender &sender, const RecallBatch &batch) const;
    void check(const Sender &sender, const BackupBatch &batch) const;
    void check(const Sender &sender, const BackedBatch &batch) const;
    void check(const Sender &sender, const TakeOverBatch &batch) const;

private:
    void require_home(const std::vector<Key> &keys, NodeId node) const;

    NodeId self_;
    const HomeRule &rule_;
};

} // namespace ps
