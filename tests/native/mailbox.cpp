// What a node sends others in one turn: items of one kind share a message, however kinds alternate; what is about one
// key comes in the order in which it was given; and nothing overtakes an answer, which overtakes nothing.
//
// mailbox FIRST LAST: the seeds to run. A failure names its seed.
#include <cstdio>
#include <map>
#include <memory>
#include <vector>

#include "net/mailbox.h"
#include "seeds.h"

using namespace ps;

namespace {

constexpr NodeId num_nodes = 3, receiver = 1;
constexpr uint64_t num_keys = 1 << 20;

// Keeps what is sent to the receiver.
class Wire : public NodeTransport {
public:
    std::vector<Message> sent;

    const std::string &endpoint() const override { return endpoint_; }
    std::weak_ptr<Inside> inside() override { return {}; }
    Message message(size_t bytes) override { return Message(Bytes(bytes)); }
    void connect(NodeId, const std::string &) override { REQUIRE(!"it is connected"); }
    std::unique_ptr<Links> links(const std::string &, Heartbeats) override { return nullptr; }
    bool send(NodeId to, Message &&message) override {
        if (to == receiver) sent.push_back(std::move(message));
        return true;
    }
    bool reply(const std::string &, Message &&) override { return true; }
    bool receive(Received *) override { return false; }
    Woken wait(int, double) override { return {false, false}; }
    void linger(double) override {}

private:
    std::string endpoint_;
};

std::shared_ptr<Segment> make_segment() {
    int64_t length = 1;
    ps_node_options options{};
    options.num_keys = num_keys;
    options.value_lengths = &length;
    options.num_lengths = 1;
    options.dtype = PS_INT64;
    options.max_workers = 1;
    options.num_nodes = num_nodes;
    return Segment::create(options);
}

struct Sender {
    std::shared_ptr<Segment> segment = make_segment();
    Wire wire;
    Outbound outbound{wire, segment->doorbell(), 0};
    Mailbox mailbox{*segment, 0, outbound, [](uint64_t, NodeId) {}};
    StoreShape shape{*segment};
    // By key the numbers of what was given; those of answers by the position in all.
    std::map<Key, std::vector<uint32_t>> given;
    std::vector<uint32_t> answers;
    uint32_t count = 0;

    void give(uint64_t kind, Key key) {
        const uint32_t number = ++count;
        switch (kind) {
        case 0: mailbox.send(receiver, key, Want{0, number}, not_from_home); break;
        case 1: mailbox.send(receiver, key, Ended{number}); break;
        case 2: mailbox.send(receiver, key, Recall{number}); break;
        case 3: mailbox.send(receiver, key, Delta{0, number, 1, false, Bytes(8)}, not_from_home); break;
        case 4: mailbox.send(receiver, key, Refresh{0, number, 1, 0, Bytes(8)}); break;
        case 5: {
            Bytes value(8);
            std::memcpy(value.data(), &number, sizeof number);
            mailbox.send(receiver, Moves{{key}, value});
            break;
        }
        default:
            mailbox.answer({receiver, 0, number, 7, 0}, key, Bytes(8), true);
            answers.push_back(number);
            return;
        }
        given[key].push_back(number);
    }

    // Calls it for each item in the order in which the receiver takes it, with no_key for answers.
    template <class Body>
    void for_each_received(Body &&body) {
        auto numbered = [&](const std::vector<Key> &keys, auto &&number) {
            for (size_t i = 0; i < keys.size(); i++) body(keys[i], number(i));
        };
        for (Message &message : wire.sent) {
            FrameReader reader(message.data(), message.size());
            const FrameHeader header = decode_header(reader, segment->header().cluster, shape);
            ValueBytes values;
            if (header.kind == Kind::want) {
                auto batch = WantBatch::decode(header, reader, shape);
                numbered(batch.keys, [&](size_t i) { return batch.numbers[i]; });
            } else if (header.kind == Kind::ended) {
                auto batch = EndedBatch::decode(header, reader, shape);
                numbered(batch.keys, [&](size_t i) { return batch.numbers[i]; });
            } else if (header.kind == Kind::recall) {
                auto batch = RecallBatch::decode(header, reader, shape);
                numbered(batch.keys, [&](size_t i) { return batch.numbers[i]; });
            } else if (header.kind == Kind::delta) {
                auto batch = DeltaBatch::decode(header, reader, shape);
                numbered(batch.keys, [&](size_t i) { return batch.deltas[i].number; });
            } else if (header.kind == Kind::refresh) {
                auto batch = RefreshBatch::decode(header, reader, shape);
                numbered(batch.keys, [&](size_t i) { return batch.refreshes[i].number; });
            } else if (header.kind == Kind::moves) {
                auto batch = MovesBatch::decode(header, reader, shape, &values);
                numbered(batch.keys, [&](size_t i) {
                    uint32_t number = 0;
                    std::memcpy(&number, values.at + 8 * i, sizeof number);
                    return number;
                });
            } else {
                REQUIRE(header.kind == Kind::answer);
                auto batch = AnswerBatch::decode(header, reader, shape, &values);
                for (uint32_t i = 0; i < batch.count; i++) body(no_key, batch.position(i));
            }
        }
    }

    static constexpr Key no_key = UINT64_MAX;
};

void check(Sender &sender) {
    std::map<Key, std::vector<uint32_t>> received;
    std::vector<uint32_t> answers;
    uint32_t greatest = 0; // of all that came
    sender.for_each_received([&](Key key, uint32_t number) {
        if (!answers.empty()) REQUIRE(number > answers.back());
        if (key == Sender::no_key) {
            REQUIRE(number > greatest);
            answers.push_back(number);
        } else {
            received[key].push_back(number);
        }
        greatest = std::max(greatest, number);
    });
    REQUIRE(received == sender.given && answers == sender.answers);
}

void run(uint64_t seed) {
    Chance chance(seed);
    Sender sender;
    const uint64_t keys = 1 + chance.draw(chance.draw(2) ? 5 : 1000), kinds = 2 + chance.draw(6);
    for (uint64_t left = 1 + chance.draw(2000); left > 0; left--) {
        const uint64_t kind = chance.draw(kinds);
        sender.give(kind == 6 && chance.draw(10) > 0 ? 0 : kind, chance.draw(keys));
    }
    sender.mailbox.flush();
    check(sender);
}

// Kinds that take turns do not make a message of each item.
void check_sharing() {
    Sender sender;
    for (Key key = 0; key < 300; key++) sender.give(key % 6, key);
    sender.mailbox.flush();
    check(sender);
    REQUIRE(sender.wire.sent.size() <= 60);
}

// Nor do answers that come after a Refresh of their keys, where they are given together.
void check_answers() {
    Sender sender;
    sender.mailbox.answer_together([&] {
        for (uint32_t i = 0; i < 300; i++) {
            sender.mailbox.send(receiver, Key(i), Refresh{0, i + 1, 1, 0, Bytes(8)});
            sender.given[Key(i)].push_back(i + 1);
            sender.mailbox.answer({receiver, 0, 1000 + i, 7, 0}, Key(i), Bytes(8), true);
            sender.answers.push_back(1000 + i);
        }
    });
    sender.mailbox.flush();
    check(sender);
    REQUIRE(sender.wire.sent.size() == 2);
    try { // what goes wrong leaves nothing behind
        sender.mailbox.answer_together([&] {
            sender.mailbox.answer({receiver, 0, 2000, 7, 0}, 1, Bytes(8), true);
            throw Unexpected("a message that cannot be right");
        });
        REQUIRE(!"it is passed on");
    } catch (const Unexpected &) {
        sender.answers.push_back(2000);
    }
    sender.mailbox.flush();
    check(sender);
    REQUIRE(sender.wire.sent.size() == 3);
}

// By how many nodes a round was used, its length is chosen.
void check_rounds() {
    Sender sender;
    REQUIRE(sender.mailbox.end_round() == 0);
    sender.give(0, 1);
    sender.mailbox.send(2, 1, Ended{1});
    sender.mailbox.flush();
    REQUIRE(sender.mailbox.end_round() == 2);
    REQUIRE(sender.mailbox.end_round() == 0);
}

} // namespace

int main(int count, char **arguments) {
    const Seeds seeds(count, arguments);
    check_sharing();
    check_answers();
    check_rounds();
    seeds.for_each(run);
    std::puts("ok");
}
