#include "server/senders.h"

namespace ps {

Sender sender_of(const std::string &name, const FrameHeader &header) {
    using Role = Sender::Role;
    bool is_short = name.size() == name_of_node(0, 0).size();
    bool fits = is_short || name.size() == name_of_worker(0, 0, 0).size();
    Sender sender{!is_short ? Role::worker : name[0] == 'V' ? Role::vigil : Role::node, 0, 0};
    if (fits) {
        std::memcpy(&sender.node, &name[1], sizeof sender.node);
        if (!is_short) std::memcpy(&sender.worker, &name[3], sizeof sender.worker);
        fits = name == (sender.role == Role::node    ? name_of_node(sender.node, header.cluster)
                        : sender.role == Role::vigil ? name_of_vigil(sender.node, header.cluster)
                                                     : name_of_worker(sender.node, sender.worker, header.cluster));
    }
    if (!fits) throw Malformed("its sender is no node and no worker of this cluster");
    if (sender.node != header.from)
        throw Malformed("it comes from node " + std::to_string(sender.node) + " and says from node " +
                        std::to_string(header.from));
    if ((sender.role == Role::vigil) != is_from_vigil(header.kind))
        throw Malformed("a node's vigil speaks of members only");
    return sender;
}

void require_other_node(const Sender &sender, NodeId self) {
    if (!sender.is_node() || sender.node == self) throw Malformed("it comes from no other node");
}

void Senders::require_worker_here(const Sender &sender) const {
    if (sender.is_node() || sender.node != self_) throw Malformed("it comes from no worker of this node");
}

void Senders::require_home(const std::vector<Key> &keys, NodeId node) const {
    for (Key key : keys)
        if (rule_.home(key) != node)
            throw Malformed("node " + std::to_string(node) + " is not the home of key " + std::to_string(key));
}

void Senders::check(const Sender &sender, const RequestBatch &batch) const {
    if (batch.operation == Operation::localize) require_worker_here(sender);
    if (!sender.is_node() && (batch.node != sender.node || batch.worker != sender.worker || batch.from_home))
        throw Malformed("a worker sends another one's request");
    if (sender.is_node()) require_node(sender);
    if (batch.from_home) require_home(batch.keys, sender.node);
}

void Senders::check(const Sender &sender, const AnswerBatch &batch) const {
    require_node(sender);
    if (batch.node != self_) throw Malformed("it answers a worker of another node");
}

void Senders::check(const Sender &sender, const LocalizeBatch &batch) const {
    require_node(sender);
    require_home(batch.keys, self_);
}

void Senders::check(const Sender &sender, const RelocateBatch &batch) const {
    require_node(sender);
    require_home(batch.keys, sender.node);
}

void Senders::check(const Sender &sender, const OfferBatch &batch) const {
    require_node(sender);
    if (batch.node != sender.node) throw Malformed("it offers another node's keys");
}

void Senders::check(const Sender &sender, const TransferBatch &) const { require_node(sender); }

void Senders::check(const Sender &sender, const WantBatch &batch) const {
    require_node(sender);
    if (batch.from_home) require_home(batch.keys, sender.node);
}

void Senders::check(const Sender &sender, const DeltaBatch &batch) const {
    require_node(sender);
    if (batch.from_home) require_home(batch.keys, sender.node);
}

void Senders::check(const Sender &sender, const RefreshBatch &batch) const {
    require_node(sender);
    if (batch.owner != sender.node) throw Malformed("it is another owner's");
}

void Senders::check(const Sender &sender, const EndedBatch &) const { require_node(sender); }

void Senders::check(const Sender &sender, const RecallBatch &batch) const {
    require_node(sender);
    require_home(batch.keys, sender.node);
}

void Senders::check(const Sender &sender, const BackupBatch &) const { require_node(sender); }

void Senders::check(const Sender &sender, const BackedBatch &) const { require_node(sender); }

void Senders::check(const Sender &sender, const TakeOverBatch &batch) const {
    require_node(sender);
    require_home(batch.keys, sender.node);
}

} // namespace ps
