#include "server/channel.h"

#include <algorithm>
#include <utility>

#include "counting.h"
#include "worker/workers.h"

namespace ps {

namespace {
// Seconds between rounds for each node to which the last one has sent something: a message takes as long on many nodes,
// and without pauses those to all others would take all the time.
constexpr double pause_for_each = 0.0001;
// How much sooner a round comes while a worker waits for what it exchanges, if a message has come since the last one.
constexpr double awaited_sooner = 5;
constexpr double watchful_round = 0.1; // seconds between rounds while there are intents, whose workers may die
constexpr double trial_round = 0.02; // seconds between rounds while it is tried whether intents pay
constexpr double idle_round = 1.0; // seconds between rounds otherwise

Techniques techniques_of(const Header &header) {
    return header.techniques == PS_AUTO ? Techniques::all : Techniques(header.techniques);
}
} // namespace

Channel::Channel(uint32_t number, Segment &segment, Slabs &slabs, Promises &promises, NodeTransport &transport,
                 Trace *trace, Serving::PassOn pass_on)
    : number_(number), segment_(segment), trace_(trace),
      outbound_(transport, segment.doorbell(), NodeId(segment.header().node)), values_(segment, slabs, number, trace),
      mailbox_(segment, number, outbound_,
               [this](uint64_t waiter, NodeId lost_with) { serving_.landed(waiter, lost_with); }),
      protocol_(NodeId(segment.header().node), segment.first_homes(), techniques_of(segment.header()), values_,
                mailbox_, {segment.channel_rule(), number}, NodeId(segment.header().replicas)),
      serving_(segment, number, values_, mailbox_, protocol_, promises, trace, std::move(pass_on)),
      epoch_change_(segment, outbound_, mailbox_, protocol_, serving_), settling_(protocol_, mailbox_, outbound_),
      intents_(clocks(), changes()), inbox_(ChannelParts{segment, outbound_, mailbox_, protocol_, serving_,
                                                         epoch_change_, settling_, intents_, choice_}),
      last_round_(monotonic_seconds()) {
    values_.keep_rows_of([this](Key key) { return protocol_.knows(key); });
    values_.let_go_by([this](Key key) { return protocol_.let_go(key); });
    if (segment.header().techniques == PS_AUTO && number == 0)
        choice_.emplace(segment, outbound_, mailbox_, protocol_.home_rule().members());
    if (segment.ages().are_kept())
        expiry_.emplace(segment, number, [this](Key key, uint32_t ticks) { return values_.let_unused_go(key, ticks); });
    epoch_change_.when_more_fits([this] { inbox_.take_held_back(); });
}

void Channel::begin_epoch(const Vigil::Epoch &epoch) {
    epoch_change_.begin(epoch);
    if (choice_) choice_->begin_epoch(epoch.members);
}

// A dead worker counts as later than all clocks, so its intents end: in rounds that look for those, as that reads a
// file for each worker. A worker that sets up values counts as earlier, so its intents do not begin.
Intents::Clock Channel::clocks() {
    return [this](uint32_t worker) {
        WorkerSlot &slot = segment_.slot(worker);
        if (looks_for_dead_ && !identity_of(slot).is_alive()) return INT64_MAX;
        if (slot.in_setup.load(std::memory_order_acquire)) return INT64_MIN;
        return int64_t(slot.clock.load(std::memory_order_acquire));
    };
}

Intents::Change Channel::changes() {
    return [this](const std::vector<Key> &keys, Intents::What what) {
        const bool ends = what == Intents::What::ends;
        if (trace_) trace_->note(keys, ends ? PS_TRACE_INTENT_ENDS : PS_TRACE_INTENT_BEGINS);
        ends ? protocol_.stop_wanting(keys) : serving_.want(keys, what == Intents::What::begins_for_long);
    };
}

double Channel::patience() const {
    if (has_heard_ && settling_.is_urgent()) return busy_pause_ / awaited_sooner;
    if (is_awake_ || has_work()) return busy_pause_;
    if (choice_ && choice_->is_trying()) return trial_round;
    return intents_.empty() ? idle_round : watchful_round;
}

double Channel::next_round() const { return expiry_ ? std::min(round_due(), expiry_->due()) : round_due(); }

bool Channel::has_work() const {
    return told_to_leave_ != segment_.header().leaves.load(std::memory_order_acquire) || !protocol_.is_idle() ||
           !protocol_.parked().empty() || segment_.changes(number_).any() || settling_.is_anybody_waiting();
}

// It first writes the word that makes workers wake it and then looks for changes, so none is missed.
bool Channel::go_to_sleep() {
    segment_.channel(number_).sleeps.store(intents_.empty() ? Sleep::until_changes : Sleep::until_clocks);
    return segment_.changes(number_).any() || intents_.is_due();
}

void Channel::wake_up(bool by_worker) {
    is_awake_ = by_worker;
    rested_ = true;
}

void Channel::end_turn(double now) {
    if (inbox_.is_anything_parked()) inbox_.retry_parked();
    mailbox_.flush();
    serving_.note_promised();
    if (segment_.header().replicas) {
        note_copies();
        note_secure();
    }
    if (expiry_ && now >= expiry_->due()) expiry_->take_turn(now);
    if (now >= round_due()) return begin_round(now);
    const bool may_be_over = settling_.is_anybody_waiting() && epoch_change_.is_settled();
    if (may_be_over) settling_.answer(false); // what came in this turn may be the last of what they wait for
}

void Channel::begin_round(double now) {
    last_round_ = now;
    leave();
    if (!epoch_change_.is_settled()) return note_leaving();
    is_awake_ = has_work();
    has_heard_ = false;
    looks_for_dead_ = now >= next_look_;
    if (looks_for_dead_) next_look_ = now + watchful_round;
    if (choice_) choice_->look_at_clocks(now);
    const bool skips_intents = segment_.header().skips_intents.load(std::memory_order_relaxed);
    protocol_.let_keys_go_home(skips_intents && !serving_.has_localized());
    intents_.begin_round(now, std::exchange(rested_, false));
    inbox_.note_intents();
    protocol_.exchange();
    note_leaving();
    mailbox_.flush();
    bool is_quiet = settling_.is_anybody_waiting() && mailbox_.is_silent() && protocol_.is_quiet();
    busy_pause_ = std::max(busy_round, pause_for_each * double(mailbox_.end_round()));
    settling_.answer(is_quiet);
    settling_.end_round();
}

void Channel::leave() {
    const uint32_t told = segment_.header().leaves.load(std::memory_order_acquire);
    if (std::exchange(told_to_leave_, told) != told) protocol_.leave();
}

void Channel::note_secure() {
    const bool is_secure = protocol_.knows_all_secure();
    if (std::exchange(is_secure_, is_secure) != is_secure)
        count_in(segment_.header().channels_secure, is_secure ? 1 : -1);
}

void Channel::note_leaving() {
    Header &header = segment_.header();
    if (told_to_leave_ == 0 || is_gone_) return;
    header.nobody_stays.store(protocol_.is_last(), std::memory_order_release);
    if (protocol_.is_refused()) header.refused_at.store(told_to_leave_, std::memory_order_release);
    if (protocol_.may_go()) count_in(header.channels_gone, is_gone_ = true);
}

void Channel::note_copies() {
    Header &header = segment_.header();
    auto note = [](std::atomic<uint64_t> &total, uint64_t &last, uint64_t now) {
        count_in(total, int64_t(now - std::exchange(last, now)));
    };
    note(header.copies_held, copies_held_, protocol_.copies().size());
    note(header.copy_bytes, copy_bytes_, protocol_.copies().bytes());
    note(header.keys_lacking_copies, lacking_, protocol_.lacking());
    note(header.keys_to_take_over, taken_over_next_, protocol_.to_take_over());
}

} // namespace ps
