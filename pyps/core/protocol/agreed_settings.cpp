#include "agreed_settings.h"

#include <algorithm>
#include <iterator>

namespace ps {

AgreedSettings::AgreedSettings(NodeId self, NodeId nodes, uint32_t settings, Port &port)
    : self_(self), port_(port), lost_(nodes), awaited_(nodes), last_(settings) {}

void AgreedSettings::change(SettingChanges changes) {
    count_++;
    for (SettingChange &change : changes) {
        change.version = count_ << 16 | self_;
        last_[change.index] = change;
    }
    tell(changes, self_);
}

void AgreedSettings::receive(NodeId from, const SettingNews &told) {
    if (lost_[from]) return;
    if (told.changes.empty()) {
        if (awaited_[from] == told.serial) await(from, 0);
        return;
    }
    SettingChanges news;
    for (const SettingChange &change : told.changes) {
        count_ = std::max(count_, change.version >> 16);
        if (change.version <= last_[change.index].version) continue;
        last_[change.index] = change;
        port_.adopt(change);
        news.push_back(change);
    }
    if (host_ == self_) tell(news, from);
    port_.send(from, {told.serial, {}});
}

// Tell the host, or as the host all other nodes but `from`, which knows the changes.
void AgreedSettings::tell(const SettingChanges &changes, NodeId from) {
    if (changes.empty()) return;
    if (host_ != self_) return tell_one(host_, changes);
    for (NodeId node = 0; node < lost_.size(); node++)
        if (node != self_ && node != from && !lost_[node]) tell_one(node, changes);
}

// Only the last message to a node is to be answered, so it says what those before it did that are not.
void AgreedSettings::tell_one(NodeId to, const SettingChanges &changes) {
    const bool is_behind = awaited_[to] > 0;
    await(to, ++serial_);
    port_.send(to, {serial_, is_behind ? known() : changes});
}

void AgreedSettings::await(NodeId node, uint64_t serial) {
    unanswered_ = NodeId(unanswered_ + (serial > 0) - (awaited_[node] > 0));
    awaited_[node] = serial;
}

void AgreedSettings::repeat() {
    for (NodeId node = 0; node < lost_.size() && !are_known(); node++)
        if (awaited_[node] > 0) port_.send(node, {awaited_[node], known()});
}

// A host may be lost after it has told only some nodes, so the next one is told every change that is known here.
void AgreedSettings::lose(NodeId node) {
    lost_[node] = true;
    await(node, 0);
    if (node != host_) return;
    while (host_ + 1u < lost_.size() && lost_[host_]) host_++;
    tell(known(), self_);
}

void AgreedSettings::join(NodeId node) {
    lost_[node] = false;
    const SettingChanges all = known();
    if (host_ == self_ && node != self_ && !all.empty()) tell_one(node, all);
}

SettingChanges AgreedSettings::known() const {
    SettingChanges known;
    std::copy_if(last_.begin(), last_.end(), std::back_inserter(known),
                 [](const SettingChange &change) { return change.version > 0; });
    return known;
}

} // namespace ps
