// Sleeping until another process changes a word in shared memory and wakes the sleepers.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>

namespace ps {

template <class Word>
long futex(const std::atomic<Word> &word, int operation, uint32_t value, const timespec *timeout) {
    static_assert(sizeof word == sizeof(uint32_t), "the kernel looks at 32 bits");
    return syscall(SYS_futex, reinterpret_cast<const uint32_t *>(&word), operation, value, timeout, nullptr, 0);
}

// Sleep while the word has this value, at most so many seconds. Returns false if a signal came.
template <class Word>
bool sleep_on(const std::atomic<Word> &word, Word value, double seconds) {
    timespec duration{time_t(seconds), long((seconds - double(time_t(seconds))) * 1e9)};
    return futex(word, FUTEX_WAIT, uint32_t(value), &duration) == 0 || errno != EINTR;
}

template <class Word>
void wake_all(const std::atomic<Word> &word) {
    futex(word, FUTEX_WAKE, INT_MAX, nullptr);
}

} // namespace ps
