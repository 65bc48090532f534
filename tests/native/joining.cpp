// Nodes join a cluster that works, over real sockets: no push is lost, no read goes back, and keys move to the new
// nodes. One of the first nodes then leaves.
//
// joining ZMQ_LIBRARY
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "nodes.h"

namespace {

constexpr int64_t num_keys = 600;
constexpr int32_t at_first = 2, places = 4;

class Cluster {
public:
    explicit Cluster(bool is_range) : is_range_(is_range), endpoints_(places), nodes_(places) {
        for (int64_t key = 0; key < num_keys; key++) keys_.push_back(key);
        for (int32_t number = 0; number < at_first; number++) start(number);
        const std::vector<std::string> first(endpoints_.begin(), endpoints_.begin() + at_first);
        for (int32_t number = 0; number < at_first; number++) connect_node(node(number), first);
    }
    ~Cluster() {
        for (ps_node *node : nodes_) ps_node_free(node);
    }

    void join(int32_t number) {
        start(number);
        std::vector<const char *> texts;
        for (const std::string &endpoint : endpoints_) texts.push_back(endpoint.c_str());
        CHECK(ps_node_join(node(number), texts.data(), places, 30) == PS_OK);
    }
    void leave(int32_t number) {
        CHECK(ps_node_hand_over(node(number), 60) == PS_OK);
        ps_node_free(node(number));
        nodes_[size_t(number)] = nullptr;
        endpoints_[size_t(number)].clear();
    }
    ps_node *node(int32_t number) { return nodes_[size_t(number)]; }
    int64_t keys_at(int32_t number) {
        ps_node_stats stats;
        CHECK(ps_node_get_stats(node(number), &stats, sizeof stats) == PS_OK);
        return stats.keys_held;
    }
    const std::vector<int64_t> &keys() const { return keys_; }

private:
    void start(int32_t number) {
        NodeOptions options{is_range_ ? num_keys : 0, {4}, at_first};
        options.capacity = is_range_ ? 0 : 2 * num_keys;
        options.places = places;
        options.replicas = 1;
        nodes_[size_t(number)] = create_node_of(options, number);
        endpoints_[size_t(number)] = bind_node(node(number));
    }

    const bool is_range_;
    std::vector<std::string> endpoints_;
    std::vector<ps_node *> nodes_;
    std::vector<int64_t> keys_;
};

// Adds one to all keys in each round.
void work(Cluster &cluster, int32_t number, std::atomic<bool> &stop, std::atomic<int64_t> *rounds) {
    ps_worker *worker = create_worker(cluster.node(number));
    std::vector<int64_t> ones(num_keys * 4, 1), seen(num_keys * 4), earlier(num_keys * 4);
    int64_t done = 0;
    while (!stop || done == 0) {
        ps_request push{PS_PUSH, 0, cluster.keys().data(), num_keys, ones.data(), num_keys * 4, 0, -1, 0};
        CHECK(ps_run(worker, &push) == PS_OK);
        done++;
        ++*rounds;
        CHECK(ps_pull(worker, cluster.keys().data(), num_keys, seen.data(), num_keys * 4, nullptr) == PS_OK);
        for (size_t i = 0; i < seen.size(); i++) CHECK(seen[i] >= earlier[i] && seen[i] >= done);
        earlier = seen;
    }
    ps_worker_free(worker);
}

void wait_until(const std::function<bool()> &done) {
    for (int tries = 0; tries < 3000 && !done(); tries++) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(done());
}

void joins_while_others_work(bool is_range) {
    Cluster cluster(is_range);
    std::atomic<bool> stop{false};
    std::atomic<int64_t> rounds{0};
    std::vector<std::thread> workers;
    for (int32_t number = 0; number < at_first; number++)
        workers.emplace_back(work, std::ref(cluster), number, std::ref(stop), &rounds);
    for (int32_t number = at_first; number < places; number++) {
        cluster.join(number);
        workers.emplace_back(work, std::ref(cluster), number, std::ref(stop), &rounds);
        wait_until([&] { return cluster.keys_at(number) > num_keys / places / 2; });
    }
    stop = true;
    for (std::thread &worker : workers) worker.join();
    cluster.leave(0);
    ps_worker *worker = create_worker(cluster.node(places - 1));
    std::vector<int64_t> seen(num_keys * 4);
    CHECK(ps_pull(worker, cluster.keys().data(), num_keys, seen.data(), num_keys * 4, nullptr) == PS_OK);
    for (int64_t value : seen) CHECK(value == rounds);
    ps_worker_free(worker);
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 2 && ps_load_zmq(arguments[1]) == PS_OK);
    for (bool is_range : {true, false}) joins_while_others_work(is_range);
    std::puts("ok");
}
