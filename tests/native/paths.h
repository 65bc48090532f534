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

template <class Letter>
Letter take_first(std::deque<Letter> *letters) {
    Letter letter = std::move(letters->front());
    letters->pop_front();
    return letter;
}

} // namespace ps
