#include "server/tuning.h"

#include <utility>

#include "net/peer.h"

namespace ps {

Tuning::Tuning(Segment &segment, Send send)
    : segment_(segment), header_(header_from(segment)), send_(std::move(send)),
      agreed_(header_.from, NodeId(segment.header().places), uint32_t(segment.rule().settings.size()), *this) {}

// A process writes a setting before it sets the bit. If what another node has changed is written in between, the two
// changes count as having come in that order, and all nodes get the same value.
void Tuning::look() {
    Header &header = segment_.header();
    if (header.settings_changed.load(std::memory_order_relaxed) == 0) return;
    const uint64_t changed = header.settings_changed.exchange(0);
    SettingChanges changes;
    for (uint32_t i = 0; i < segment_.rule().settings.size(); i++)
        if (changed >> i & 1) changes.push_back({i, 0, header.settings[i].load()});
    agreed_.change(std::move(changes));
}

void Tuning::receive(NodeId from, const SettingsMessage &message) {
    const Settings &settings = segment_.rule().settings;
    for (const SettingChange &change : message.news.changes) {
        if (change.index >= settings.size()) throw Malformed("there is no setting " + std::to_string(change.index));
        if (!settings[change.index].takes(change.value)) throw Malformed("a setting is outside of its limits");
    }
    look();
    agreed_.receive(from, message.news);
}

void Tuning::send(NodeId to, const SettingNews &news) { send_(to, SettingsMessage{news}.encode(header_)); }

void Tuning::adopt(const SettingChange &change) { segment_.header().settings[change.index].store(change.value); }

} // namespace ps
