// A replica that lives long: its deltas are counted beyond what 32 bits hold.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "protocol/protocol.h"
#include "stores.h"

using namespace ps;

namespace {

// Keeps what is told to replicas; beside that the home is only asked for the key.
class Refreshes : public Post {
public:
    std::vector<Refresh> sent;

    void send(NodeId, Key, const Refresh &message) override { sent.push_back(message); }
    bool takes_refreshes(NodeId) const override { return true; }

    void send(NodeId, Key, const Request &, bool) override { REQUIRE(false); }
    void send(NodeId, Key, const Want &, bool) override { REQUIRE(false); }
    void send(NodeId, Key, const Delta &, bool) override { REQUIRE(false); }
    void send(NodeId, Key, const Ended &) override { REQUIRE(false); }
    void send(NodeId, Key, const Recall &) override { REQUIRE(false); }
    void send(NodeId, Key, const Localize &) override {}
    void send(NodeId, Key, const Relocate &) override { REQUIRE(false); }
    void send(NodeId, Key, const Transfer &) override { REQUIRE(false); }
    void send(NodeId, Moves &&) override { REQUIRE(false); }
    void send(NodeId, Key, const Holds &) override { REQUIRE(false); }
    void send(NodeId, Key, const Gone &) override { REQUIRE(false); }
    void send(NodeId, Key, const Backup &) override { REQUIRE(false); }
    void send(NodeId, Key, const Backed &) override { REQUIRE(false); }
    void send(NodeId, const BackupRun &) override { REQUIRE(false); }
    void send(NodeId, const BackedRun &) override { REQUIRE(false); }
    void answer(const Origin &, const std::vector<uint32_t> &) override { REQUIRE(false); }
    void send(NodeId, Key, const TakeOver &) override { REQUIRE(false); }
    void send(NodeId, const Offer &) override { REQUIRE(false); }
    void tell(NodeId, News) override { REQUIRE(false); }
    void answer(const Origin &, Key, const Bytes &, bool) override { REQUIRE(false); }
    void landed(uint64_t, Key) override {}
    void refuse(const Origin &, Key, NodeId) override { REQUIRE(false); }
    void gone(uint64_t, Key, NodeId) override { REQUIRE(false); }
};

} // namespace

int main() {
    constexpr Key key = 1; // its home is node 1
    constexpr uint64_t last = UINT32_MAX;
    NumberStore values(3);
    Refreshes post;
    Protocol protocol(0, HomeRule::of_all(3, KeySpace::range(3)), Techniques::replication_only, values, post);
    protocol.localize({key}, 1);
    protocol.receive(key, Transfer{1, {Replica{2, 1, last, false}}, {}, bytes_of(100)});
    for (uint64_t sequence = last; sequence <= last + 3; sequence++) { // the first one is there already
        protocol.receive(key, Delta{2, 1, sequence, false, bytes_of(1)}, false);
        protocol.exchange();
        REQUIRE(!post.sent.empty() && post.sent.back().applied == sequence);
    }
    REQUIRE(number_at(values, key) == 103);
    std::printf("ok\n");
}
