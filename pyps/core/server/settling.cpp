#include "server/settling.h"

#include <algorithm>

namespace ps {

void Settling::answer(bool is_quiet) {
    auto is_done = [&](Waiting &one) {
        bool reached = protocol_.reached(&one.mark);
        return reached && (is_quiet || one.question.until != Until::quiet);
    };
    auto answer = [&](Waiting &one) {
        if (!is_done(one)) return false;
        outbound_.pass_on(one.worker, one.question.encode(mailbox_.header()));
        return true;
    };
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(), answer), waiting_.end());
    auto waits = [](const Waiting &one) { return one.question.until != Until::told; };
    is_urgent_ = std::any_of(waiting_.begin(), waiting_.end(), waits);
}

} // namespace ps
