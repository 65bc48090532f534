// What a worker asks its own server beside its operations: to be known, and whether all has settled. Each question goes
// to every channel of the server, and a channel answers when it has read all that the worker sent it before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "wire/barriers.h"

namespace ps {

class Questions {
public:
    explicit Questions(uint32_t channels) : welcome_(channels), settled_(channels) {}

    void said_hello() { std::fill(welcome_.begin(), welcome_.end(), false); }
    void welcome(uint32_t channel) {
        welcome_[channel] = true;
        is_introduced_ |= is_welcome();
    }
    bool is_welcome() const { // since it said hello last
        return std::all_of(welcome_.begin(), welcome_.end(), [](bool welcome) { return welcome; });
    }
    bool is_introduced() const { return is_introduced_; } // it was welcome once

    SettleMessage ask(Until until) { return {until, ++asked_}; }
    void settled(uint32_t channel, uint64_t number) { // an answer may be late
        settled_[channel] = std::max(settled_[channel], number);
    }
    bool is_settled() const { // what was asked last
        return std::all_of(settled_.begin(), settled_.end(), [&](uint64_t number) { return number == asked_; });
    }

    // A call ends before its question is answered, and the next one waits for the same answer.
    void keep(Until until) { kept_ = until; }
    bool take_kept(Until until) { return std::exchange(kept_, std::nullopt) == until; }

    bool are_answered() const { return is_welcome() && is_settled(); }
    void give_up() { // they will have no answers
        for (uint32_t channel = 0; channel < welcome_.size(); channel++) welcome(channel), settled(channel, asked_);
        kept_.reset();
    }

private:
    std::vector<bool> welcome_; // by channel
    bool is_introduced_ = false;
    uint64_t asked_ = 0; // number of questions whether all has settled
    std::vector<uint64_t> settled_; // the last one that was answered, by channel
    std::optional<Until> kept_;
};

} // namespace ps
