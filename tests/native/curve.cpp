// Nodes with CURVE keys while other ends connect: sums stay exact; an end with the keys is heard; one with no keys,
// keys of its own or another cluster's is refused and counted, and never reaches the server. Nodes end in the middle of
// all this.
//
// curve ZMQ_LIBRARY ROUNDS
#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "net/peer.h"
#include "net/zeromq/library.h"
#include "net/zeromq/socket.h"
#include "nodes.h"

using namespace ps;

namespace {

constexpr int64_t num_keys = 8, length = 4;

CurveKeys new_keys(const char *zmq_library) {
    void *library = dlopen(zmq_library, RTLD_NOW);
    CHECK(library);
    auto make = reinterpret_cast<int (*)(char *, char *)>(dlsym(library, "zmq_curve_keypair"));
    char public_key[41], secret_key[41];
    CHECK(make && make(public_key, secret_key) == 0);
    return CurveKeys{public_key, secret_key};
}

enum class Proof { the_keys, no_keys, own_keys, other_cluster };

// One connection to a node, which sends a message that the node refuses if it gets to see it.
class Knock {
public:
    Knock(const std::string &endpoint, Proof proof, const CurveKeys &keys, const CurveKeys &others)
        : context_(proof == Proof::the_keys        ? keys
                   : proof == Proof::other_cluster ? others
                                                   : CurveKeys{}),
          socket_(context_, ZmqSocket::dealer) {
        if (proof == Proof::own_keys) { // it knows the nodes' public key
            socket_.set(ZmqOption::curve_server_key, decode_z85(keys.public_key));
            socket_.set(ZmqOption::curve_public_key, decode_z85(others.public_key));
            socket_.set(ZmqOption::curve_secret_key, decode_z85(others.secret_key));
        }
        socket_.connect(endpoint);
        CHECK(socket_.send(Bytes(9, 'x')));
    }

private:
    ZmqContext context_;
    ZmqSocket socket_;
};

ps_node_stats stats_of(ps_node *node) {
    ps_node_stats stats;
    CHECK(ps_node_get_stats(node, &stats, sizeof stats) == PS_OK);
    return stats;
}

// An end that goes before the node looks at it is not refused, so connect again until a node has counted it.
template <class Counted>
void knock_until(Counted &&counted, const std::string &endpoint, Proof proof, const CurveKeys &keys,
                 const CurveKeys &others) {
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (!counted()) {
        CHECK(std::chrono::steady_clock::now() < end);
        Knock knock(endpoint, proof, keys, others);
        for (int looks = 0; looks < 100 && !counted(); looks++)
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

void push(ps_node *node, int rounds) {
    ps_worker *worker = create_worker(node);
    std::vector<int64_t> all(num_keys), ones(num_keys * length, 1), seen(num_keys * length);
    for (int64_t key = 0; key < num_keys; key++) all[size_t(key)] = key;
    for (int64_t round = 1; round <= rounds; round++) {
        CHECK(ps_push(worker, all.data(), num_keys, ones.data(), num_keys * length, nullptr) == PS_OK);
        CHECK(ps_pull(worker, all.data(), num_keys, seen.data(), num_keys * length, nullptr) == PS_OK);
        for (int64_t value : seen) CHECK(value >= round);
        if (round % 16 == 0) CHECK(ps_localize(worker, all.data(), 1, nullptr) == PS_OK); // the others stay apart
    }
    CHECK(ps_wait_all(worker, 60) == PS_OK);
    ps_worker_free(worker);
}

void only_the_keys_are_admitted(const char *library, int rounds) {
    const CurveKeys keys = new_keys(library), others = new_keys(library);
    NodeOptions options{num_keys, {length}, 2};
    std::vector<ps_node *> nodes;
    std::vector<std::string> endpoints;
    for (int32_t number : {0, 1}) {
        nodes.push_back(create_node_of(options, number));
        CHECK(ps_node_secure(nodes.back(), others.public_key.c_str(), keys.secret_key.c_str()) == PS_EINVAL);
        CHECK(ps_node_secure(nodes.back(), keys.public_key.c_str(), keys.secret_key.c_str()) == PS_OK);
        endpoints.push_back(bind_node(nodes.back()));
    }
    for (ps_node *node : nodes) connect_node(node, endpoints);

    std::vector<std::thread> threads;
    for (int number = 0; number < 4; number++) threads.emplace_back(push, nodes[size_t(number % 2)], rounds);
    std::atomic<bool> stop{false}; // strangers knock at node 0 until the end of the nodes, and beyond
    for (Proof proof : {Proof::no_keys, Proof::own_keys, Proof::other_cluster})
        threads.emplace_back([&, proof] {
            while (!stop) {
                Knock knock(endpoints[0], proof, keys, others);
                std::this_thread::sleep_for(std::chrono::milliseconds(20));
            }
        });
    for (Proof proof : {Proof::no_keys, Proof::own_keys, Proof::other_cluster}) { // each kind is counted, at node 1
        int64_t before = stats_of(nodes[1]).peers_refused;
        knock_until([&] { return stats_of(nodes[1]).peers_refused > before; }, endpoints[1], proof, keys, others);
    }
    CHECK(stats_of(nodes[0]).refused == 0 && stats_of(nodes[1]).refused == 0); // the server heard none of them
    for (int number = 0; number < 4; number++) threads[size_t(number)].join();
    knock_until([&] { return stats_of(nodes[1]).refused > 0; }, endpoints[1], Proof::the_keys, keys, others);
    knock_until([&] { return stats_of(nodes[0]).peers_refused > 0; }, endpoints[0], Proof::no_keys, keys, others);
    CHECK(stats_of(nodes[0]).refused == 0);

    std::vector<int64_t> all(num_keys), seen(num_keys * length);
    for (int64_t key = 0; key < num_keys; key++) all[size_t(key)] = key;
    ps_worker *worker = create_worker(nodes[1]);
    CHECK(ps_pull(worker, all.data(), num_keys, seen.data(), num_keys * length, nullptr) == PS_OK);
    for (int64_t value : seen) CHECK(value == 4 * rounds);
    ps_worker_free(worker);
    for (ps_node *node : nodes) ps_node_free(node);
    stop = true;
    for (size_t number = 4; number < threads.size(); number++) threads[number].join();
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 3 && ps_load_zmq(arguments[1]) == PS_OK);
    only_the_keys_are_admitted(arguments[1], std::atoi(arguments[2]));
    std::puts("ok");
}
