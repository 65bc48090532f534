// Interrupts what computes, so often and on each processor: the system looks only then, and when a thread sleeps,
// whether a control group has computed its share, else four times in a hundredth of a second. A group that is looked at
// so rarely computes too long at once, is held back for as long after it, and loses what it might have computed
// meanwhile.
//
//   metronome INTERVAL_NS
//
// says "ready" and goes on until its standard input ends. In the end it says, as JSON, what time of processors it took.
#include <pthread.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

namespace {

constexpr int64_t second = 1'000'000'000;

[[noreturn]] void fail(const std::string &what, int error) { throw std::runtime_error(what + ": " + strerror(error)); }

int64_t time_of(clockid_t clock) {
    timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec * second + time.tv_nsec;
}

// A thread before all that have no priority, on one processor.
void go_first_on(std::thread &thread, int processor) {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(processor, &one);
    if (int error = pthread_setaffinity_np(thread.native_handle(), sizeof one, &one)) fail("processor", error);
    const sched_param first{sched_get_priority_min(SCHED_FIFO)};
    if (int error = pthread_setschedparam(thread.native_handle(), SCHED_FIFO, &first)) fail("priority", error);
}

[[noreturn]] void beat(int64_t interval) {
    for (int64_t next = time_of(CLOCK_MONOTONIC);; next += interval) {
        const timespec due{next / second, next % second};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, nullptr);
    }
}

} // namespace

int main(int count, char **arguments) {
    try {
        const int64_t interval = count == 2 ? std::strtoll(arguments[1], nullptr, 10) : 0;
        if (interval <= 0) throw std::runtime_error("metronome INTERVAL_NS");
        for (int processor = 0; processor < sysconf(_SC_NPROCESSORS_ONLN); processor++) {
            std::thread thread(beat, interval);
            go_first_on(thread, processor);
            thread.detach();
        }
        std::printf("ready\n");
        std::fflush(stdout);
        while (std::getchar() != EOF) {
        }
        std::printf("{\"core_seconds\": %.6f}\n", double(time_of(CLOCK_PROCESS_CPUTIME_ID)) / double(second));
        std::fflush(stdout);
        _exit(0);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "metronome: %s\n", error.what());
        std::fflush(stderr);
        _exit(1);
    }
}
