// Values that are read without their latch: a glance is steady only if nothing held the latch since, however often it
// was held meanwhile and whoever died with it; and what pulls read while others push and die is whole.
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "check.h"
#include "segment/segment.h"
#include "store/batch.h"
#include "store/latch.h"
#include "store/slabs.h"
#include "store/store_values.h"
#include "worker/workers.h"

using namespace ps;

namespace {

constexpr int64_t length = 100, hot = 0, pushes = 30'000;
constexpr Row row{0};
constexpr int readers = 2, writers = 2, kills = 50;

std::shared_ptr<Segment> no_key_yet() {
    ps_node_options options{};
    options.num_keys = 1;
    options.value_lengths = &length;
    options.num_lengths = 1;
    return Segment::create(options);
}

std::shared_ptr<Segment> one_key() {
    auto segment = no_key_yet();
    Slabs slabs(*segment);
    segment->entry(row) = slabs.hold(segment->place(row)).word();
    return segment;
}

void hold_once(Latches &latches) {
    Place place(0);
    CHECK(latches.acquire(row, Patience::wait, &place));
    latches.release(row, place);
}

void a_latch_that_was_held_ends_a_glance() {
    auto segment = one_key();
    Latches latches(*segment, join(*segment));
    Glance first(*segment, row);
    CHECK(first.was_steady());
    Place place(0);
    CHECK(latches.acquire(row, Patience::wait, &place));
    CHECK(!first.was_steady() && !Glance(*segment, row).was_steady());
    latches.release(row, place);
    CHECK(!first.was_steady() && Glance(*segment, row).was_steady());
}

void so_does_one_whose_version_is_the_same_again() {
    auto segment = one_key();
    Latches latches(*segment, join(*segment));
    for (int turn = 0; turn < 2; turn++) {
        Glance glance(*segment, row);
        for (uint64_t i = 0; i < versions; i++) hold_once(latches);
        CHECK(segment->place(row).word() == glance.place().word() && !glance.was_steady());
    }
}

// In a child, which is there until it is killed.
template <class Body>
pid_t in_child(const Segment &segment, Body &&body) {
    uint64_t joined = segment.header().joined;
    pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0)
        for (body();;) pause();
    while (segment.header().joined == joined) sched_yield();
    return pid;
}

void end(pid_t pid) { CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, nullptr, 0) == pid); }

void so_does_one_that_a_dead_holder_left() {
    auto segment = one_key();
    Latches latches(*segment, join(*segment));
    hold_once(latches);
    Glance glance(*segment, row);
    CHECK(glance.place().version() == 1);
    pid_t pid = in_child(*segment, [&] {
        Place place(0);
        CHECK(Latches(*segment, join(*segment)).acquire(row, Patience::wait, &place));
    });
    while (!segment->place(row).is_held()) sched_yield();
    end(pid);
    hold_once(latches);
    CHECK(segment->place(row).word() == glance.place().word() && !glance.was_steady());
}

int32_t pull_once(Segment &segment, Latches &latches) {
    std::vector<float> value(length);
    ps_request pull{PS_PULL, 0, &hot, 1, value.data(), length, 0, -1, 0};
    return run_local(segment, latches, pull);
}

void pulls_leave_the_latch_alone() {
    auto segment = one_key();
    Latches latches(*segment, join(*segment));
    uint64_t before = segment->place(row).word();
    CHECK(pull_once(*segment, latches) == PS_OK);
    CHECK(segment->place(row).word() == before);
}

void a_closed_replica_is_not_read() {
    auto segment = no_key_yet();
    Slabs slabs(*segment);
    StoreValues values(*segment, slabs, 0);
    CHECK(values.latch(hot));
    values.copy(hot, Bytes(length * sizeof(float), 0));
    values.unlatch();
    Latches latches(*segment, join(*segment));
    CHECK(values.standing(hot) == Standing::replica && pull_once(*segment, latches) == PS_OK);
    Place place(0);
    CHECK(latches.acquire(row, Patience::wait, &place));
    std::vector<float> value(length);
    const auto read_latched = [&] {
        return run_latched(*segment, latches, row, place, PS_PULL, reinterpret_cast<char *>(value.data()));
    };
    CHECK(read_latched());
    values.close(hot); // while this worker has the latch
    CHECK(values.standing(hot) == Standing::closed && !read_latched());
    latches.release(row, place);
    CHECK(pull_once(*segment, latches) == PS_ENOTLOCAL);
}

void push_ones(Segment &segment, Latches &latches) {
    static std::vector<float> ones(length, 1.0f);
    ps_request push{PS_PUSH, 0, &hot, 1, ones.data(), length, 0, -1, 0};
    CHECK(run_local(segment, latches, push) == PS_OK);
}

// Values only grow, and their elements are alike.
void read_until(const std::atomic<bool> &over, Segment &segment) {
    Latches latches(segment, join(segment));
    std::vector<float> value(length);
    for (float last = 0; !over; last = value[0]) {
        ps_request pull{PS_PULL, 0, &hot, 1, value.data(), length, 0, -1, 0};
        CHECK(run_local(segment, latches, pull) == PS_OK);
        for (float element : value) CHECK(element == value[0]);
        CHECK(value[0] >= last);
    }
}

void pulls_are_whole() {
    auto segment = one_key();
    std::atomic<bool> over{false};
    std::vector<std::thread> reading, writing;
    for (int i = 0; i < readers; i++) reading.emplace_back([&] { read_until(over, *segment); });
    for (int i = 0; i < writers; i++)
        writing.emplace_back([&] {
            Latches latches(*segment, join(*segment));
            for (int64_t push = 0; push < pushes; push++) push_ones(*segment, latches);
        });
    for (std::thread &thread : writing) thread.join();
    over = true;
    for (std::thread &thread : reading) thread.join();
    CHECK(*reinterpret_cast<float *>(segment->value(segment->place(row))) == writers * pushes);
}

// Children are made while this process has one thread.
void pulls_are_whole_beside_those_who_die() {
    auto segment = one_key();
    std::vector<pid_t> writing;
    for (int i = 0; i < kills; i++)
        writing.push_back(in_child(*segment, [&] {
            for (Latches latches(*segment, join(*segment));;) push_ones(*segment, latches);
        }));
    std::atomic<bool> over{false};
    std::thread reading([&] { read_until(over, *segment); });
    for (pid_t pid : writing) {
        usleep(2000);
        end(pid);
    }
    over = true;
    reading.join();
}

} // namespace

int main() {
    a_latch_that_was_held_ends_a_glance();
    so_does_one_whose_version_is_the_same_again();
    so_does_one_that_a_dead_holder_left();
    pulls_leave_the_latch_alone();
    a_closed_replica_is_not_read();
    pulls_are_whole_beside_those_who_die();
    pulls_are_whole();
    std::puts("ok");
}
