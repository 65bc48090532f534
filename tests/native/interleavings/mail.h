// What a node sends, as letters of the world.
#pragma once

#include "workers.h"
#include "world.h"

namespace ps::interleavings {

class Mail : public Post {
public:
    Mail(World &world, NodeId self) : world_(world), self_(self) {}

    void send(NodeId to, Key key, const Request &message, bool from_home) override {
        to_owner(to, key, message, from_home);
    }
    void send(NodeId to, Key key, const Delta &message, bool from_home) override {
        to_owner(to, key, message, from_home);
    }
    void send(NodeId to, Key key, const Refresh &message) override { plain(to, key, message, "refresh"); }
    void send(NodeId to, Key key, const Ended &message) override { plain(to, key, message, "ended"); }
    void send(NodeId to, Key key, const Recall &message) override { plain(to, key, message, "recall"); }

    void send(NodeId to, Key key, const Localize &message) override {
        in_run(to, key, 0, {0, message.to, false},
               [=](Protocol &protocol, const Run &run) { protocol.receive_run(run.keys, message); });
    }
    void send(NodeId to, Key key, const Relocate &message) override {
        in_run(to, key, 0, {1, message.to, false},
               [=](Protocol &protocol, const Run &run) { protocol.receive_run(run.keys, message); });
    }
    void send(NodeId to, Key key, const Want &message, bool from_home) override {
        in_run(to, key, message.number, {2, message.node, from_home}, [=](Protocol &protocol, const Run &run) {
            protocol.receive_wants(run.keys, message.node,
                                   std::vector<uint32_t>(run.numbers.begin(), run.numbers.end()), from_home);
        });
    }

    void send(NodeId to, Key key, const Transfer &message) override {
        REQUIRE(to != self_);
        trace("  %d -> %d: key %d, transfer", self_, to, int(key));
        World &world = world_;
        world.in_transfer[key]++;
        world.transferred[key] = number_of(message.value);
        world.post(
            self_, to,
            [=, &world] {
                world.in_transfer[key]--;
                world.nodes[to]->protocol.receive(key, message);
            },
            nullptr, key);
    }

    void send(NodeId to, Moves &&message) override {
        REQUIRE(to != self_ && !message.keys.empty() && message.values.size() == 8 * message.keys.size());
        trace("  %d -> %d: %d keys move, the first is %d", self_, to, int(message.keys.size()), int(message.keys[0]));
        World &world = world_;
        for (size_t i = 0; i < message.keys.size(); i++) {
            world.in_transfer[message.keys[i]]++;
            const char *value = &message.values[8 * i];
            world.transferred[message.keys[i]] = number_of(Bytes(value, value + 8));
        }
        auto moves = std::make_shared<Moves>(std::move(message));
        world.post(self_, to, [=, &world] {
            for (Key key : moves->keys) world.in_transfer[key]--;
            world.nodes[to]->protocol.receive_moves(moves->keys, moves->values.data());
        });
    }

    void answer(const Origin &origin, Key key, const Bytes &value, bool after_refresh) override {
        trace("  %d answers worker %d%s", self_, int(origin.worker), after_refresh ? " through its node" : "");
        world_.nodes[self_]->desk.answer(origin, key, value, after_refresh);
    }

    // At times a node is slow.
    bool takes_refreshes(NodeId) const override { return world_.is_settling || world_.draw(3); }

    void landed(uint64_t waiter, Key) override { world_.nodes[self_]->desk.land(waiter); }

    void send(NodeId, Key, const Holds &) override { REQUIRE(!"nobody was lost"); }
    void send(NodeId, Key, const Gone &) override { REQUIRE(!"nobody was lost"); }
    void send(NodeId, Key, const Backup &) override { REQUIRE(!"there are no backups"); }
    void send(NodeId, Key, const Backed &) override { REQUIRE(!"there are no backups"); }
    void send(NodeId, const BackupRun &) override { REQUIRE(!"there are no backups"); }
    void send(NodeId, const BackedRun &) override { REQUIRE(!"there are no backups"); }
    void answer(const Origin &, const std::vector<uint32_t> &) override { REQUIRE(!"there are no backups"); }
    void send(NodeId, Key, const TakeOver &) override { REQUIRE(!"there are no backups"); }
    void send(NodeId, const Offer &) override { REQUIRE(!"nobody leaves"); }
    void tell(NodeId, News) override { REQUIRE(!"there are no backups"); }
    void refuse(const Origin &, Key, NodeId) override { REQUIRE(!"nobody was lost"); }
    void gone(uint64_t, Key, NodeId) override { REQUIRE(!"nobody was lost"); }

private:
    template <class Message>
    void to_owner(NodeId to, Key key, const Message &message, bool from_home) {
        REQUIRE(to != self_);
        trace("  %d -> %d: key %d, request, want or delta%s", self_, to, int(key), from_home ? ", from home" : "");
        World &world = world_;
        world.post(
            self_, to, [=, &world] { world.nodes[to]->protocol.receive(key, message, from_home); }, nullptr, key);
    }

    template <class Message>
    void plain(NodeId to, Key key, const Message &message, const char *name) {
        REQUIRE(to != self_);
        trace("  %d -> %d: key %d, %s", self_, to, int(key), name);
        World &world = world_;
        world.post(self_, to, [=, &world] { world.nodes[to]->protocol.receive(key, message); }, nullptr, key);
    }

    // What follows each other on a path and is alike may be one message.
    template <class Deliver>
    void in_run(NodeId to, Key key, uint64_t number, const std::tuple<int, int, bool> &alike, Deliver &&deliver) {
        REQUIRE(to != self_);
        trace("  %d -> %d: key %d, message %d in a run", self_, to, int(key), std::get<0>(alike));
        std::deque<Letter> &path = world_.paths[{self_, to}];
        std::shared_ptr<Run> run = path.empty() ? nullptr : path.back().run;
        if (!run || run->alike != alike || world_.draw(4) == 0) {
            run = std::make_shared<Run>();
            run->alike = alike;
            Protocol &protocol = world_.nodes[to]->protocol;
            world_.post(self_, to, [=, &protocol] { deliver(protocol, *run); }, run, key);
        } else {
            path.back().about = about_several;
        }
        run->keys.push_back(key);
        run->numbers.push_back(number);
    }

    World &world_;
    NodeId self_;
};

inline std::unique_ptr<Post> make_mail(World &world, NodeId self) { return std::make_unique<Mail>(world, self); }

} // namespace ps::interleavings
