// Notices that nodes propose and take down under random orders of messages: when a proposal is answered, the proposer
// sees what node 0 had decided; what stands was proposed; nothing takes the place of what stands; in the end all nodes
// have the same.
//
// board FIRST LAST: the seeds to run. A failure names its seed.
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

struct World : Chance {
    struct Node : Board::Port {
        World &world;
        NodeId self;
        Board board;
        std::map<std::string, Notice> standing; // what this node was told
        std::map<uint64_t, Notice> waiting; // proposals that were not answered, by id
        uint64_t last_id = 0, last_number = 0;

        Node(World &owner, NodeId id, NodeId nodes) : world(owner), self(id), board(id, nodes, *this) {}
        void propose(uint64_t id, const Notice &notice) override {
            world.post(self, 0, [=](Node &host) { host.board.receive_proposal(self, id, notice); });
        }
        void tell(NodeId to, const Notice &notice) override {
            world.post(self, to, [=](Node &node) { node.board.receive(notice); });
        }
        void answer(NodeId to, uint64_t id) override {
            world.post(self, to, [=](Node &node) { node.board.receive_answer(id); });
        }
        void adopted(const Notice &notice) override {
            if (notice.text.empty()) {
                REQUIRE(standing.count(notice.name) && standing[notice.name].number == notice.number);
                standing.erase(notice.name);
                return;
            }
            REQUIRE(!standing.count(notice.name));
            REQUIRE(notice.number > last_number);
            REQUIRE(world.proposed.count({notice.name, notice.text}));
            last_number = notice.number;
            standing[notice.name] = notice;
        }
        void answered(uint64_t id) override {
            REQUIRE(waiting.count(id));
            const Notice mine = waiting[id];
            waiting.erase(id);
            const bool stands = standing.count(mine.name);
            if (mine.text.empty())
                REQUIRE(!stands || standing[mine.name].number != mine.number);
            else
                REQUIRE(stands);
        }
    };

    std::vector<std::unique_ptr<Node>> nodes;
    Paths<std::function<void()>> paths;
    std::set<std::pair<std::string, std::string>> proposed;

    explicit World(uint64_t number) : Chance(number) {
        const NodeId count = NodeId(1 + number % 5);
        for (NodeId id = 0; id < count; id++) nodes.push_back(std::make_unique<Node>(*this, id, count));
    }

    void post(NodeId from, NodeId to, std::function<void(Node &)> letter) {
        REQUIRE(from != to);
        paths[{from, to}].push_back([=] { letter(*nodes[to]); });
    }

    bool deliver() {
        auto *path = draw_path(paths, *this);
        if (!path) return false;
        take_first(path)();
        return true;
    }

    void propose(Node &node) {
        Notice notice{0, names[draw(3)], ""};
        const Notice *standing = node.board.find(notice.name);
        if (draw(2) && standing) {
            notice.number = standing->number;
        } else {
            notice.text = std::to_string(draw(3));
            proposed.insert({notice.name, notice.text});
        }
        node.waiting[++node.last_id] = notice;
        node.board.propose(node.last_id, notice);
    }

    void run() {
        for (int step = 0; step < 100; step++)
            if (draw(3))
                deliver();
            else
                propose(*nodes[draw(nodes.size())]);
        while (deliver()) continue;
        for (auto &node : nodes) {
            REQUIRE(node->waiting.empty());
            REQUIRE(node->standing.size() == nodes[0]->standing.size());
            for (auto &[name, notice] : nodes[0]->standing) {
                REQUIRE(node->standing[name].text == notice.text && node->standing[name].number == notice.number);
                REQUIRE(node->board.find(name) && node->board.find(name)->number == notice.number);
            }
        }
    }
};

} // namespace

int main(int count, char **arguments) {
    Seeds(count, arguments).for_each([](uint64_t seed) { World(seed).run(); });
    std::puts("ok");
}
