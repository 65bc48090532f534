// A node under hostile traffic: strangers and peers that send damaged messages and nonsense, over real sockets.
//
// hostile ZMQ_LIBRARY MESSAGES: of so many, half come from strangers, while a worker's sums must stay exact and every
// one is refused; half under the names of a node and of a worker of the cluster, whose messages may well be taken, so
// that values say nothing then: the server must live. The keys are a range, and then any numbers of two length classes.
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>

#include "messages.h"
#include "net/peer.h"
#include "net/zeromq/library.h"
#include "net/zeromq/socket.h"
#include "nodes.h"

using namespace ps;

namespace {

constexpr size_t channel_at = 19; // in a message
constexpr long per_cluster = 20'000; // messages until nodes begin anew, with nothing remembered

// Nodes 0 and 1; who plays 2 and 3 is the test.
struct Pair {
    NodeOptions options;
    std::vector<ps_node *> nodes;
    std::vector<std::string> endpoints;

    explicit Pair(int32_t server_threads, const std::string &compression = "") {
        if (!compression.empty()) options.dtype = PS_FLOAT64;
        options.compression = compression;
        options.server_threads = server_threads;
        options.num_keys = shape.is_range ? int64_t(shape.num_keys()) : 0;
        options.capacity = shape.is_range ? 0 : 100'000;
        options.num_nodes = shape.places();
        options.cluster = cluster;
        options.lengths.clear();
        for (Key key = 0; key < shape.num_keys() && shape.is_range; key++) note_length(key);
        for (Key number = 0; number < 2 && !shape.is_range; number++) note_length(number << length_class_at);
        for (int32_t number : {0, 1}) nodes.push_back(create_node_of(options, number));
        for (ps_node *node : nodes) endpoints.push_back(bind_node(node));
        std::vector<std::string> all = endpoints; // nobody listens where nodes 2 and 3 should be
        all.insert(all.end(), {"tcp://127.0.0.1:1", "tcp://127.0.0.1:1"});
        for (ps_node *node : nodes) connect_node(node, all);
    }

    ~Pair() {
        for (ps_node *node : nodes) ps_node_free(node);
    }

    void note_length(Key key) { options.lengths.push_back(int64_t(shape.value_bytes(key)) / 8); }
};

int64_t refused(ps_node *node) {
    ps_node_stats stats;
    CHECK(ps_node_get_stats(node, &stats, sizeof stats) == PS_OK);
    return stats.refused;
}

template <class Done>
void wait_until(Done &&done) {
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!done()) {
        CHECK(std::chrono::steady_clock::now() < end);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

// Somebody who sends messages to a node under a name.
struct Sender {
    ZmqContext context;
    ZmqSocket socket;

    Sender(const std::string &endpoint, const std::string &name) : socket(context, ZmqSocket::dealer) {
        if (!name.empty()) socket.set(ZmqOption::routing_id, name);
        socket.connect(endpoint);
    }

    // Come back when the server has refused one more: it lives.
    void wait(ps_node *node) {
        int64_t before = refused(node);
        CHECK(socket.send(Bytes()));
        wait_until([&] { return refused(node) > before; });
    }
};

Bytes nonsense() {
    switch (draw(8)) {
    case 0: return some_bytes(draw(200));
    case 1: return Bytes();
    case 2: return some_message(); // only its sender is wrong, if anything
    default: return damaged(some_message());
    }
}

// Each key's values must be what this worker alone pushed.
void push_and_check(ps_node *node, std::atomic<bool> *stop) {
    ps_worker *worker = create_worker(node);
    std::vector<int64_t> keys;
    int64_t elements = 0;
    for (uint64_t number = 0; number < shape.num_keys(); number++) {
        const Key key = shape.key(number);
        if (shape.home(key) > 1) continue; // lives where nobody is
        keys.push_back(int64_t(key));
        elements += int64_t(shape.value_bytes(key)) / 8;
    }
    auto count = int64_t(keys.size());
    std::vector<int64_t> ones(size_t(elements), 1), seen(ones.size());
    for (int64_t round = 1; !*stop; round++) {
        CHECK(ps_push(worker, keys.data(), count, ones.data(), elements, nullptr) == PS_OK);
        CHECK(ps_pull(worker, keys.data(), count, seen.data(), elements, nullptr) == PS_OK);
        for (int64_t value : seen) CHECK(value == round);
        if (round % 10 == 0) CHECK(ps_localize(worker, &keys[size_t(round) % keys.size()], 1, nullptr) == PS_OK);
        ps_intent(worker, &keys[size_t(round) % keys.size()], 1, round, round + 2);
        CHECK(ps_advance_clock(worker, nullptr) == PS_OK);
    }
    ps_worker_free(worker);
}

void strangers(long messages) {
    Pair pair(2);
    std::atomic<bool> stop{false};
    std::thread honest(push_and_check, pair.nodes[0], &stop);
    {
        const std::string names[] = {"", "N", "somebody", name_of_worker(2, 7, cluster + 1),
                                     name_of_node(2, cluster + 1)};
        std::vector<std::unique_ptr<Sender>> senders;
        for (const std::string &name : names) senders.push_back(std::make_unique<Sender>(pair.endpoints[1], name));
        for (long sent = 0; sent < messages;) {
            for (int burst = 0; burst < 1000 && sent < messages; burst++, sent++)
                CHECK(senders[draw(senders.size())]->socket.send(nonsense()));
            wait_until([&] { return refused(pair.nodes[1]) == sent; });
        }
    }
    stop = true;
    honest.join();
    CHECK(refused(pair.nodes[1]) == messages && refused(pair.nodes[0]) == 0);
}

// A message of the sender's kind, so that it comes through to the protocol more often.
Bytes from(Bytes message, NodeId node, uint32_t worker) {
    if (message.size() < 24) return message;
    std::memcpy(&message[6], &node, sizeof node);
    if (message.size() < 48 || (message[5] != char(Kind::request) && message[5] != char(Kind::answer))) return message;
    NodeId whose = message[5] == char(Kind::answer) ? NodeId(1) : node;
    std::memcpy(&message[32], &worker, sizeof worker);
    std::memcpy(&message[36], &whose, sizeof whose);
    return message;
}

int64_t insiders(long messages) {
    const auto threads = 1 + int32_t(draw(3));
    const bool rounds = draw(2);
    shape.of_deltas = Packing(rounds ? Packing::Kind::bfloat16 : Packing::Kind::top_k, sizeof(double), 0.2);
    Pair pair(threads, rounds ? "bfloat16" : "top_k:share=0.2");
    constexpr uint32_t number = 7;
    Sender node(pair.endpoints[1], name_of_node(2, cluster)),
        worker(pair.endpoints[1], name_of_worker(2, number, cluster));
    ps_worker *honest = create_worker(pair.nodes[1]);
    for (long sent = 0; sent < messages; sent++) {
        Sender &sender = draw(2) ? node : worker;
        only_home = int(draw(4)) - 1;
        Bytes message = from(draw(4) ? some_message() : nonsense(), 2, number);
        if (message.size() > channel_at) message[channel_at] = char(draw(uint64_t(pair.options.server_threads)));
        CHECK(sender.socket.send(std::move(message)));
        if (sent % 1000 == 0) sender.wait(pair.nodes[1]);
        if (sent % 50) continue;
        // An honest worker intends: what it pushed would be waited for at its end, and keys may be lost.
        int64_t key = int64_t(shape.key(draw(shape.num_keys()))), clock;
        CHECK(ps_current_clock(honest, &clock) == PS_OK);
        CHECK(ps_intent(honest, &key, 1, clock, clock + 2) == PS_OK && ps_advance_clock(honest, nullptr) == PS_OK);
    }
    node.wait(pair.nodes[1]);
    worker.wait(pair.nodes[1]);
    int64_t clock;
    if (ps_current_clock(honest, &clock) != PS_OK)
        std::fprintf(stderr, "%s\n", ps_last_error()->message), std::_Exit(1);
    ps_worker_free(honest);
    return refused(pair.nodes[1]);
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 3 && ps_load_zmq(arguments[1]) == PS_OK);
    const long half = std::atol(arguments[2]) / 2, each = half / 2;
    long dropped = 0;
    for (bool is_range : {true, false}) {
        shape.is_range = is_range;
        shape.of_deltas = Packing();
        strangers(each);
        for (long sent = 0; sent < each; sent += per_cluster) dropped += insiders(std::min(per_cluster, each - sent));
    }
    std::printf("ok: %ld messages of strangers refused; of %ld under names of the cluster, %ld\n", half, half, dropped);
}
