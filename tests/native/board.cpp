// Notices that nodes propose and take down under random orders of messages, while nodes are lost and others join: when
// a proposal is answered, the proposer sees what the host had decided; what stands was proposed; nothing that a member
// has seen goes unless somebody takes it down, and nothing takes its place before; in the end all members have the
// same.
//
// board FIRST LAST: the seeds to run. A failure names its seed.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "paths.h"
#include "protocol/board.h"
#include "seeds.h"

using namespace ps;

namespace {

const char *const names[] = {"users", "items", "1/2"};
constexpr NodeId places = 12;

struct World : Chance {
    struct Node : Board::Port {
        World &world;
        NodeId self;
        Board board;
        bool is_alive = true;
        std::map<std::string, Notice> standing; // what this node was told
        std::map<uint64_t, Notice> waiting; // proposals that were not answered, by id
        uint64_t last_id = 0;

        Node(World &owner, NodeId id, const std::vector<NodeId> &first)
            : world(owner), self(id), board(id, first, *this) {}
        void propose(NodeId host, uint64_t id, const Notice &notice) override {
            post(host,
                 [=, from = self](Node &node, uint32_t term) { node.board.receive_proposal(from, term, id, notice); });
        }
        void tell(NodeId to, const Notice &notice) override {
            post(to, [=, from = self](Node &node, uint32_t term) { node.board.receive(from, term, notice); });
        }
        void answer(NodeId to, uint64_t id) override {
            post(to, [=, from = self](Node &node, uint32_t term) { node.board.receive_answer(from, term, id); });
        }
        void copy(NodeId to, const Notice &notice) override {
            post(to, [=, from = self](Node &node, uint32_t term) { node.board.receive_copy(from, term, notice); });
        }
        void tell_changes(NodeId to, uint64_t changes) override {
            post(to, [=, from = self](Node &node, uint32_t term) { node.board.receive_changes(from, term, changes); });
        }
        void ask(NodeId to) override {
            post(to, [=, from = self](Node &node, uint32_t term) { node.board.receive_ask(from, term); });
        }
        void post(NodeId to, std::function<void(Node &, uint32_t)> letter) {
            REQUIRE(to != self);
            world.paths[{self, to}].push_back([=, term = board.term()](Node &node) { letter(node, term); });
        }

        std::string completed(const Notice &proposed) const override {
            REQUIRE(board.decides());
            return proposed.text + "+";
        }
        void adopted(const Notice &notice) override {
            if (notice.text.empty()) {
                REQUIRE(standing.count(notice.name) && standing[notice.name].number == notice.number);
                REQUIRE(world.taken.count(notice.number));
                standing.erase(notice.name);
                return;
            }
            REQUIRE(!standing.count(notice.name));
            REQUIRE(world.proposed.count({notice.name, notice.text}));
            if (mine.count(notice.text)) REQUIRE(seen.insert(notice.text).second); // not made again
            standing[notice.name] = notice;
        }
        void answered(uint64_t id) override {
            REQUIRE(waiting.count(id));
            const Notice asked = waiting[id];
            waiting.erase(id);
            const bool stands = standing.count(asked.name);
            if (asked.text.empty())
                REQUIRE(!stands || standing[asked.name].number != asked.number);
            else
                REQUIRE(stands || is_taken_since(id));
        }
        // In a later term, after the notice was adopted and taken down.
        bool is_taken_since(uint64_t id) const { return board.term() > proposed_in.at(id); }
        std::map<uint64_t, uint32_t> proposed_in; // the term, by id
        std::set<std::string> mine, seen; // texts that this node proposed, and that were adopted
    };

    std::map<NodeId, std::unique_ptr<Node>> nodes;
    std::vector<std::vector<NodeId>> epochs; // the members of each
    std::set<NodeId> used; // numbers
    Paths<std::function<void(Node &)>> paths;
    std::set<std::pair<std::string, std::string>> proposed;
    std::set<uint64_t> taken; // numbers of notices that somebody wants to take down

    explicit World(uint64_t number) : Chance(number) {
        std::vector<NodeId> first;
        for (NodeId id = 0; id < places && first.size() < 1 + number % 5; id++)
            if (draw(4)) first.push_back(id);
        if (first.empty()) first.push_back(0);
        for (NodeId id : first) add(id, first);
        epochs.push_back(first);
    }

    void add(NodeId id, const std::vector<NodeId> &first) {
        nodes[id] = std::make_unique<Node>(*this, id, first);
        used.insert(id);
    }

    bool deliver() {
        auto *path = draw_path(paths, *this);
        if (!path) return false;
        const NodeId to = to_of(path);
        const auto letter = take_first(path);
        if (nodes[to]->is_alive) letter(*nodes[to]);
        return true;
    }
    NodeId to_of(const std::deque<std::function<void(Node &)>> *path) const {
        for (auto &[ends, letters] : paths)
            if (&letters == path) return NodeId(ends.second);
        throw std::logic_error("no such path");
    }

    void propose(Node &node) {
        Notice notice{0, names[draw(3)], ""};
        const Notice *standing = node.board.find(notice.name);
        if (draw(2) && standing) {
            notice.number = standing->number;
            taken.insert(notice.number);
        } else {
            notice.text = std::to_string(node.self) + "." + std::to_string(node.last_id);
            proposed.insert({notice.name, notice.text + "+"});
            node.mine.insert(notice.text + "+");
        }
        node.waiting[++node.last_id] = notice;
        node.proposed_in[node.last_id] = node.board.term();
        node.board.propose(node.last_id, notice);
    }

    // A new epoch: one member is lost, with some of what it has sent, or another node joins.
    void change_members() {
        std::vector<NodeId> members = epochs.back();
        const NodeId one = NodeId(draw(places));
        const auto found = std::find(members.begin(), members.end(), one);
        if (found != members.end()) {
            if (members.size() == 1) return;
            members.erase(found);
            nodes[one]->is_alive = false;
            for (auto &[ends, letters] : paths)
                if (ends.first == one) letters.resize(draw(letters.size() + 1));
        } else {
            if (used.count(one)) return;
            add(one, epochs.front());
            members.insert(std::upper_bound(members.begin(), members.end(), one), one);
        }
        epochs.push_back(members);
    }

    // A member hears of a later epoch, not always of the next one.
    void hear(Node &node, uint32_t term) {
        const std::vector<NodeId> &members = epochs[term];
        if (node.is_alive && term > node.board.term() && std::count(members.begin(), members.end(), node.self))
            node.board.begin(term, members);
    }
    Node &any() { return *nodes[epochs.back()[draw(epochs.back().size())]]; }

    void run() {
        for (int step = 0; step < 300; step++) switch (draw(8)) {
            case 0: change_members(); break;
            case 1:
            case 2: hear(any(), uint32_t(draw(epochs.size()))); break;
            case 3: propose(any()); break;
            default: deliver();
            }
        for (NodeId id : epochs.back()) hear(*nodes[id], uint32_t(epochs.size() - 1));
        while (deliver()) continue;
        const Node &lowest = *nodes[epochs.back().front()];
        for (NodeId id : epochs.back()) {
            Node &node = *nodes[id];
            REQUIRE(node.waiting.empty());
            REQUIRE(node.standing.size() == lowest.standing.size());
            for (auto &[name, notice] : lowest.standing) {
                REQUIRE(node.standing[name].text == notice.text && node.standing[name].number == notice.number);
                REQUIRE(node.board.find(name) && node.board.find(name)->number == notice.number);
            }
        }
    }
};

} // namespace

int main(int count, char **arguments) {
    Seeds(count, arguments).for_each([](uint64_t seed) { World(seed).run(); });
    std::puts("ok");
}
