// Counters in shared memory, which others read at any time.
#pragma once

#include <atomic>
#include <cstdint>

namespace ps {

// By the only thread that writes it.
template <class Number>
void add_to(std::atomic<Number> &counter, int64_t amount) {
    counter.store(counter.load(std::memory_order_relaxed) + Number(amount), std::memory_order_relaxed);
}

template <class Number>
void raise_to(std::atomic<Number> &counter, Number number) {
    if (number > counter.load(std::memory_order_relaxed)) counter.store(number, std::memory_order_relaxed);
}

// The same where several threads count.
template <class Number>
void count_in(std::atomic<Number> &counter, int64_t amount) {
    counter.fetch_add(Number(amount), std::memory_order_relaxed);
}

} // namespace ps
