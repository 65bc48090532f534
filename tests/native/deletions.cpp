// Keys that are deleted, or let go by nodes that need room, while workers of all nodes push to them, pull them, move
// them and have replicas of them, in any order of messages and with workers that stop. What was acknowledged before a
// deletion began is not read after it has ended; nothing else gets lost; when all keys were deleted and are not used
// any more, no row is left, and no backup.
//
// deletions FIRST LAST: the seeds to run. A failure names its seed; a third word makes it show the steps.
#include <cstdio>

#include "deletions/mail.h"
#include "deletions/world.h"

using namespace ps;
using namespace ps::deletions;

namespace {

class Simulation {
public:
    explicit Simulation(uint64_t seed) : world_(seed) {}

    void run() {
        for (int phase = 0; phase < 3; phase++) {
            for (int actions = 150; actions > 0;) actions -= step();
            settle();
            for (Key key = 0; key < world_.num_keys; key++) check_settled(key);
            stop_intending();
            settle();
            delete_all();
            if (world_.counts_uses) check_keys_without_rows();
        }
    }

private:
    bool step() {
        const uint64_t what = world_.draw(11);
        if (what == 10) {
            let_go();
        } else if (what < 3) {
            act(world_.draw(world_.workers.size()));
        } else if (what == 3) {
            world_.nodes[world_.draw(world_.num_nodes)]->protocol.exchange();
        } else if (what == 4) {
            Node &node = *world_.nodes[world_.draw(world_.num_nodes)];
            const Key key = world_.draw(world_.num_keys);
            if (world_.draw(3))
                world_.retry(node);
            else
                node.values.at[key] = !node.values.at[key];
        } else {
            world_.deliver();
        }
        check_places();
        return what < 3;
    }

    void act(uint64_t number) {
        const Key key = world_.draw(world_.num_keys);
        Worker &worker = world_.workers[number];
        Protocol &protocol = world_.nodes[worker.node]->protocol;
        const uint64_t what = world_.draw(20);
        if (what < 2) {
            trace("%d localizes key %d", worker.node, int(key));
            localize(protocol, key);
        } else if (what < 6) {
            intend(number, key, !worker.intends[key]);
        } else if (worker.is_busy) {
            world_.deliver();
        } else if (what < 11) {
            push(number, key);
        } else if (what < 16) {
            pull(number, key);
        } else if (what < 18) {
            ask_for(number, key);
        } else {
            remove(number, key);
        }
    }

    void localize(Protocol &protocol, Key key) {
        if (!protocol.awaits_admission(key)) protocol.localize({key}, 0);
    }

    // Any node may need room for other keys at any time.
    void let_go() {
        Node &node = *world_.nodes[world_.draw(world_.num_nodes)];
        const Key key = world_.draw(world_.num_keys);
        const bool is_needed = node.wants[key] || node.values.at[key];
        if (!node.protocol.let_go(key)) return;
        trace("a node lets key %d go", int(key));
        REQUIRE(!is_needed);
        world_.account.let_go(key);
    }

    void intend(uint64_t number, Key key, bool begin) {
        Worker &worker = world_.workers[number];
        if (worker.intends[key] == begin) return;
        Node &node = *world_.nodes[worker.node];
        worker.intends[key] = begin;
        trace("worker %d of %d %s key %d", int(number), worker.node, begin ? "intends" : "does not intend", int(key));
        node.intents[key] += begin ? 1 : -1;
        if (begin && node.intents[key] == 1 && !node.protocol.awaits_admission(key)) {
            node.wants[key] = true;
            node.protocol.want({key});
        } else if (!begin && node.intents[key] == 0) {
            node.wants[key] = false;
            node.protocol.stop_wanting({key});
        }
    }

    // Any node may be taken for the one where the key is, but what this node has is done or asked here.
    NodeId server_of(uint64_t number, Key key) {
        const NodeId self = world_.workers[number].node;
        if (world_.nodes[self]->values.standing(key) != Standing::absent) return self;
        return world_.draw(2) ? world_.home(key) : NodeId(world_.draw(world_.num_nodes));
    }

    bool does_it_here(uint64_t number, Operation operation, Key key) {
        NumberStore &values = world_.nodes[world_.workers[number].node]->values;
        if (world_.backups > 0 && is_write(operation)) return false;
        return values.has_row(key) && is_here(values, operation, key);
    }

    void push(uint64_t number, Key key) {
        NumberStore &values = world_.nodes[world_.workers[number].node]->values;
        Account &account = world_.account;
        if (values.at[key] || !account.can_push(key)) return;
        const size_t push = account.begin_push(key, number);
        if (does_it_here(number, Operation::push, key)) {
            trace("worker %d pushes %d to key %d", int(number), int(push), int(key));
            do_here(values, Operation::push, key, Account::bit(push));
            account.end_push(key, push);
            return;
        }
        world_.ask(number, server_of(number, key), Operation::push, key, bytes_of(Account::bit(push)),
                   [=, &account](const Bytes &) { account.end_push(key, push); });
    }

    void pull(uint64_t number, Key key) {
        NumberStore &values = world_.nodes[world_.workers[number].node]->values;
        Account &account = world_.account;
        if (values.at[key]) return;
        const uint64_t begin = account.now();
        if (does_it_here(number, Operation::pull, key)) {
            account.check_read(key, number, begin, do_here(values, Operation::pull, key, 0));
            return;
        }
        world_.ask(number, server_of(number, key), Operation::pull, key, {}, [=, &account](const Bytes &value) {
            trace("worker %d has pulled %ld of key %d", int(number), long(number_of(value)), int(key));
            account.check_read(key, number, begin, number_of(value));
        });
    }

    // Sent to the home, or to another node that sends it there.
    NodeId keeper_of(Key key) { return world_.draw(4) ? world_.home(key) : NodeId(world_.draw(world_.num_nodes)); }

    void ask_for(uint64_t number, Key key) {
        Account &account = world_.account;
        const uint64_t begin = account.now();
        world_.ask(number, keeper_of(key), Operation::contains, key, {}, [=, &account](const Bytes &found) {
            REQUIRE(found.size() == 1);
            if (!found[0]) account.check_absence(key, begin);
        });
    }

    void remove(uint64_t number, Key key) {
        Account &account = world_.account;
        const size_t deletion = account.begin_deletion(key, number);
        world_.ask(number, keeper_of(key), Operation::erase, key, {}, [=, &account](const Bytes &went) {
            trace("worker %d has deleted key %d", int(number), int(key));
            REQUIRE(went.size() == 1);
            account.end_deletion(key, deletion);
        });
    }

    void check_places() {
        for (Key key = 0; key < world_.num_keys; key++) {
            int places = world_.in_transfer[key];
            for (auto &node : world_.nodes) places += owns(node->values, key) + node->protocol.parked().brings(key);
            REQUIRE(places == 1);
        }
    }

    void settle() {
        world_.is_settling = true;
        for (auto &node : world_.nodes) node->values.at.assign(world_.num_keys, false);
        for (int round = 0;; round++) {
            REQUIRE(round < 200);
            bool is_quiet = true;
            for (auto &node : world_.nodes) {
                world_.retry(*node);
                node->protocol.exchange();
            }
            while (world_.deliver()) check_places();
            for (auto &node : world_.nodes) is_quiet &= node->protocol.is_quiet();
            if (round > 5 && is_quiet && are_empty(world_.paths)) break;
        }
        for (const Worker &worker : world_.workers) REQUIRE(!worker.is_busy);
        world_.is_settling = false;
    }

    void stop_intending() {
        for (uint64_t number = 0; number < world_.workers.size(); number++)
            for (Key key = 0; key < world_.num_keys; key++) intend(number, key, false);
    }

    // Looking makes no rows.
    int64_t number_of_key(NumberStore &values, Key key) { return values.has_row(key) ? number_at(values, key) : 0; }

    void check_settled(Key key) {
        Node *owner = world_.owner(key);
        REQUIRE(owner);
        const int64_t number = number_of_key(owner->values, key);
        world_.account.check_final(key, number);
        for (NodeId keeper : owner->protocol.keepers().of(key)) {
            const Copy *copy = world_.nodes[keeper]->protocol.copies().find(key);
            REQUIRE((copy ? number_at(*copy) : 0) == number);
        }
        for (auto &node : world_.nodes) {
            const Standing standing = node->values.standing(key);
            REQUIRE(standing != Standing::awaited);
            if (standing == Standing::replica) REQUIRE(number_at(node->values, key) == number);
        }
    }

    // Asks one worker after another, with nothing else on its way.
    char ask(Operation operation, Key key) {
        char answer = 2;
        world_.ask(world_.draw(world_.workers.size()), keeper_of(key), operation, key, {},
                   [&](const Bytes &found) { answer = found.at(0); });
        settle();
        return answer;
    }

    void delete_all() {
        for (Key key = 0; key < world_.num_keys; key++) {
            const char existed = ask(Operation::contains, key);
            REQUIRE(ask(Operation::erase, key) == existed && ask(Operation::erase, key) == 0);
            REQUIRE(ask(Operation::contains, key) == 0);
        }
        for (Key key = 0; key < world_.num_keys; key++) {
            Node &home = *world_.nodes[world_.home(key)];
            REQUIRE(world_.owner(key) == &home && !home.values.has_row(key));
            for (auto &node : world_.nodes) REQUIRE(!node->protocol.copies().find(key));
        }
        for (auto &node : world_.nodes) REQUIRE(node->protocol.remembers_nothing());
        world_.account.start_anew();
    }

    // No key exists; localizing them and intents for them make none.
    void check_keys_without_rows() {
        for (Key key = 0; key < world_.num_keys; key++) {
            for (uint64_t number = 0; number < world_.workers.size(); number++) {
                localize(world_.nodes[world_.workers[number].node]->protocol, key);
                if (world_.draw(2)) intend(number, key, true);
            }
        }
        settle();
        for (Key key = 0; key < world_.num_keys; key++) {
            REQUIRE(ask(Operation::contains, key) == 0);
            for (auto &node : world_.nodes) REQUIRE(node->values.standing(key) != Standing::replica);
        }
        stop_intending();
        settle();
        for (auto &node : world_.nodes) REQUIRE(node->protocol.remembers_nothing());
    }

    World world_;
};

} // namespace

int main(int count, char **arguments) {
    const Seeds seeds(count, arguments);
    tracing = count > 3;
    seeds.for_each([](uint64_t seed) { Simulation(seed).run(); });
    std::printf("ok\n");
}
