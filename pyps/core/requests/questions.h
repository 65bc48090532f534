// What a worker asks its own server beside its operations: to know it (hello, which welcome answers), and to say when
// everything has settled. Each question goes to every channel of the server; a channel answers when it has read
// everything that the worker sent it before.
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

    uint32_t say_hello() { // returns its number
        std::fill(welcome_.begin(), welcome_.end(), false);
        return ++hello_;
    }
    void welcome(uint32_t channel, uint32_t hello) { // may be an answer to a former one, which was given up
        if (hello != hello_) return;
        welcome_[channel] = true;
        is_introduced_ |= is_welcome();
    }
    bool is_welcome() const { // all channels have welcomed it since it last said hello
        return std::all_of(welcome_.begin(), welcome_.end(), [](bool welcome) { return welcome; });
    }
    bool is_introduced() const { return is_introduced_; } // all channels have welcomed it at least once

    SettleMessage ask(Until until) { return {until, ++asked_}; }
    void settled(uint32_t channel, uint64_t number) { // may be an answer to a former question
        settled_[channel] = std::max(settled_[channel], number);
    }
    // The last question is answered, or the one so many before it.
    bool is_settled(uint64_t before = 0) const {
        return std::all_of(settled_.begin(), settled_.end(),
                           [&](uint64_t number) { return number + before >= asked_; });
    }

    // A call ends before its question is answered; the next one waits for the same answer.
    void keep(Until until) { kept_ = until; }
    bool take_kept(Until until) { return std::exchange(kept_, std::nullopt) == until; }

    bool are_answered() const { return is_welcome() && is_settled(); }
    void give_up() { // the questions will get no answers
        for (uint32_t channel = 0; channel < welcome_.size(); channel++)
            welcome(channel, hello_), settled(channel, asked_);
        kept_.reset();
    }

private:
    std::vector<bool> welcome_; // by channel
    uint32_t hello_ = 0; // number of the last one
    bool is_introduced_ = false;
    uint64_t asked_ = 0; // number of the last question whether everything has settled
    std::vector<uint64_t> settled_; // the last question that was answered, by channel
    std::optional<Until> kept_;
};

} // namespace ps
