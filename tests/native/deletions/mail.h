// What a node sends, as letters of the world.
#pragma once

#include "world.h"

namespace ps::deletions {

class Mail : public Post {
public:
    Mail(World &world, NodeId self) : world_(world), self_(self) {}

    void send(NodeId to, Key key, const Request &message, bool from_home) override {
        World &world = world_;
        post(to, key, "request", [=, &world](Protocol &at) {
            if (!world.turns_away(*world.nodes[to], key, message)) at.receive(key, message, from_home);
        });
    }
    void send(NodeId to, Key key, const Want &message, bool from_home) override {
        post(to, key, "want",
             [=](Protocol &at) { at.receive_wants({key}, message.node, {message.number}, from_home); });
    }
    void send(NodeId to, Key key, const Delta &message, bool from_home) override {
        post(to, key, message.last ? "last delta" : "delta",
             [=](Protocol &at) { at.receive(key, message, from_home); });
    }
    void send(NodeId to, Key key, const Refresh &message) override {
        post(to, key, "refresh", [=](Protocol &at) { at.receive(key, message); });
    }
    void send(NodeId to, Key key, const Ended &message) override {
        post(to, key, "ended", [=](Protocol &at) { at.receive(key, message); });
    }
    void send(NodeId to, Key key, const Recall &message) override {
        post(to, key, "recall", [=](Protocol &at) { at.receive(key, message); });
    }
    void send(NodeId to, Key key, const Localize &message) override {
        post(to, key, "localize", [=](Protocol &at) { at.receive_run(std::vector<Key>{key}, message); });
    }
    void send(NodeId to, Key key, const Relocate &message) override {
        post(to, key, "relocate", [=](Protocol &at) { at.receive_run(std::vector<Key>{key}, message); });
    }
    void send(NodeId to, Key key, const Transfer &message) override {
        World &world = world_;
        world.in_transfer[key]++;
        post(to, key, "transfer", [=, &world](Protocol &at) {
            world.in_transfer[key]--;
            at.receive(key, message);
        });
    }
    void send(NodeId to, Moves &&message) override {
        World &world = world_;
        for (Key key : message.keys) world.in_transfer[key]++;
        auto moves = std::make_shared<Moves>(std::move(message));
        post(to, moves->keys[0], "moves", [=, &world](Protocol &at) {
            for (Key key : moves->keys) world.in_transfer[key]--;
            at.receive_moves(moves->keys, moves->values.data());
        });
    }
    void send(NodeId, Key, const Holds &) override { REQUIRE(!"nobody was lost"); }
    void send(NodeId to, Key key, const Gone &message) override {
        REQUIRE(message.with == not_admitted);
        post(to, key, "it has no row", [=](Protocol &at) { at.receive(key, message); });
    }
    void send(NodeId to, Key key, const Backup &message) override {
        post(to, key, message.erases ? "the end of a backup" : "backup",
             [=](Protocol &at) { at.receive(key, message); });
    }
    void send(NodeId to, Key key, const Backed &message) override {
        post(to, key, "backed", [=](Protocol &at) { at.receive(key, message); });
    }
    void send(NodeId to, const BackupRun &message) override {
        post(to, message.keys[0], "backup of a run", [=](Protocol &at) { at.receive(message); });
    }
    void send(NodeId to, const BackedRun &message) override {
        post(to, 0, "backed run", [=](Protocol &at) { at.receive(message); });
    }
    void send(NodeId, Key, const TakeOver &) override { REQUIRE(!"nobody was lost"); }
    void send(NodeId, const Offer &) override { REQUIRE(!"nobody leaves"); }
    void tell(NodeId, News) override { REQUIRE(!"nobody was lost"); }

    // An answer that must come after a refresh goes the same way as that, and from there to the worker.
    void answer(const Origin &origin, Key, const Bytes &value, bool after_refresh) override {
        World &world = world_;
        const int through = after_refresh && origin.node != self_ ? origin.node : self_;
        auto give = [=, &world] {
            world.post(through, worker_end(origin.worker), [=, &world] { world.answer(origin.operation, value); });
        };
        if (through == self_) return give();
        world.post(self_, through, [=, &world] {
            Node &node = *world.nodes[size_t(through)];
            node.protocol.parked().holds_up(self_) ? node.behind.push_back(give) : give();
        });
    }
    void answer(const Origin &origin, const std::vector<uint32_t> &positions) override {
        REQUIRE(positions.size() == 1);
        answer(origin, 0, {}, false);
    }
    bool takes_refreshes(NodeId) const override { return world_.is_settling || world_.draw(3); }
    void landed(uint64_t, Key) override {}
    void refuse(const Origin &, Key, NodeId) override { REQUIRE(!"nobody was lost"); }
    void gone(uint64_t, Key, NodeId) override { REQUIRE(!"nobody was lost"); }

private:
    void post(NodeId to, Key key, const char *what, std::function<void(Protocol &)> deliver) {
        REQUIRE(to != self_);
        trace("  %d -> %d: key %d, %s", self_, to, int(key), what);
        Protocol &protocol = world_.nodes[to]->protocol;
        world_.post(self_, to, [=, &protocol] { deliver(protocol); });
    }

    World &world_;
    NodeId self_;
};

inline std::unique_ptr<Post> make_mail(World &world, NodeId self) { return std::make_unique<Mail>(world, self); }

} // namespace ps::deletions
