// What net/transport.h promises, of every transport: order, names, sending to nobody and to an end that is not there
// yet, bounds, breaks, waiting, threads. And what memory:// endpoints can be asked to do to messages.
//
// transports ZMQ_LIBRARY MESSAGES
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <thread>

#include "nodes.h"
#include "transports/ends.h"
#include "transports/weather.h"

using namespace ps;

namespace {

// Of lengths that transports may treat differently.
constexpr size_t lengths[] = {1, 33, 34, 200, 2047, 2048, 100000};

// Senders from 4 on are inside of the receiver's process: there ZeroMQ hands over long messages from thread to thread,
// which ThreadSanitizer cannot see, and copies short ones.
Bytes numbered(uint32_t sender, uint32_t number) {
    size_t choice = sender < 4 ? std::size(lengths) : 4;
    Bytes bytes(2 * sizeof number + lengths[number % choice], char(number));
    std::memcpy(bytes.data(), &sender, sizeof sender);
    std::memcpy(bytes.data() + sizeof sender, &number, sizeof number);
    return bytes;
}

// Checks that the messages of each sender are whole and come in order.
class Order {
public:
    void take(const Message &message) {
        uint32_t sender, number;
        CHECK(message.size() >= 2 * sizeof sender);
        std::memcpy(&sender, message.data(), sizeof sender);
        std::memcpy(&number, message.data() + sizeof sender, sizeof number);
        CHECK(sender < std::size(next_) && number == next_[sender]++);
        Bytes expected = numbered(sender, number);
        CHECK(message.size() == expected.size() && !std::memcmp(message.data(), expected.data(), expected.size()));
        count_++;
    }
    uint32_t count() const { return count_; }

private:
    uint32_t next_[8] = {}, count_ = 0;
};

void everything_arrives_in_order_both_ways(const std::string &endpoint, uint32_t messages) {
    Node first(endpoint, 0), second(endpoint, 1);
    connect_all({&first, &second});
    auto worker = first.worker("W");
    std::thread answering([&] { // each message that it gets it sends back, to the worker by its name
        Order order;
        for (uint32_t count = 0; count < 2 * messages; count++) {
            Received received = second.take();
            order.take(received.message);
            if (received.from == "W") CHECK(second->reply("W", std::move(received.message)));
        }
    });
    Order answers;
    std::thread working([&] {
        for (uint32_t number = 0; number < messages; number++) {
            Bytes bytes = numbered(1, number);
            Message message = worker->message(bytes.size());
            std::memcpy(message.data(), bytes.data(), bytes.size());
            worker->send(1, std::move(message));
            for (Message answer; worker->receive(&answer);) answers.take(answer);
        }
        while (answers.count() < messages) answers.take(take(*worker));
    });
    for (uint32_t number = 0; number < messages; number++) CHECK(first->send(1, numbered(0, number)));
    working.join();
    answering.join();
}

void a_worker_of_its_process_reaches_a_node(const std::string &endpoint) {
    Node node(endpoint, 0);
    auto worker = node.worker("W");
    worker->send(0, text("question"));
    Received received = node.take();
    CHECK(received.from == "W" && shown(received.message) == "question" && !received.fault);
    CHECK(node->reply("W", text("answer")) && shown(take(*worker)) == "answer");
    worker.reset();
    until([&] { return !node->reply("W", text("more")); }, [&] { node->wait(-1, 0.01); });
}

void what_nobody_takes_is_whole(const std::string &endpoint) {
    Node node(endpoint, 0);
    Message message = text("whole");
    CHECK(!node->reply("stranger", std::move(message)) && shown(message) == "whole");
    CHECK(!node->send(1, std::move(message)) && shown(message) == "whole");
    Received received;
    CHECK(!node->receive(&received));
}

void what_is_sent_before_the_other_end_is_there_arrives(const std::string &endpoint) {
    Node node(endpoint, 0);
    std::string later = free_endpoint(endpoint);
    node->connect(1, later);
    CHECK(node->send(1, text("early")));
    Node other(later, 1);
    Received received = other.take();
    CHECK(received.from == "N0" && shown(received.message) == "early");
}

void a_name_belongs_to_the_end_that_took_it_last(const std::string &endpoint) {
    Node node(endpoint, 0), one(endpoint, 1), other(endpoint, 2);
    auto first = one.worker("same", {&node}), second = other.worker("same", {&node});
    first->send(0, text("first"));
    CHECK(shown(node.take().message) == "first");
    second->send(0, text("second"));
    CHECK(shown(node.take().message) == "second");
    CHECK(node->reply("same", text("for the second")) && shown(take(*second)) == "for the second");
    first->send(0, text("unheard"));
    second->send(0, text("heard"));
    CHECK(shown(node.take().message) == "heard");
    Message none;
    CHECK(!first->receive(&none));
}

void breaks_are_told_to_the_end_that_connected(const std::string &endpoint) {
    Node node(endpoint, 0);
    auto other = std::make_unique<Node>(endpoint, 1);
    std::string there = (*other)->endpoint();
    auto worker = node.worker("W", {&node, other.get()});
    node->connect(1, there);
    auto links = node.links();
    links->connect(1, there);
    worker->send(1, text("hello"));
    other->take();
    Told told(*links);
    told.until([&] { return told.links.connected == 1 && told.messages.connected == 1; });
    CHECK(worker->broken().empty() && told.links.broken + told.messages.broken == 0);
    CHECK(probe(*links, 1) == Reach::open);
    other.reset();
    told.until([&] { return told.links.broken == 1 && told.messages.broken == 1; });
    std::vector<NodeId> broken;
    until([&] { return !(broken = worker->broken()).empty(); }, [&] { worker->wait(0.01); });
    CHECK(broken == std::vector<NodeId>{1});
    CHECK(probe(*links, 1) == Reach::refused);
    other = std::make_unique<Node>(there, 1);
    told.until([&] { return told.links.connected == 2 && told.messages.connected == 2; });
    CHECK(node->send(1, text("again")) && shown(other->take().message) == "again");
    CHECK(links->send(1, text("link")));
    Received received = other->take();
    CHECK(received.from == "V0" && shown(received.message) == "link");
    CHECK((*other)->reply("V0", text("back")));
    Message back;
    until([&] { return links->receive(&back); }, [&] { links->wait(-1, 0.1); });
    CHECK(shown(back) == "back");
}

void a_message_beyond_the_receivers_bound_breaks_the_connection(const std::string &endpoint) {
    Node node(endpoint, 0), other(endpoint, 1);
    connect_all({&node, &other});
    auto links = node.links();
    Told told(*links);
    CHECK(node->send(1, Bytes(longest, 'x')) && other.take().message.size() == longest);
    told.until([&] { return told.messages.connected == 1; });
    CHECK(node->send(1, Bytes(longest + 1, 'x')));
    told.until([&] { return told.messages.broken == 1 && told.messages.connected == 2; });
    CHECK(node->send(1, text("after")) && shown(other.take().message) == "after");
}

// Of this thread alone.
double processor_seconds() {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

void waiting_sleeps_until_something_comes(const std::string &endpoint) {
    Node node(endpoint, 0), other(endpoint, 1);
    connect_all({&node, &other});
    CHECK(other->send(0, text("first")));
    node.take();
    double before = monotonic_seconds(), used = processor_seconds();
    Received none;
    do CHECK(!node->receive(&none));
    while (node->wait(-1, 0.3).news);
    CHECK(monotonic_seconds() - before >= 0.3 && processor_seconds() - used < 0.1);

    int bell = eventfd(0, EFD_NONBLOCK);
    std::thread ringing([&] {
        usleep(50000);
        eventfd_write(bell, 1);
    });
    NodeTransport::Woken woken{};
    until([&] { return woken.rang; }, [&] { woken = node->wait(bell, 20); });
    CHECK(woken.news);
    ringing.join();
    CHECK(node->wait(bell, 20).rang); // not answered
    close(bell);

    before = monotonic_seconds();
    std::thread sending([&] {
        usleep(50000);
        CHECK(other->send(0, text("second")));
    });
    CHECK(shown(node.take().message) == "second" && monotonic_seconds() - before < 10);
    sending.join();
    auto worker = node.worker("W");
    used = processor_seconds();
    Message nothing;
    do CHECK(!worker->receive(&nothing));
    while (worker->wait(0.2));
    CHECK(processor_seconds() - used < 0.1);
}

void many_ends_speak_at_once(const std::string &endpoint, uint32_t messages) {
    constexpr uint32_t count = 4;
    Node node(endpoint, 0), other(endpoint, 1);
    std::vector<std::thread> threads;
    for (uint32_t number = 0; number < count; number++)
        threads.emplace_back([&, number] { // workers that come and go
            bool is_inside = number % 2;
            for (uint32_t at = 0; at < messages; at += 100) {
                std::string name = "W" + std::to_string(number) + "-" + std::to_string(at);
                auto worker = (is_inside ? node : other).worker(name, {&node, &other});
                for (uint32_t i = at; i < at + 100; i++) worker->send(0, numbered(is_inside ? 4 + number : number, i));
                for (uint32_t i = 0; i < 100; i++) take(*worker);
            }
        });
    Order order;
    for (uint32_t i = 0; i < count * messages; i++) {
        Received received = node.take();
        order.take(received.message);
        CHECK(node->reply(received.from, std::move(received.message)));
    }
    for (std::thread &thread : threads) thread.join();
}

void only_known_schemes_are_endpoints_and_both_ends_have_one() {
    for (const char *endpoint : {"udp://127.0.0.1:1", "tcp:127.0.0.1:1", "memory", ""})
        CHECK(is_refused(PS_EINVAL, [&] { Node node(endpoint, 0); }));
    CHECK(is_refused(PS_EINVAL, [] { require_same_transport("memory://a", "tcp://127.0.0.1:1"); }));
    require_same_transport("tcp://127.0.0.1:1", "ipc:///tmp/a");
}

} // namespace

int main(int count, char **arguments) {
    CHECK(count == 3 && ps_load_zmq(arguments[1]) == PS_OK);
    auto messages = uint32_t(std::atoi(arguments[2]));
    for (const std::string endpoint : {"tcp://127.0.0.1:*", "memory://*", "memory://*?delay=0.002&jitter=0.003"}) {
        everything_arrives_in_order_both_ways(endpoint, messages);
        a_worker_of_its_process_reaches_a_node(endpoint);
        what_nobody_takes_is_whole(endpoint);
        what_is_sent_before_the_other_end_is_there_arrives(endpoint);
        a_name_belongs_to_the_end_that_took_it_last(endpoint);
        breaks_are_told_to_the_end_that_connected(endpoint);
        a_message_beyond_the_receivers_bound_breaks_the_connection(endpoint);
        waiting_sleeps_until_something_comes(endpoint);
        many_ends_speak_at_once(endpoint, messages);
    }
    only_known_schemes_are_endpoints_and_both_ends_have_one();
    test_weather();
    std::puts("ok");
}
