// What a worker asks its own server beside its operations: to be known, and whether all has settled. Each question is
// answered when the server has read all that the worker sent before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "wire/barriers.h"

namespace ps {

class Questions {
public:
    void said_hello() { is_welcome_ = false; }
    void welcome() { is_welcome_ = is_introduced_ = true; }
    bool is_welcome() const { return is_welcome_; } // since it said hello last
    bool is_introduced() const { return is_introduced_; } // it was welcome once

    SettleMessage ask(Until until) { return {until, ++asked_}; }
    void settled(uint64_t number) { settled_ = std::max(settled_, number); } // an answer may be late
    bool is_settled() const { return settled_ == asked_; } // what was asked last

    // A call ends before its question is answered, and the next one waits for the same answer.
    void keep(Until until) { kept_ = until; }
    bool take_kept(Until until) { return std::exchange(kept_, std::nullopt) == until; }

    bool are_answered() const { return is_welcome_ && is_settled(); }
    void give_up() { // they will have no answers
        welcome();
        settled_ = asked_;
        kept_.reset();
    }

private:
    bool is_welcome_ = false, is_introduced_ = false;
    uint64_t asked_ = 0, settled_ = 0; // numbers of questions whether all has settled
    std::optional<Until> kept_;
};

} // namespace ps
