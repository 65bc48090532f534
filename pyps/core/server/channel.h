// A channel of a node's server: a part of the keys, and everything that is done about them. One thread at a time runs
// it.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/outbound.h"
#include "net/vigil.h"
#include "server/channel_inbox.h"
#include "store/expiry.h"
#include "store/traced_values.h"

namespace ps {

constexpr double busy_round = 0.001; // seconds between rounds, at least, while there is something to do

class Channel {
public:
    // `trace` is null if the node keeps none.
    Channel(uint32_t number, Segment &segment, Slabs &slabs, Promises &promises, NodeTransport &transport, Trace *trace,
            Serving::PassOn pass_on);

    uint32_t number() const { return number_; }
    Outbound &outbound() { return outbound_; }
    const Outbound &outbound() const { return outbound_; }

    void take(const std::string &peer, const Sender &sender, const char *bytes, uint64_t size) {
        has_heard_ = true;
        inbox_.take(peer, sender, bytes, size);
    }
    void begin_epoch(const Vigil::Epoch &epoch);
    void flush() { mailbox_.flush(); }
    void end_turn(double now); // call it after some messages: does what these require, and a round if one is due
    double next_round() const; // or turn of those that look for old keys
    double busy_pause() const { return busy_pause_; } // seconds between rounds while there is something to do

    // Call it before the channel's thread sleeps for long. From now on a worker that changes a key or advances a clock
    // wakes it. Returns true if one has done so already.
    bool go_to_sleep();
    void wake_up(bool by_worker); // call it after the thread has slept

private:
    double patience() const;
    double round_due() const { return last_round_ + patience(); }
    bool has_work() const;
    void begin_round(double now);
    void note_copies(); // counts them for the node's statistics
    void leave(); // if this node is to
    void note_leaving(); // how far it is with that
    void note_secure();
    Intents::Clock clocks();
    Intents::Change changes();

    const uint32_t number_;
    Segment &segment_;
    Trace *const trace_;
    Outbound outbound_;
    TracedValues values_;
    Mailbox mailbox_;
    Protocol protocol_;
    Serving serving_;
    EpochChange epoch_change_;
    Settling settling_;
    Intents intents_;
    std::optional<IntentChoice> choice_; // of the first channel, if nodes choose
    ChannelInbox inbox_;
    std::optional<Expiry> expiry_; // if there is a greatest age
    bool is_awake_ = false; // the last round had something to do, or a worker woke it: the next round comes soon
    bool rested_ = false; // it has slept since the last round
    bool has_heard_ = false; // a message has come since then
    double last_round_, next_look_ = 0; // the second: for dead workers
    double busy_pause_ = busy_round;
    bool looks_for_dead_ = false; // this round does
    uint32_t told_to_leave_ = 0; // how often
    bool is_gone_ = false, is_secure_ = false;
    uint64_t copies_held_ = 0, copy_bytes_ = 0, lacking_ = 0, taken_over_next_ = 0; // how many were counted last
};

} // namespace ps
