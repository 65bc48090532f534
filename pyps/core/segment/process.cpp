#include "segment/process.h"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "errors.h"

namespace ps {

namespace {

struct Stat {
    enum class Entry { found, missing, unreadable };

    Entry entry;
    char state = 0;
    long threads = 0;
    uint32_t start = 0;
};

// Read /proc/<pid>/stat. The command's name, in parentheses, may hold anything: fields are counted from the last ')'.
Stat read_stat(uint32_t pid) {
    char path[32], text[1024];
    std::snprintf(path, sizeof path, "/proc/%u/stat", pid);
    int fd = ::open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return {errno == ENOENT ? Stat::Entry::missing : Stat::Entry::unreadable};
    ssize_t size = ::read(fd, text, sizeof text - 1);
    ::close(fd);
    if (size <= 0) return {Stat::Entry::missing}; // it ended between open and read
    text[size] = 0;
    char *field = std::strrchr(text, ')');
    if (!field) return {Stat::Entry::unreadable};
    Stat stat{Stat::Entry::found, field[2]};
    field += 2;
    for (int number = 3; number <= 22 && field; number++) {
        if (number == 20) stat.threads = std::strtol(field, nullptr, 10);
        if (number == 22) stat.start = static_cast<uint32_t>(std::strtoull(field, nullptr, 10));
        field = std::strchr(field, ' ');
        if (field) field++;
    }
    return stat;
}

double seconds(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::atomic<uint32_t> generation{0};

} // namespace

Process Process::self() {
    uint32_t pid = static_cast<uint32_t>(::getpid());
    Stat stat = read_stat(pid);
    if (stat.entry != Stat::Entry::found)
        fail(PS_ESYSTEM, Where{-1, errno, 0},
             "/proc/%u/stat cannot be read: %s; libps needs /proc to see which processes are alive", pid,
             std::strerror(errno));
    return {pid, stat.start};
}

bool Process::is_alive() const {
    Stat stat = read_stat(pid);
    if (stat.entry != Stat::Entry::found)
        return stat.entry == Stat::Entry::unreadable; // if it cannot be read, take the process to be alive
    bool ended = (stat.state == 'Z' && stat.threads <= 1) || stat.state == 'X' || stat.state == 'x';
    return !ended && stat.start == start;
}

uint32_t fork_generation() {
    static const int registered = pthread_atfork(nullptr, nullptr, [] { generation.fetch_add(1); });
    (void)registered;
    return generation.load(std::memory_order_relaxed);
}

void begin_thread(const char *name) {
    pthread_setname_np(pthread_self(), name);
    make_room_for_failures();
}

double monotonic_seconds() { return seconds(CLOCK_MONOTONIC); }

double coarse_seconds() { return seconds(CLOCK_MONOTONIC_COARSE); }

SignalsBlocked::SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
}

SignalsBlocked::~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

} // namespace ps
