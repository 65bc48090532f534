// The workers to which one channel owes an answer: each waits until what there was at the time of its question has been
// exchanged, or also until nothing is on its way (see Until).
#pragma once

#include <string>
#include <vector>

#include "net/mailbox.h"
#include "protocol/protocol.h"
#include "wire/barriers.h"

namespace ps {

class Settling {
public:
    Settling(Protocol &protocol, const Mailbox &mailbox, Outbound &outbound)
        : protocol_(protocol), mailbox_(mailbox), outbound_(outbound) {}

    void add(const std::string &worker, const SettleMessage &question) {
        const bool goes_on = question.until == Until::told;
        waiting_.push_back({worker, question, goes_on ? protocol_.mark_changes() : protocol_.mark()});
        is_urgent_ |= !goes_on;
        is_new_ = true;
    }
    bool is_anybody_waiting() const { return !waiting_.empty(); }
    // There is a question that was not there in the last round, or whose worker does nothing before it is answered.
    bool is_urgent() const { return is_new_ || is_urgent_; }
    void answer(bool is_quiet); // answers the workers whose wait is over; is_quiet: nothing is on its way from here
    void end_round() { is_new_ = false; }

private:
    struct Waiting {
        std::string worker;
        SettleMessage question;
        Mark mark;
    };

    Protocol &protocol_;
    const Mailbox &mailbox_;
    Outbound &outbound_;
    std::vector<Waiting> waiting_;
    bool is_new_ = false, is_urgent_ = false;
};

} // namespace ps
