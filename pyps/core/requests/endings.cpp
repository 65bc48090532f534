// How operations end without answers: the caller abandons them, an epoch begins, or a connection breaks.
#include <algorithm>
#include <iterator>

#include "requests/requests.h"

namespace ps {

void Requests::abandon(int64_t timestamp) {
    auto found = sent_.find(timestamp);
    if (found == sent_.end()) return;
    Sent &sent = found->second;
    if (sent.operation == Operation::pull) buffers_.remove(sent.values);
    sent.values = nullptr;
    sent.abandoned = true;
}

size_t Requests::pending() const {
    return size_t(std::count_if(sent_.begin(), sent_.end(), [](const auto &known) { return !known.second.abandoned; }));
}

// What is on its way fails, as no node answers requests of a former epoch. If no node was lost, it names this one.
void Requests::begin_epoch(uint32_t epoch, std::vector<NodeId> members, NodeId lost) {
    header_.epoch = epoch;
    const std::vector<NodeId> &former = rule_.members();
    if (std::includes(members.begin(), members.end(), former.begin(), former.end())) lost = header_.from;
    rule_ = HomeRule(shape_.places(), std::move(members), shape_.keys());
    if (settings_.asks_again) return ask_again(lost);
    for (const auto &[timestamp, sent] : sent_) failures_.add(timestamp, lost);
    sent_.clear();
    in_flight_.clear();
    keys_ = {};
    buffers_.clear();
    std::fill(std::begin(underway_), std::end(underway_), 0);
}

// No node answers requests of a former epoch, so keys that are not answered are asked for again. An operation that was
// abandoned has no buffer any more.
void Requests::ask_again(NodeId lost) {
    first_given_up_ = INT64_MAX;
    std::vector<int64_t> timestamps;
    for (const auto &[timestamp, sent] : sent_) timestamps.push_back(timestamp);
    std::sort(timestamps.begin(), timestamps.end());
    for (int64_t timestamp : timestamps) {
        auto found = sent_.find(timestamp);
        Sent &sent = found->second;
        if (sent.abandoned) {
            forget_keys(sent);
            failures_.add(timestamp, lost);
            drop(found);
        } else if (sent.left == sent.keys.size()) {
            depart(timestamp, sent);
        } else {
            std::vector<uint32_t> positions;
            Sent rest = unanswered(sent, &positions);
            depart(timestamp, rest, std::move(positions));
        }
    }
}

// What is left of an operation, and its positions.
Requests::Sent Requests::unanswered(const Sent &sent, std::vector<uint32_t> *positions) const {
    Sent rest;
    rest.operation = sent.operation;
    for (uint32_t i = 0; i < sent.keys.size(); i++) {
        if (sent.is_answered(i)) continue;
        positions->push_back(i);
        rest.keys.push_back(sent.keys[i]);
        const uint64_t bytes = sent.operation == Operation::localize ? 0 : length(sent, i);
        rest.bytes += sizeof(Key) + bytes;
        if (bytes) rest.spans.push_back(sent.spans.empty() ? ValueSpan{sent.values + i * each_, each_} : sent.spans[i]);
    }
    return rest;
}

// Of an operation that ends before all its keys are answered.
void Requests::forget_keys(const Sent &sent) {
    for (size_t i = 0; sent.noted && i < sent.keys.size(); i++)
        if (!sent.is_answered(i)) keys_.remove(sent.keys[i], sent.operation);
}

void Requests::note_break(NodeId node, double now) { breaks_.push_back({node, now, next_}); }

// It waits for `break_patience` after a break, for two reasons. The node may turn out to be lost: then these operations
// end with an error that says so. And most operations whose messages have arrived are answered by then.
NodeId Requests::give_up(double now) {
    while (!breaks_.empty() && now > breaks_.front().seen + settings_.break_patience) {
        Break broken = breaks_.front();
        breaks_.pop_front();
        give_up(broken);
        if (broken.node != header_.from || questions_.are_answered()) continue;
        questions_.give_up();
        return broken.node;
    }
    return no_node;
}

// A request that went to one node may be passed on to any other, which answers it. So any operation may have been
// affected by the break, except what only this worker's own server does: localize.
void Requests::give_up(const Break &broken) {
    bool is_own = broken.node == header_.from;
    given_up_ = std::max(given_up_, broken.before);
    for (auto next = sent_.begin(); next != sent_.end();) {
        auto found = next++;
        Sent &sent = found->second;
        if (found->first >= broken.before || (!is_own && sent.operation == Operation::localize)) continue;
        forget_keys(sent);
        first_given_up_ = std::min(first_given_up_, found->first);
        failures_.add(found->first, broken.node);
        drop(found);
    }
}

void Requests::drop(Known found) {
    const Sent &sent = found->second;
    underway_[int(sent.operation)]--;
    if (sent.operation == Operation::pull) buffers_.remove(sent.values);
    in_flight_.remove(sent.bytes);
    sent_.erase(found);
}

} // namespace ps
