#include "net/zeromq/limits.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "errors.h"
#include "ps.h"
#include "segment/process.h"

namespace ps {

namespace {

constexpr size_t usual_descriptors = 14, descriptors_of_carrier = 2;
constexpr size_t closers = 1; // threads that close sockets
constexpr uint64_t descriptors_of_node = 64, descriptors_of_peer = 4; // measured: 45 and 4
constexpr uint64_t usual_limit = 1024;
constexpr size_t usual_megabytes = 3, megabytes_of_carrier = 1; // beside their stacks; measured: 0.3 for one
constexpr double patience = 1.0; // seconds to wait until ended threads are no longer counted

void require_descriptors(size_t descriptors) {
    std::vector<int> held;
    for (int one; held.size() < descriptors && (one = eventfd(0, EFD_CLOEXEC)) >= 0;) held.push_back(one);
    int code = errno;
    for (int one : held) close(one);
    if (held.size() < descriptors)
        fail(PS_ESYSTEM, Where{-1, code, 0}, "ZeroMQ needs %zu more file descriptors: %s", descriptors,
             std::strerror(code));
}

uint64_t count_descriptors() {
    uint64_t count = 0;
    DIR *open = opendir("/proc/self/fd");
    if (!open) return 0; // no descriptor is left for it
    while (readdir(open)) count++;
    closedir(open);
    return count;
}

struct Attempt {
    std::mutex *gate; // locked until all of them have been started
    pthread_t thread;
    std::atomic<int> id{0};
};

void *attempt_to_run(void *of) {
    auto *attempt = static_cast<Attempt *>(of);
    attempt->id = int(syscall(SYS_gettid));
    std::lock_guard<std::mutex> passed(*attempt->gate);
    return nullptr;
}

// Whether the system would give so much memory: 0, or why not.
int try_to_map(size_t bytes) {
    void *mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return errno;
    munmap(mapped, bytes);
    return 0;
}

// Starts as many threads as are needed, tries what they need beside their stacks, and ends them. The system counts a
// thread as long as it has an entry in /proc.
void require_threads(size_t threads, size_t megabytes) {
    std::mutex gate;
    std::vector<Attempt> attempts(threads);
    size_t made = 0;
    int code = 0;
    gate.lock();
    {
        SignalsBlocked blocked;
        while (made < threads && code == 0) {
            attempts[made].gate = &gate;
            code = pthread_create(&attempts[made].thread, nullptr, attempt_to_run, &attempts[made]);
            if (code == 0) made++;
        }
    }
    int no_memory = code == 0 ? try_to_map(megabytes << 20) : 0;
    gate.unlock();
    double end = monotonic_seconds() + patience;
    for (size_t i = 0; i < made; i++) {
        pthread_join(attempts[i].thread, nullptr);
        std::string entry = "/proc/self/task/" + std::to_string(attempts[i].id.load());
        while (access(entry.c_str(), F_OK) == 0 && monotonic_seconds() < end) sched_yield();
    }
    if (code != 0)
        fail(PS_ESYSTEM, Where{-1, code, 0},
             "ZeroMQ needs %zu more threads: %s; `ulimit -u`, `ulimit -v` and the cgroup's pids limit them", threads,
             std::strerror(code));
    if (no_memory != 0)
        fail(PS_ESYSTEM, Where{-1, no_memory, 0},
             "ZeroMQ's threads need %zu MB of memory beside their stacks: %s; `ulimit -v` limits it", megabytes,
             std::strerror(no_memory));
}

} // namespace

void require_room_for_nodes(uint32_t num_nodes) {
    rlimit limit{};
    if (num_nodes == 1 || getrlimit(RLIMIT_NOFILE, &limit)) return;
    uint64_t more = descriptors_of_node + uint64_t(num_nodes - 1) * descriptors_of_peer;
    uint64_t needed = count_descriptors() + more;
    if (limit.rlim_cur >= needed) return;
    if (more > usual_limit && limit.rlim_max >= needed) {
        limit.rlim_cur = needed;
        if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return;
    }
    fail(PS_ESYSTEM, Where{-1, EMFILE, 0},
         "a node of %u needs about %llu more file descriptors, %llu in all, and this process may have %llu: raise that "
         "(`ulimit -n`)",
         num_nodes, static_cast<unsigned long long>(more), static_cast<unsigned long long>(needed),
         static_cast<unsigned long long>(limit.rlim_cur));
}

void require_room_for_zmq(size_t carriers) {
    require_descriptors(usual_descriptors + carriers * descriptors_of_carrier);
    require_threads(closers + carriers, usual_megabytes + carriers * megabytes_of_carrier);
}

} // namespace ps
