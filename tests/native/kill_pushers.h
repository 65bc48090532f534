// Workers that are killed while they push.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <random>
#include <vector>

#include "check.h"
#include "segment/segment.h"
#include "store/batch.h"
#include "worker/workers.h"

// Start a worker that pushes `delta` to key 0 again and again, and kill it at some moment; so many times. After each
// kill, `require` is called with the key's latch held. One of them at least must have been in the middle of a push.
template <class Number, class Require>
void kill_pushers(ps::Segment &segment, std::vector<Number> delta, int kills, Require &&require) {
    using namespace ps;
    int64_t key = 0;
    std::mt19937 random(7);
    for (int round = 0; round < kills; round++) {
        uint64_t joined = segment.header().joined;
        pid_t pid = fork();
        CHECK(pid >= 0);
        if (pid == 0) {
            Latches latches(segment, join(segment));
            for (;;) {
                ps_request push{PS_PUSH, 0, &key, 1, delta.data(), int64_t(delta.size()), 0, -1, 0};
                CHECK(run_local(segment, latches, push) == PS_OK);
            }
        }
        while (segment.header().joined == joined) sched_yield();
        usleep(random() % 300);
        CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, nullptr, 0) == pid);
        Holder me = join(segment);
        Latches latches(segment, me);
        Place place(0);
        CHECK(latches.acquire(Row{0}, Patience::wait, &place));
        require();
        latches.release(Row{0}, place);
        leave(segment, me);
    }
    CHECK(segment.header().restored > 0);
}
