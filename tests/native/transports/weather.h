// What an endpoint "memory://NAME?..." asks for happens, and to connections between nodes alone.
#pragma once

#include "ends.h"

namespace ps {

inline double seconds_to(Node &from, Node &to) {
    double before = monotonic_seconds();
    CHECK(from->send(to.number(), text("timed")));
    to.take();
    return monotonic_seconds() - before;
}

inline void messages_take_their_time() {
    Node near("memory://*", 0), far("memory://*?delay=0.1&jitter=0.05", 1);
    connect_all({&near, &far});
    CHECK(seconds_to(near, far) >= 0.1);
    double before = monotonic_seconds();
    CHECK(far->send(0, text("timed")) && shown(near.take().message) == "timed");
    auto worker = far.worker("W"); // inside, nothing takes time
    worker->send(1, text("inside"));
    CHECK(shown(far.take().message) == "inside" && monotonic_seconds() - before < 0.1);
    worker->send(0, text("outside"));
    before = monotonic_seconds();
    CHECK(near.take().from == "W" && near->reply("W", text("answer")));
    take(*worker);
    CHECK(monotonic_seconds() - before >= 0.1); // it is the far node's worker
}

inline void connections_break_when_they_are_to() {
    Node steady("memory://*", 0), shaken("memory://*?breaks=0.2,0.4&delay=5", 1);
    connect_all({&steady, &shaken});
    auto links = steady.links();
    links->connect(1, shaken->endpoint());
    CHECK(steady->send(1, text("lost on its way")));
    auto worker = shaken.worker("W");
    worker->send(1, text("inside"));
    Told told(*links);
    told.until([&] { return told.messages.connected == 3 && told.links.connected == 3; });
    CHECK(told.messages.broken == 2 && told.links.broken == 2);
    CHECK(shown(shaken.take().message) == "inside");
    CHECK(shaken->send(0, text("after")) && shown(steady.take().message) == "after");
    Received none;
    CHECK(!shaken->receive(&none) && worker->broken().empty());
}

// A node that is cut off answers nothing: its connections break when they have been silent for long, and it cannot be
// told from one whose host is gone.
inline void a_node_that_is_cut_off_falls_silent() {
    Node node("memory://*", 0, {0.1, 0.3}), lost("memory://*?cut=0.2", 1, {0.1, 0.3});
    connect_all({&node, &lost});
    auto links = node.links();
    links->connect(1, lost->endpoint());
    double bound = monotonic_seconds();
    Told told(*links);
    told.until([&] { return told.links.broken == 1 && told.messages.broken == 1; });
    CHECK(monotonic_seconds() - bound > 0.4);
    CHECK(node->send(1, text("into the void")) && lost->send(0, text("into the void")));
    links->probe(1, monotonic_seconds(), 0.2);
    CHECK(links->look(1, monotonic_seconds()) == Reach::unknown);
    CHECK(probe(*links, 1, 0.2) == Reach::open); // which it may be
    auto worker = lost.worker("W");
    worker->send(1, text("inside"));
    CHECK(shown(lost.take().message) == "inside");
    Received none;
    CHECK(!node->receive(&none) && !lost->receive(&none));
    told.look();
    CHECK(told.links.connected == 1 && told.messages.connected == 1);
}

inline void a_connection_with_too_many_messages_breaks() {
    Node node("memory://*", 0), slow("memory://*?backlog=3", 1);
    connect_all({&node, &slow});
    auto links = node.links();
    Told told(*links);
    for (const char *words : {"one", "two", "three"}) CHECK(node->send(1, text(words)));
    told.look();
    CHECK(told.messages.broken == 0);
    CHECK(node->send(1, text("four"))); // it is lost with the others
    told.look();
    CHECK(told.messages.broken == 1 && told.messages.connected == 2);
    CHECK(node->send(1, text("five")) && shown(slow.take().message) == "five");
}

inline void names_of_nodes_are_their_own() {
    Node node("memory://taken", 0);
    CHECK(node->endpoint() == "memory://taken");
    CHECK(is_refused(PS_ESYSTEM, [] { Node other("memory://taken?delay=1", 1); }));
    for (const char *endpoint : {"memory://", "memory://?delay=1", "memory://a?delay=", "memory://a?delay=-1",
                                 "memory://a?delay=x", "memory://a?rain=1", "memory://a?cut=nan"})
        CHECK(is_refused(PS_EINVAL, [&] { Node other(endpoint, 1); }));
}

inline void another_process_reaches_no_node() {
    WorkerEnd worker{{0, 2, "W", {}, int64_t(longest), {0.5, 2}}, [](NodeId) { return "memory://a"; }, ""};
    CHECK(is_refused(PS_EADDRESS, [&] { make_worker_transport(worker, "memory://a"); }));
}

// Each of another cluster, for the node that has keys.
inline void others_keys_are_refused() {
    std::atomic<uint64_t> refused{0};
    NodeEnd guarded{{0, 2, "N0", {"theirs", "secret"}, int64_t(longest), {0.5, 2}}, 16, &refused};
    auto node = make_node_transport(guarded, "memory://*");
    Node stranger("memory://*", 1);
    stranger->connect(0, node->endpoint());
    CHECK(stranger->send(0, text("knock")) && refused == 1);
    Received none;
    CHECK(!node->receive(&none));
}

inline void test_weather() {
    messages_take_their_time();
    connections_break_when_they_are_to();
    a_node_that_is_cut_off_falls_silent();
    a_connection_with_too_many_messages_breaks();
    names_of_nodes_are_their_own();
    another_process_reaches_no_node();
    others_keys_are_refused();
}

} // namespace ps
