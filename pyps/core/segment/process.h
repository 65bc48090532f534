// Identifies a process better than by its pid, which the system gives to another process some day.
#pragma once

#include <signal.h>

#include <cstdint>

namespace ps {

// A process by its pid and its start time (the low 32 bits, in clock ticks since boot).
struct Process {
    uint32_t pid = 0;
    uint32_t start = 0;

    static Process self(); // throws PS_ESYSTEM if /proc cannot be read
    bool is_alive() const; // false for a zombie
};

// Grows in every forked child: a handle that remembers another generation belongs to the parent process.
uint32_t fork_generation();

double monotonic_seconds();
double coarse_seconds(); // the same clock, some milliseconds behind, but as quick to read as memory

void begin_thread(const char *name); // call it first; the name is what ps and top show, at most 15 characters

// While it lives, signals are blocked in the calling thread; in the threads that it starts meanwhile they stay so. The
// program's own threads handle signals.
class SignalsBlocked {
public:
    SignalsBlocked();
    SignalsBlocked(const SignalsBlocked &) = delete;
    SignalsBlocked &operator=(const SignalsBlocked &) = delete;
    ~SignalsBlocked();

private:
    sigset_t before_;
};

} // namespace ps
