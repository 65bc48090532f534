// A node's shared memory. Its parts, in this order: header | length classes | endpoints and state of the nodes | slots
// of workers and of the server's channels | directory | how many keys are here, per block of rows | per channel, which
// shared keys were changed | how and when rows were used, if keys are let go | undo areas, one per slot | values: for
// each length class a region for keys that only this node has, and one for shared keys | what is known about sampling.
//
// The directory, the counts and the changes go by rows (see rows.h). For other nodes' keys of a range, these three are
// the only memory that is used without being committed before: a page comes into being with the first use of one of its
// keys. Where keys may be any numbers, the tables of their rows lie before the directory, and memory is committed as
// keys come.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mixing.h"
#include "protocol/channels.h"
#include "protocol/home_rule.h"
#include "ps.h"
#include "segment/ages.h"
#include "segment/changes.h"
#include "segment/directory.h"
#include "segment/doorbell.h"
#include "segment/futex.h"
#include "segment/layout.h"
#include "segment/mapping.h"
#include "segment/members.h"
#include "segment/process.h"
#include "segment/row_maker.h"
#include "segment/rows.h"
#include "segment/uses.h"
#include "store/initializer.h"
#include "store/push_rule.h"

namespace ps {

class Segment {
public:
    // Throws PS_EINVAL if there can be no node with these options.
    static void check(const ps_node_options &options, const PushRule &push, const Initializer &initializer);
    // `members`: the nodes with which the cluster starts; empty: those that the options say.
    static std::shared_ptr<Segment> create(const ps_node_options &options, const PushRule &push = {},
                                           const Initializer &initializer = {},
                                           const std::vector<NodeId> &members = {});
    static std::shared_ptr<Segment> adopt(int fd, Doorbell doorbell, size_t reserved);

    Header &header() const { return *header_; }
    Mapping &mapping() { return mapping_; }
    const Mapping &mapping() const { return mapping_; }
    const Doorbell &doorbell() const { return doorbell_; }
    WorkerSlot &slot(uint32_t number) const { return slots_[number - 1]; }
    const LengthClass &length_class(uint32_t number) const { return classes_[number]; }
    const RangeRows &rows() const { return rows_; } // only with a range
    template <class Body>
    // Calls body(rows), which is compiled for both kinds of rows: for loops over many keys.
    decltype(auto) with_rows(Body &&body) const {
        return __builtin_expect(header_->is_range(), 1) ? body(rows_) : body(*hashed_rows_);
    }
    Row row(uint64_t key) const { // no_row only where keys may be any numbers
        return with_rows([=](const auto &rows) { return rows.find(key); });
    }
    uint64_t key(Row row) const {
        return with_rows([=](const auto &rows) { return rows.key(row); });
    }
    Entry &entry(Row row) const { return directory_[number_of(row)]; }
    Place place(Row row) const { return Place(entry(row).load(std::memory_order_relaxed)); }
    // Whether a row that was found for the key is still its row.
    bool is_of(Row row, uint64_t key) const {
        return with_rows([=](const auto &rows) { return rows.is_of(row, key); });
    }
    Place place(uint64_t key) const { // a key without a row is absent, and it is not known where it is
        Row row = this->row(key);
        if (row == no_row) return unused(key);
        Place place(entry(row).load(std::memory_order_acquire));
        return is_of(row, key) ? place : unused(key);
    }
    Place unused(uint64_t key) const { return Place(Residence::absent, key_space().length_class(key), 0); }
    // Only where keys may be any numbers: how many more keys can get a row.
    uint64_t rows_left() const { return uint64_t(header_->capacity) - maker_->live(); }
    uint64_t made_rows() const { return hashed_rows_->count(); } // only where keys may be any numbers
    // Bytes that so many more rows with keys will take, and the table that finds them when it is made anew.
    uint64_t bytes_for_rows(uint64_t more);
    void pass_time() const; // a key has got a row: see Uses
    const Uses &uses() const { return uses_; }
    const Ages &ages() const { return ages_; }
    // Where keys may be any numbers: the row of a key, made if there is none. A new one has the entry that `prepare`
    // gives it, which returns false if it cannot now because the latch of the row's former key is still held.
    // Only in the process that made the segment. Throws PS_ENOMEM; then nothing has changed.
    Row make_row(uint64_t key, const std::function<bool(Row row)> &prepare);
    void remove_row(uint64_t key); // if it has one; the caller holds its latch, and its value is gone

    char *value(const LengthClass &c, uint32_t index) const { return base_ + c.base + uint64_t(index) * c.slot_bytes; }
    SharedHead *shared(const LengthClass &c, uint32_t index) const {
        return reinterpret_cast<SharedHead *>(base_ + c.shared_base + uint64_t(index) * c.shared_bytes);
    }
    char *value(Place place) const { // the key must be here
        const LengthClass &c = classes_[place.length_class()];
        return place.residence() == Residence::shared ? value(shared(c, place.index())) : value(c, place.index());
    }
    static char *value(SharedHead *head) { return reinterpret_cast<char *>(head + 1); }
    static char *delta(SharedHead *head, const LengthClass &c) { return value(head) + c.slot_bytes; }
    // The number of the value's row + 1, where values are moved; only the server writes and reads it.
    std::atomic<uint32_t> &row_word(const LengthClass &c, uint32_t index) const {
        return *reinterpret_cast<std::atomic<uint32_t> *>(value(c, index) + c.row_at);
    }
    static char *state(char *value, const LengthClass &c) { return c.state_at ? value + c.state_at : nullptr; }
    const Rules &rules() const { return *rules_; }
    const Rule &rule() const { return (*rules_)[classes_[0].rule]; } // for pushes
    std::string optimizer() const { // as text, with its settings; empty: pushes follow another rule
        return rule().settings.empty() ? "" : rule().describe(settings());
    }
    void tune(const std::string &text); // changes settings, as ps_node_tune does; throws PS_EINVAL
    RuleSettings settings() const { // for pushes of one batch
        RuleSettings now;
        for (size_t i = 0; i < rule().settings.size(); i++)
            now.number[i] = header_->settings[i].load(std::memory_order_relaxed);
        if (header_->element_bytes < sizeof(float) && !rule().settings.empty())
            now.noise = mix(header_->noise.fetch_add(1, std::memory_order_relaxed));
        return now;
    }
    MemberSlot &member(uint32_t node) const {
        return reinterpret_cast<MemberSlot *>(base_ + header_->members_at)[node];
    }
    std::vector<NodeId> first() const; // with which the cluster starts
    std::vector<NodeId> members() const; // that this node knows, or asks to let it in
    bool joins() const { return !member(header_->node).is_first; } // the cluster, after its start
    const char *endpoint(uint32_t node) const { return base_ + header_->endpoints_at + node * endpoint_bytes; }
    void note_endpoint(uint32_t node, const std::string &endpoint); // of less than endpoint_bytes
    bool note_metrics(uint32_t node, const std::string &url); // false: it is known already
    uint64_t directory_bytes() const; // bytes in use
    const LengthClass &class_of(uint64_t key) const {
        if (header_->num_classes == 1) return classes_[0]; // does not read the entry, which might allocate a page
        return classes_[header_->is_range() ? place(key).length_class() : key_space().length_class(key)];
    }
    // What a key's slot begins with, written into `room`: its value, and zeros as state. Null: zeros only.
    const char *first_value(uint64_t key, const LengthClass &c, std::vector<char> *room) const {
        if (header_->initializer.is_zeros()) return nullptr;
        room->assign(c.whole_bytes, 0);
        header_->initializer.fill(room->data(), c.length, header_->dtype, key);
        return room->data();
    }
    uint64_t value_bytes(uint64_t key) const { return class_of(key).value_bytes; }
    uint64_t whole_bytes(uint64_t key) const { return class_of(key).whole_bytes; }
    // How many keys of a row's block live here. The count may change a moment before or after a key's entry does.
    uint32_t keys_here(Row row) const { return here_[number_of(row) / here_block].load(std::memory_order_relaxed); }
    void note_here(Row row, int32_t change) { here_[number_of(row) / here_block].fetch_add(uint32_t(change)); }

    // Note that a shared key was changed. The holder of its latch calls it while the former value can still be put
    // back: if a worker dies before that is over, it has changed nothing.
    void note_changed(Row row) const {
        uint32_t channel = channel_rule_.channels() == 1 ? 0 : channel_rule_.channel(key(row));
        changes_[channel].note(row);
        wake_server(channel, Sleep::until_changes);
    }
    KeySpace key_space() const {
        return header_->is_range() ? KeySpace::range(uint64_t(header_->num_keys)) : KeySpace::any(header_->num_classes);
    }
    HomeRule first_homes() const { return homes_at(first()); } // when the cluster starts
    HomeRule homes_now() const { return homes_at(members()); }
    void note_members(const std::vector<std::string> &endpoints); // by node, of those that this one asks to let it in
    const ChannelRule &channel_rule() const { return channel_rule_; }
    ChannelWords &channel(uint32_t number) const { return channels_[number]; }
    const Changes &changes(uint32_t channel) const { return changes_[channel]; }
    // Wake the channel if it sleeps in a way that such a change ends. Before, the caller has made the change, with
    // sequential consistency, so that a channel that is about to sleep sees it.
    void wake_server(uint32_t channel, Sleep from) const {
        std::atomic<Sleep> &sleeps = channels_[channel].sleeps;
        if (__builtin_expect(sleeps.load() >= from, 0) && sleeps.exchange(Sleep::none) != Sleep::none)
            channel == 0 ? doorbell_.ring() : wake_all(sleeps);
    }
    // Wake all that wait in barriers, so that they look again.
    void wake_barriers() const {
        for (Rounds *rounds : {&header_->worker_rounds, &header_->node_rounds, &header_->leave_rounds})
            wake_all(*rounds);
    }

    char *sampling_memory() const { return base_ + header_->sampling_at; }
    uint32_t server_slot(uint32_t channel) const { return header_->max_workers + 1 + channel; }
    char *undo(uint32_t slot) const { return base_ + header_->undo_at + (slot - 1) * header_->undo_bytes; }

    bool is_open() const { return header_->state.load(std::memory_order_acquire) == State::open; }
    uint32_t generation() const { return generation_; } // fork_generation() of the process that created or adopted it

private:
    Segment(Mapping mapping, Doorbell doorbell, const Rules &rules);
    void find_parts();
    void note_first(const std::vector<NodeId> &members);
    template <class Is>
    std::vector<NodeId> nodes_that(Is &&is) const;
    HomeRule homes_at(std::vector<NodeId> members) const {
        return HomeRule(NodeId(header_->places), std::move(members), key_space());
    }
    void commit_rows();
    void commit_range();
    uint64_t rows_per_tick() const;
    std::unique_lock<std::mutex> lock_maker(); // locks the mutex if there are several channels
    uint64_t row_numbers() const { // all rows have smaller numbers
        return header_->is_range() ? rows_.size() : HashedRows::numbers(uint64_t(header_->capacity));
    }

    Mapping mapping_;
    Doorbell doorbell_;
    const Rules *rules_;
    uint32_t generation_;
    char *base_;
    Header *header_;
    LengthClass *classes_ = nullptr;
    WorkerSlot *slots_ = nullptr;
    RangeRows rows_{0, 1};
    std::optional<HashedRows> hashed_rows_; // only where keys may be any numbers
    Entry *directory_ = nullptr;
    Uses uses_;
    Ages ages_;
    std::atomic<uint32_t> *here_ = nullptr;
    ChannelRule channel_rule_;
    ChannelWords *channels_ = nullptr;
    std::vector<Changes> changes_; // by channel
    std::mutex maker_mutex_; // guards maker_; locked only if there are several channels
    // Only in the process that made the segment, and only where keys may be any numbers.
    std::unique_ptr<RowMaker> maker_;
};

} // namespace ps
