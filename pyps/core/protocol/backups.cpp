// Backups. Each key's whole is kept by some other nodes as well, its keepers. The owner does not change the value at
// once: it sends the whole, as the write makes it, to all keepers, and when all have it, changes the value and answers.
// So what a worker has read or was told is nowhere lost with fewer nodes than have the key. Writes that come while a
// backup is on its way are in the next one.
//
// When the owner is lost, the keeper with the newest backup takes the key over, and gives backups to other nodes
// (take_overs.cpp). Workers then ask again for what was not answered; what the value has already is known by its
// origin.
#include <algorithm>
#include <utility>

#include "protocol.h"
#include "step.h"

namespace ps {

// Whether the value has this write, or will have it.
bool Protocol::is_known(Key key, const Request &request) {
    const Origin &origin = request.origin;
    if (recent_.has(key, origin)) {
        post_.answer(origin, key, {}, refresh_origin(key, origin.node));
        return true;
    }
    Write *write = find_write(key);
    if (!write) return false;
    for (auto *known : {&write->written, &write->next})
        for (Write::Request &other : *known)
            if (other.origin == origin) return other.is_asked = true;
    return false;
}

Write *Protocol::find_write(Key key) {
    leave_run(key);
    auto found = writes_.find(key);
    return found == writes_.end() ? nullptr : &found->second;
}

Write &Protocol::begin_write(Key key) {
    if (Write *write = find_write(key)) return *write;
    Write &write = writes_[key];
    values_.read(key, &write.whole);
    return write;
}

void Protocol::write(Key key, const Request &request) {
    if (is_known(key, request)) return;
    if (is_being_erased(key)) return erasures_[key].later.push_back(request);
    Write &write = begin_write(key);
    if (!write.orders.empty()) {
        write.later.push_back(request);
        return;
    }
    if (request.operation == Operation::push)
        values_.apply(&write.whole, request.value.data(), key);
    else
        values_.assign(&write.whole, request.value.data(), key);
    write.next.push_back({request.origin, true});
    if (!write.is_on_its_way) send_backup(key, write);
}

void Protocol::send_backup(Key key, Write &write) {
    write.is_on_its_way = true;
    write.version = ++last_version_;
    write.written = std::exchange(write.next, {});
    write.sent = write.whole;
    send_to_keepers(key, write);
}

void Protocol::send_to_keepers(Key key, Write &write) {
    write.missing = keepers_.of(key);
    const bool is_lacking = lacking_.count(key);
    if (is_lacking) drop_backups(key, write);
    if (write.missing.empty()) return commit(key); // no other node is left
    Backup message{self_, write.version, {}, write.erases ? Bytes() : write.sent, write.erases};
    if (is_lacking) message.written = recent_.of(key); // some keepers do not know earlier writes
    if (!write.erases)
        for (const Write::Request &request : write.written) message.written.push_back(request.origin);
    for (NodeId keeper : keepers_.of(key)) post_.send(keeper, key, message);
}

// Those at nodes that leave and are no keepers any more.
void Protocol::drop_backups(Key key, Write &write) {
    const std::vector<NodeId> &keepers = keepers_.of(key);
    leavers_.for_each([&](NodeId node) {
        if (node == self_ || std::count(keepers.begin(), keepers.end(), node)) return;
        write.missing.push_back(node);
        post_.send(node, key, Backup{self_, write.version, {}, {}, true});
    });
}

void Protocol::receive(Key key, Backup message) {
    if (backups_ == 0) throw Unexpected("a backup comes, but keys have none");
    if (owns(key)) throw Unexpected("a backup comes of a key that is here");
    const Backed answer{self_, message.version};
    const NodeId owner = message.owner;
    last_version_ = std::max(last_version_, message.version);
    recent_.note(key, std::exchange(message.written, {}));
    if (!message.erases)
        copies_.put(key, message.version, message.whole.data(), message.whole.size());
    else if (!copies_.has_newer(key, message.version))
        copies_.erase(key, values_.whole_bytes(key));
    post_.send(owner, key, answer);
}

void Protocol::receive(Key key, const Backed &message) {
    step(key, [=] { take(key, message); });
}

// If the version is another one, it was sent again.
void Protocol::take(Key key, const Backed &message) {
    auto remove = [&](std::vector<NodeId> &missing) {
        missing.erase(std::remove(missing.begin(), missing.end(), message.keeper), missing.end());
        return missing.empty();
    };
    Write *write = find_write(key);
    if (write && write->version == message.version && remove(write->missing)) commit(key);
    auto taking = taking_over_.find(key);
    if (taking != taking_over_.end() && taking->second.version == message.version && remove(taking->second.missing))
        go_on_from_backup(key);
}

// All keepers have the backup that was on its way.
void Protocol::commit(Key key) {
    Write &write = writes_.find(key)->second;
    write.is_on_its_way = false;
    if (write.erases) return erase_if_alone(key);
    if (!write.written.empty()) {
        values_.replace(key, write.sent.data());
        list_master(key);
    }
    lacking_.erase(key);
    if (keepers_.drop_leaving(key)) lack(key);
    for (const Write::Request &request : std::exchange(write.written, {})) {
        recent_.note(key, request.origin);
        if (request.is_asked) post_.answer(request.origin, key, {}, refresh_origin(key, request.origin.node));
    }
    write.next.empty() ? finish(key) : send_backup(key, write);
}

void Protocol::finish(Key key) {
    Write write = std::move(writes_.extract(key).mapped());
    hand_on(key, std::move(write.orders));
    Erasure erasure;
    for (Request &request : write.later) {
        if (request.operation == Operation::erase)
            erasure.requests.push_back(std::move(request));
        else
            take(key, std::move(request), not_from_home);
    }
    const Write *next = find_write(key); // with the orders, if it lacks copies again
    if (!owns(key) || (next && !next->orders.empty())) {
        for (Request &request : erasure.requests) take_erasure(key, std::move(request));
    } else if (!erasure.requests.empty()) {
        begin_erasure(key, std::move(erasure));
    } else {
        erase_if_alone(key);
    }
}

// Whether something is on its way to keepers that has to be there before the key may move.
bool Protocol::waits_for_backup(Key key) {
    if (backups_) take_changes();
    if (lacking_.count(key)) back_up(key);
    return find_write(key);
}

void Protocol::back_up(Key key) {
    Write &write = begin_write(key);
    if (!write.is_on_its_way && !write.erases) send_backup(key, write);
}

void Protocol::lack(Key key) {
    lacking_[key] = true;
    next_lacking_.push_back(key);
}

// In each round some of the keys get new backups.
void Protocol::back_up_lacking() {
    while (!next_lacking_.empty() && writes_.size() < keys_at_once) {
        Key key = next_lacking_.back();
        next_lacking_.pop_back();
        if (lacking_.count(key))
            step(key, [=] {
                if (lacking_.count(key)) back_up(key);
            });
    }
    const bool is_settled = std::all_of(homes_.rule().members().begin(), homes_.rule().members().end(),
                                        [&](NodeId node) { return settled_[node]; });
    if (!secure_[self_] && is_settled && lacking_.empty() && taking_over_.empty() && parked_.empty() &&
        !knows_lost_keys_)
        tell({News::What::secure});
}

void Protocol::tell(News news) {
    hear(self_, news);
    for (NodeId node : homes_.rule().members())
        if (node != self_) post_.tell(node, news);
}

// The key moves to a node. If that had a backup, this node has it now; it also has one if too few others stay: those
// that leave may go before the key has come and has other backups.
void Protocol::pass_backups_on(Key key, NodeId to, Transfer *message) {
    message->backup = last_version_;
    message->keepers = keepers_.of(key);
    message->written = recent_.of(key);
    keepers_.forget(key);
    std::vector<NodeId> &keepers = message->keepers;
    const size_t before = keepers.size();
    keepers.erase(std::remove(keepers.begin(), keepers.end(), to), keepers.end());
    const auto stay = size_t(
        std::count_if(keepers.begin(), keepers.end(), [&](NodeId at) { return !leavers_.has(at); }));
    if (leaves_ ? keepers.size() == before || keepers.size() >= backups_ : stay >= backups_) return;
    keepers.push_back(self_);
    std::sort(keepers.begin(), keepers.end());
    copies_.put(key, last_version_, message->value.data(), message->value.size());
}

void Protocol::take_backups_in(Key key, const Transfer &message) {
    copies_.erase(key, values_.whole_bytes(key));
    last_version_ = std::max(last_version_, message.backup);
    recent_.note(key, message.written);
    if (!keepers_.put(key, message.keepers)) lack(key);
}

} // namespace ps
