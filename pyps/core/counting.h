// Counters in shared memory, which other threads and processes read at any time.
#pragma once

#include <atomic>
#include <cstdint>

namespace ps {

// For a counter that only the calling thread writes.
template <class Number>
void add_to(std::atomic<Number> &counter, int64_t amount) {
    counter.store(counter.load(std::memory_order_relaxed) + Number(amount), std::memory_order_relaxed);
}

template <class Number>
void raise_to(std::atomic<Number> &counter, Number number) {
    if (number > counter.load(std::memory_order_relaxed)) counter.store(number, std::memory_order_relaxed);
}

// For a counter that several threads write.
template <class Number>
void count_in(std::atomic<Number> &counter, int64_t amount) {
    counter.fetch_add(Number(amount), std::memory_order_relaxed);
}

} // namespace ps
