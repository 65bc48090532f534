// Counters in shared memory with one writer each: others read them at any time.
#pragma once

#include <atomic>
#include <cstdint>

namespace ps {

template <class Number>
void add_to(std::atomic<Number> &counter, int64_t amount) {
    counter.store(counter.load(std::memory_order_relaxed) + Number(amount), std::memory_order_relaxed);
}

template <class Number>
void raise_to(std::atomic<Number> &counter, Number number) {
    if (number > counter.load(std::memory_order_relaxed)) counter.store(number, std::memory_order_relaxed);
}

} // namespace ps
