// Who a process is, beyond a pid that the system will give to another one some day.
#pragma once

#include <cstdint>

namespace ps {

// A process by its pid and its start time (the low 32 bits, in clock ticks since boot).
struct Process {
    uint32_t pid = 0;
    uint32_t start = 0;

    static Process self(); // throws if /proc is not there
    bool is_alive() const; // a zombie is not
};

// Grows in every forked child: a handle that remembers another generation belongs to the parent process.
uint32_t fork_generation();

double monotonic_seconds();
double coarse_seconds(); // the same clock, some milliseconds behind, at the price of a memory read

void name_this_thread(const char *name); // as ps and top show it; of at most 15 characters

} // namespace ps
