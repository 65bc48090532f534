// Messages on their way, for tests that draw which one arrives next: those from one end to another stay in their order.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

#include "seeds.h"

namespace ps {

// By the ends, from and to: a node's number, or worker_end of a worker's.
template <class Letter>
using Paths = std::map<std::pair<int, int>, std::deque<Letter>>;

constexpr uint64_t about_several = UINT64_MAX; // keys; or about none
constexpr int first_worker_end = 1000;
constexpr int channel_ends = 1'000'000; // added for each channel that a worker's message goes to
inline int worker_end(uint64_t worker) { return first_worker_end + int(worker); }

template <class Letter>
bool are_empty(const Paths<Letter> &paths) {
    for (auto &[path, letters] : paths)
        if (!letters.empty()) return false;
    return true;
}

// Null: nothing is on its way.
template <class Letter>
std::deque<Letter> *draw_path(Paths<Letter> &paths, Chance &chance) {
    std::vector<std::deque<Letter> *> busy;
    for (auto &[path, letters] : paths)
        if (!letters.empty()) busy.push_back(&letters);
    return busy.empty() ? nullptr : busy[chance.draw(busy.size())];
}

// Lets the last letter overtake some of those before it. A mailbox sends what is alike in one message, so that keys
// overtake each other; letters of one key keep their order, and nothing overtakes letters that are not about one key.
template <class Letter>
void let_overtake(std::deque<Letter> &letters, Chance &chance) {
    for (size_t at = letters.size() - 1; at > 0 && may_overtake(letters[at], letters[at - 1]) && chance.draw(4); at--)
        std::swap(letters[at], letters[at - 1]);
}

template <class Letter>
Letter take_first(std::deque<Letter> *letters) {
    Letter letter = std::move(letters->front());
    letters->pop_front();
    return letter;
}

} // namespace ps
