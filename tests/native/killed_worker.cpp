// Kill workers with SIGKILL in the middle of pushes: every value is whole afterwards, and nobody waits long.
// Usage: killed_worker KILLS LONGEST_WAIT_MS. Another worker goes on pushing and pulling the same keys all the time.
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <vector>

#include "check.h"

namespace {

constexpr int64_t num_keys = 4, length = 100;
constexpr int64_t keys[num_keys] = {0, 1, 2, 3};

struct Shared {
    std::atomic<double> longest_ms{0};
    std::atomic<bool> pushing{false};
    std::atomic<bool> stop{false};
};

double now_ms() {
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

// All elements of a value are alike, before and after every push.
void witness(ps_worker *worker, Shared *shared) {
    std::vector<float> ones(num_keys * length, 1.0f), values(num_keys * length);
    while (!shared->stop) {
        double start = now_ms();
        CHECK(ps_push(worker, keys, num_keys, ones.data(), num_keys * length, nullptr) == PS_OK);
        CHECK(ps_pull(worker, keys, num_keys, values.data(), num_keys * length, nullptr) == PS_OK);
        shared->longest_ms = std::max(shared->longest_ms.load(), now_ms() - start);
        for (int64_t i = 0; i < num_keys * length; i++) CHECK(values[i] == values[i / length * length]);
        usleep(100);
    }
}

void victim(ps_worker *worker, Shared *shared) {
    std::vector<float> ones(num_keys * length, 1.0f);
    for (shared->pushing = true;;)
        CHECK(ps_push(worker, keys, num_keys, ones.data(), num_keys * length, nullptr) == PS_OK);
}

template <class Body>
pid_t start(ps_node *node, Body &&body, Shared *shared) {
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid) return pid;
    ps_worker *worker = create_worker(node);
    body(worker, shared);
    ps_worker_free(worker);
    std::_Exit(0);
}

} // namespace

int main(int, char **arguments) {
    const int kills = std::atoi(arguments[1]);
    const double limit_ms = std::atof(arguments[2]);
    void *memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    Shared *shared = new (memory) Shared;
    ps_node *node = create_node(num_keys, length, 8); // so few slots that those of the dead are needed
    ps_worker *worker = create_worker(node);
    std::vector<float> zeros(num_keys * length, 0.0f), values(num_keys * length);
    std::mt19937 random(7);
    double longest = 0;
    pid_t other = start(node, witness, shared);
    for (int round = 0; round < kills; round++) {
        shared->pushing = false;
        pid_t pid = start(node, victim, shared);
        for (double begin = now_ms(); !shared->pushing && now_ms() < begin + 20'000;) sched_yield();
        CHECK(shared->pushing);
        usleep(random() % 300);
        CHECK(kill(pid, SIGKILL) == 0);
        if (round % 2) CHECK(waitpid(pid, nullptr, 0) == pid); // else it is a zombie meanwhile
        double begin = now_ms();
        CHECK(ps_pull(worker, keys, num_keys, values.data(), num_keys * length, nullptr) == PS_OK);
        if (round % 100 == 0) CHECK(ps_set(worker, keys, num_keys, zeros.data(), num_keys * length, nullptr) == PS_OK);
        longest = std::max(longest, now_ms() - begin);
        for (int64_t i = 0; i < num_keys * length; i++) CHECK(values[i] == values[i / length * length]);
        if (round % 2 == 0) CHECK(waitpid(pid, nullptr, 0) == pid);
    }
    shared->stop = true;
    int status;
    CHECK(waitpid(other, &status, 0) == other && status == 0);
    ps_node_stats stats;
    CHECK(ps_node_get_stats(node, &stats, sizeof stats) == PS_OK);
    std::printf("%d kills, %lld latches recovered, %lld values restored, %lld slots reclaimed, longest call %.1f ms, "
                "witness %.1f ms\n",
                kills, static_cast<long long>(stats.latches_recovered), static_cast<long long>(stats.values_restored),
                static_cast<long long>(stats.workers_reclaimed), longest, shared->longest_ms.load());
    std::fflush(stdout);
    CHECK(stats.latches_recovered > 0 && stats.values_restored > 0 && stats.workers_reclaimed > 0);
    CHECK(longest < limit_ms && shared->longest_ms.load() < limit_ms);
    ps_worker_free(worker);
    ps_node_free(node);
    munmap(memory, sizeof(Shared));
}
