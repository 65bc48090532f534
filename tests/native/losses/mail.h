// What a node sends, as letters of the world.
#pragma once

#include "checks.h"
#include "workers.h"
#include "world.h"

namespace ps::losses {

class Mail : public Post {
public:
    Mail(World &world, NodeId self) : world_(world), self_(self) {}

    void send(NodeId to, Key key, const Request &message, bool from_home) override {
        Desk &there = world_.nodes[to]->desk;
        post(
            to, Kind::plain,
            [=, &there](Protocol &at) {
                if (!there.turn_away(at, key, message)) at.receive(key, message, from_home);
            },
            key);
    }
    void send(NodeId to, Key key, const Want &message, bool from_home) override {
        trace("  %d -> %d: key %d, want %d", self_, to, int(key), int(message.number));
        post(
            to, Kind::plain, [=](Protocol &at) { at.receive_wants({key}, message.node, {message.number}, from_home); },
            key);
    }
    void send(NodeId to, Key key, const Delta &message, bool from_home) override {
        trace("  %d -> %d: key %d, delta %d of %d, last %d", self_, to, int(key), int(message.sequence),
              int(message.number), int(message.last));
        post(to, Kind::plain, [=](Protocol &at) { at.receive(key, message, from_home); }, key);
    }
    void send(NodeId to, Key key, const Refresh &message) override { single(to, key, message, "refresh"); }
    void send(NodeId to, Key key, const Ended &message) override { single(to, key, message, "ended"); }
    void send(NodeId to, Key key, const Recall &message) override { single(to, key, message, "recall"); }
    void send(NodeId to, Key key, const Gone &message) override { single(to, key, message, "gone"); }
    void send(NodeId to, Key key, const Backup &message) override {
        if (message.erases && world_.deletions_matter)
            world_.note_that_matters(world_.draw(2) ? self_ : world_.draw_member());
        single(to, key, message, "backup");
    }
    void send(NodeId to, Key key, const Backed &message) override { single(to, key, message, "backed"); }
    void send(NodeId to, const BackupRun &message) override {
        trace("  %d -> %d: backups of %d keys, the first is %d", self_, to, int(message.keys.size()),
              int(message.keys[0]));
        post(to, Kind::plain, [=](Protocol &at) { at.receive(message); });
    }
    void send(NodeId to, const BackedRun &message) override {
        post(to, Kind::plain, [=](Protocol &at) { at.receive(message); });
    }
    void send(NodeId to, Key key, const TakeOver &message) override {
        world_.met.taken_over++;
        world_.note_that_matters(to);
        single(to, key, message, "take over");
    }
    void send(NodeId to, const Offer &message) override {
        world_.met.spread += !world_.nodes[self_]->leaves;
        trace("  %d -> %d: offers %d keys, the first is %d", self_, to, int(message.keys.size()), int(message.keys[0]));
        post(to, Kind::plain, [=](Protocol &at) { at.receive(message); });
    }
    void tell(NodeId to, News news) override {
        NodeId self = self_;
        trace("  %d -> %d: news %d about %d", self_, to, int(news.what), news.about);
        if (news.what == News::What::secure) check_secure(world_, self);
        post(to, Kind::plain, [=](Protocol &at) { at.hear(self, news); });
    }
    void send(NodeId to, Key key, const Localize &message) override { in_run(to, key, message, "localize"); }
    void send(NodeId to, Key key, const Relocate &message) override { in_run(to, key, message, "relocate"); }
    void send(NodeId to, Key key, const Holds &message) override {
        post(to, Kind::crossing, [=](Protocol &at) { at.receive(key, message); }, key);
    }

    void send(NodeId to, Key key, const Transfer &message) override {
        trace("  %d -> %d: key %d", self_, to, int(key));
        auto in_time = [=](Protocol &at) { at.receive(key, message); };
        auto late = [=](Protocol &at) { at.receive_late(key, message); };
        bring_keys(to, {key}, in_time, late);
    }
    void send(NodeId to, Moves &&message) override {
        trace("  %d -> %d: %d keys, the first is %d", self_, to, int(message.keys.size()), int(message.keys[0]));
        auto in_time = [=](Protocol &at) { at.receive_moves(message.keys, message.values.data()); };
        auto late = [=](Protocol &at) {
            for (size_t i = 0; i < message.keys.size(); i++) {
                const char *value = message.values.data() + 8 * i;
                at.receive_late(message.keys[i], Transfer{0, {}, {}, Bytes(value, value + 8)});
            }
        };
        bring_keys(to, message.keys, in_time, late);
    }

    void answer(const Origin &origin, Key key, const Bytes &value, bool after_refresh) override {
        if (origin.worker < deleters) return desk().answer(origin, key, value, after_refresh);
        trace("  key %d is deleted: %d", int(key), value[0]);
        world_.deletions[origin.operation].is_done = true;
        if (value[0]) world_.gone[key] |= world_.deletions[origin.operation].before;
        if (world_.deletions_matter && world_.draw(2)) world_.is_one_to_join = true;
        world_.post_not_judged(self_, worker_end(world_.deletions[origin.operation].worker),
                               [this, origin, value] { note_deleted(world_, origin.operation, value[0]); });
    }
    void answer(const Origin &origin, const std::vector<uint32_t> &positions) override {
        for (uint32_t position : positions)
            desk().answer({origin.node, origin.worker, position, origin.operation}, 0, {}, false);
    }
    void refuse(const Origin &origin, Key, NodeId lost_with) override {
        if (origin.worker < deleters) return desk().refuse(origin, lost_with);
        world_.deletions[origin.operation].is_answered = true;
    }
    void landed(uint64_t waiter, Key) override { desk().land(waiter); }
    void gone(uint64_t waiter, Key, NodeId lost_with) override { desk().land(waiter, lost_with); }

    bool takes_refreshes(NodeId) const override { return true; }

private:
    Desk &desk() { return world_.nodes[self_]->desk; }

    void post(NodeId to, Kind kind, std::function<void(Protocol &)> deliver, Key about = about_several) {
        world_.post(self_, to, kind, std::move(deliver), about);
    }

    template <class Message>
    void single(NodeId to, Key key, const Message &message, const char *name) {
        trace("  %d -> %d: key %d, %s", self_, to, int(key), name);
        post(to, Kind::plain, [=](Protocol &at) { at.receive(key, message); }, key);
    }

    template <class Message>
    void in_run(NodeId to, Key key, const Message &message, const char *name) {
        trace("  %d -> %d: key %d, %s", self_, to, int(key), name);
        post(to, Kind::plain, [=](Protocol &at) { at.receive_run(std::vector<Key>{key}, message); }, key);
    }

    // What comes in a later epoch than it was sent in is late.
    template <class Deliver, class Late>
    void bring_keys(NodeId to, const std::vector<Key> &keys, const Deliver &in_time, const Late &late) {
        if (world_.nodes[to]->out && !world_.is_safe)
            for (Key key : keys) world_.may_be_lost[key] = true;
        uint32_t epoch = world_.nodes[self_]->crossing.epoch();
        const Crossing &there = world_.nodes[to]->crossing;
        post(
            to, Kind::brings_keys, [=, &there](Protocol &at) { there.epoch() == epoch ? in_time(at) : late(at); },
            keys.size() == 1 ? keys[0] : about_several);
    }

    World &world_;
    NodeId self_;
};

inline std::unique_ptr<Post> make_mail(World &world, NodeId self) { return std::make_unique<Mail>(world, self); }

} // namespace ps::losses
