// Threads that share a node: pushes add up, pulls see whole values, barriers, clocks, joining, leaving, attaching and
// the end of the server happen at the same time.
#include <atomic>
#include <thread>
#include <vector>

#include "check.h"

namespace {

constexpr int64_t num_keys = 64, length = 10, workers = 4, rounds = 300;

void push_and_pull(ps_node *node, int number) {
    ps_worker *worker = create_worker(node);
    std::vector<float> ones(num_keys * length, 1.0f), values(num_keys * length);
    std::vector<int64_t> keys(num_keys);
    for (int64_t i = 0; i < num_keys; i++) keys[i] = (i * (number + 1) * 5 + number) % num_keys;
    for (int round = 0; round < rounds; round++) {
        int64_t timestamp = 0;
        CHECK(ps_push(worker, keys.data(), num_keys, ones.data(), num_keys * length, &timestamp) == PS_OK);
        CHECK(timestamp == -1 && ps_wait(worker, timestamp, 1) == PS_OK);
        CHECK(ps_pull(worker, keys.data(), num_keys, values.data(), num_keys * length, nullptr) == PS_OK);
        for (int64_t i = 0; i < num_keys * length; i++) CHECK(values[i] == values[i / length * length]);
        if (round % 50 == 0) CHECK(ps_barrier(worker, 30) == PS_OK);
        CHECK(ps_advance_clock(worker, nullptr) == PS_OK);
        ps_node_stats stats;
        CHECK(ps_node_get_stats(node, &stats, sizeof stats) == PS_OK && stats.keys_held == num_keys);
    }
    ps_worker_free(worker);
}

void pushes_add_up() {
    ps_node *node = create_node(num_keys, length, 16, workers);
    std::vector<std::thread> threads;
    for (int number = 0; number < workers; number++) threads.emplace_back(push_and_pull, node, number);
    for (std::thread &thread : threads) thread.join();
    ps_worker *worker = create_worker(node);
    double total = 0;
    for (int64_t key = 0; key < num_keys; key++) {
        float value[length];
        CHECK(ps_pull(worker, &key, 1, value, length, nullptr) == PS_OK);
        total += value[0];
    }
    CHECK(total == double(workers * rounds * num_keys));
    ps_worker_free(worker);
    ps_node_free(node);
}

void one_worker_in_several_threads() {
    ps_node *node = create_node(num_keys, length);
    ps_worker *worker = create_worker(node);
    std::vector<std::thread> threads;
    for (int number = 0; number < workers; number++)
        threads.emplace_back([=] {
            int64_t key = 3;
            float ones[length];
            for (float &one : ones) one = 1;
            for (int round = 0; round < rounds; round++)
                CHECK(ps_push(worker, &key, 1, ones, length, nullptr) == PS_OK);
        });
    for (std::thread &thread : threads) thread.join();
    int64_t key = 3;
    float value[length];
    CHECK(ps_pull(worker, &key, 1, value, length, nullptr) == PS_OK && value[0] == workers * rounds);
    ps_worker_free(worker);
    ps_node_free(node);
}

// Workers in full use while others finalize them and the server ends: every call works or says that it is over.
void the_end_comes_any_time() {
    for (int repetition = 0; repetition < 20; repetition++) {
        ps_node *node = create_node(num_keys, length);
        char address[64];
        CHECK(ps_node_listen(node, address, sizeof address) == PS_OK);
        ps_node *attached = nullptr;
        CHECK(ps_node_attach(address, 5, &attached) == PS_OK);
        std::vector<ps_worker *> handles;
        std::vector<std::thread> threads;
        std::atomic<int> started{0};
        for (int number = 0; number < workers; number++) {
            handles.push_back(create_worker(number % 2 ? attached : node));
            threads.emplace_back([worker = handles.back(), number, &started] {
                int64_t key = number;
                float value[length] = {};
                started++;
                int32_t code = PS_OK;
                while (code == PS_OK)
                    code = number == 3 ? ps_barrier(worker, 30) : ps_push(worker, &key, 1, value, length, nullptr);
                CHECK(code == PS_ECLOSED);
            });
        }
        while (started < workers) std::this_thread::yield();
        std::thread finalizer(
            [&] { CHECK(ps_worker_finalize(handles[0]) == PS_OK && ps_worker_finalize(handles[0]) == PS_OK); });
        CHECK(ps_node_shutdown(node) == PS_OK && ps_node_shutdown(node) == PS_OK);
        ps_node_free(node); // before its workers
        finalizer.join();
        for (std::thread &thread : threads) thread.join();
        for (ps_worker *worker : handles) ps_worker_free(worker);
        CHECK(!ps_node_is_open(attached));
        ps_node_free(attached);
        CHECK(ps_node_attach(address, 1, &attached) == PS_EADDRESS);
    }
}

void slots_come_and_go() {
    ps_node *node = create_node(num_keys, length, 4);
    std::vector<std::thread> threads;
    for (int number = 0; number < 4; number++)
        threads.emplace_back([=] {
            for (int round = 0; round < rounds; round++) {
                ps_worker *worker = create_worker(node);
                int64_t key = number;
                float ones[length] = {1};
                CHECK(ps_push(worker, &key, 1, ones, length, nullptr) == PS_OK);
                ps_worker_free(worker);
            }
        });
    for (std::thread &thread : threads) thread.join();
    std::vector<ps_worker *> all;
    for (int number = 0; number < 4; number++) all.push_back(create_worker(node));
    ps_worker *worker;
    CHECK(ps_worker_create(node, &worker) == PS_EWORKERS);
    for (ps_worker *one : all) ps_worker_free(one);
    ps_node_free(node);
}

} // namespace

int main() {
    pushes_add_up();
    one_worker_in_several_threads();
    the_end_comes_any_time();
    slots_come_and_go();
    std::puts("ok");
}
