// Messages of every kind between four nodes with fifty keys, and damaged ones, drawn at random. The keys are a range,
// or any numbers of two length classes; every fifth has a long value.
#pragma once

#include <algorithm>
#include <random>

#include "protocol/homes.h"
#include "wire/backups.h"
#include "wire/barriers.h"
#include "wire/board.h"
#include "wire/moves.h"
#include "wire/notes.h"
#include "wire/numbers.h"
#include "wire/operations.h"
#include "wire/replicas.h"
#include "wire/settings.h"
#include "wire/trials.h"

namespace ps {

inline constexpr uint64_t cluster = 0x1234'5678'9abc'def0;

inline struct SmallShape : Shape {
    bool is_range = true;
    Packing of_deltas;

    KeySpace keys() const override { return is_range ? KeySpace::range(num_keys()) : KeySpace::any(2); }
    uint64_t num_keys() const { return 50; }
    Key key(uint64_t number) const { return is_range ? number : Key(number % 5 == 0) << length_class_at | number; }
    NodeId home(Key key) const { return HomeRule::of_all(places(), keys()).home(key); }
    NodeId places() const override { return 4; }
    Packing packing() const override { return of_deltas; }
    uint64_t value_bytes(Key key) const override {
        return (is_range ? key % 5 == 0 : keys().length_class(key) == 1) ? 40 : 8;
    }
} shape;

inline std::mt19937_64 random_bits(1);
inline uint64_t draw(uint64_t below) { return random_bits() % below; }

inline Packing some_packing() { return Packing(Packing::Kind(draw(3)), draw(2) ? sizeof(float) : sizeof(double), 0.2); }

inline uint64_t some_sequence() { return draw(99) << draw(50); }

inline int only_home = -1; // the home of all keys in a message, if it is one

inline std::vector<Key> some_keys() {
    std::vector<Key> keys(1 + draw(6));
    for (Key &key : keys) {
        do {
            key = shape.key(draw(shape.num_keys()));
        } while (only_home >= 0 && shape.home(key) != only_home);
    }
    return keys;
}

inline Bytes some_bytes(uint64_t count) {
    Bytes bytes(count);
    for (char &byte : bytes) byte = char(draw(256));
    return bytes;
}

inline Bytes values_of(const std::vector<Key> &keys) {
    uint64_t total = 0;
    for (Key key : keys) total += shape.value_bytes(key);
    return some_bytes(total);
}

template <class Number>
std::vector<Number> numbers(size_t count) {
    std::vector<Number> column(count);
    for (Number &number : column) number = Number(draw(draw(2) ? 100'000 : 50));
    return column;
}

inline std::vector<NodeId> some_nodes() {
    std::vector<NodeId> nodes(draw(4));
    for (NodeId &node : nodes) node = NodeId(draw(4));
    return nodes;
}

inline FrameHeader header() {
    FrameHeader header;
    header.from = NodeId(draw(4));
    header.cluster = cluster;
    header.epoch = uint32_t(draw(100));
    return header;
}

inline Bytes some_request() {
    RequestBatch batch;
    batch.operation = Operation(draw(3));
    batch.from_home = draw(2);
    batch.node = NodeId(draw(4));
    batch.worker = uint32_t(draw(1000));
    batch.number = draw(1'000'000);
    batch.behind = uint32_t(draw(4096));
    batch.keys = some_keys();
    if (draw(2)) batch.positions = numbers<uint32_t>(batch.keys.size());
    if (batch.operation != Operation::pull) batch.values = values_of(batch.keys);
    return batch.encode(header());
}

inline Bytes some_answer() {
    AnswerBatch batch;
    batch.operation = Operation(draw(3));
    batch.whole = draw(2);
    if (draw(4) == 0) batch.lost_with = NodeId(draw(4));
    batch.node = NodeId(draw(4));
    batch.worker = uint32_t(draw(1000));
    batch.number = draw(1'000'000);
    batch.count = 1 + uint32_t(draw(6));
    if (!batch.whole) batch.positions = numbers<uint32_t>(batch.count);
    if (batch.operation == Operation::pull && batch.lost_with == no_node) batch.values = some_bytes(draw(100));
    return batch.encode(header());
}

inline std::vector<Origin> some_origins() {
    std::vector<Origin> origins(draw(4));
    for (Origin &origin : origins)
        origin = {NodeId(draw(4)), uint32_t(draw(1000)), uint32_t(draw(100'000)), some_sequence(), uint32_t(draw(99))};
    return origins;
}

inline Bytes some_backup() {
    BackupBatch batch;
    batch.keys = some_keys();
    for (Key key : batch.keys) {
        const bool erases = draw(4) == 0;
        Bytes whole = erases ? Bytes() : some_bytes(shape.value_bytes(key));
        batch.backups.push_back(Backup{0, some_sequence(), some_origins(), std::move(whole), erases});
    }
    return batch.encode(header());
}

inline Bytes some_backup_run() {
    Origin origin{NodeId(draw(4)), uint32_t(draw(1000)), 0, some_sequence(), uint32_t(draw(99))};
    const std::vector<Key> keys = some_keys();
    return BackupRunMessage::encode({0, some_sequence(), origin, keys, numbers<uint32_t>(keys.size()), values_of(keys)},
                                    header());
}

inline Bytes some_take_over() {
    TakeOverBatch batch;
    batch.keys = some_keys();
    for (size_t i = 0; i < batch.keys.size(); i++) batch.orders.push_back({some_nodes()});
    return batch.encode(header());
}

inline Bytes some_transfer() {
    TransferBatch batch;
    batch.keys = some_keys();
    for (Key key : batch.keys) {
        Transfer transfer{draw(1000), {}, {}, some_bytes(shape.value_bytes(key))};
        for (uint64_t i = draw(3); i > 0; i--)
            transfer.replicas.push_back(Replica{NodeId(draw(4)), uint32_t(draw(99)), some_sequence(), false});
        for (uint64_t i = draw(3); i > 0; i--)
            transfer.ghosts.push_back(Ghost{NodeId(draw(4)), uint32_t(draw(99)), some_sequence()});
        transfer.backup = draw(2) * some_sequence();
        transfer.keepers = some_nodes();
        transfer.written = some_origins();
        batch.transfers.push_back(std::move(transfer));
    }
    return batch.encode(header());
}

template <class Element>
Bytes some_part_of(uint64_t length, bool is_dense, uint64_t most) {
    std::vector<Element> elements(length);
    for (uint64_t left = is_dense ? length : draw(most + 1); left > 0; left--)
        elements[is_dense ? left - 1 : draw(length)] = Element(draw(255)) - 127;
    Bytes part(length * sizeof(Element));
    std::memcpy(part.data(), elements.data(), part.size());
    return part;
}

// Of a delta: numbers that a bfloat16 holds, or few of them.
inline Bytes some_part(uint64_t bytes) {
    const Packing &packing = shape.of_deltas;
    const bool is_dense = packing.kind() == Packing::Kind::bfloat16;
    const uint64_t length = packing.elements(bytes), most = packing.most_elements(bytes);
    return packing.element_bytes() == sizeof(float) ? some_part_of<float>(length, is_dense, most)
                                                    : some_part_of<double>(length, is_dense, most);
}

inline Bytes some_delta() {
    DeltaBatch batch;
    batch.packing = shape.of_deltas;
    batch.node = NodeId(draw(4));
    batch.from_home = draw(2);
    batch.keys = some_keys();
    for (Key key : batch.keys) {
        const uint64_t bytes = shape.value_bytes(key);
        const bool is_part = batch.packing.shortens(bytes) && draw(3) > 0;
        const bool is_last = !is_part && draw(2);
        Bytes value = is_part ? some_part(bytes) : draw(2) ? some_bytes(bytes) : Bytes();
        batch.deltas.push_back(Delta{batch.node, uint32_t(draw(99)), some_sequence(), is_last, value, is_part});
    }
    return batch.encode(header());
}

inline Bytes some_refresh() {
    RefreshBatch batch;
    batch.owner = NodeId(draw(4));
    batch.keys = some_keys();
    for (Key key : batch.keys)
        batch.refreshes.push_back(
            Refresh{batch.owner, uint32_t(draw(99)), draw(99), some_sequence(), some_bytes(shape.value_bytes(key))});
    return batch.encode(header());
}

inline Bytes some_attend() {
    Attend attend{1 + draw(1000), uint32_t(draw(1000)), Attendance(draw(3))};
    return AttendMessage{Barriers(draw(num_barriers)), attend}.encode(header());
}

inline Bytes some_opened() {
    Opened opened{draw(1000), uint32_t(draw(1000)), draw(2) == 1};
    return OpenedMessage{Barriers(draw(num_barriers)), opened}.encode(header());
}

inline Bytes some_settings() {
    SettingsMessage message{{1 + draw(1000), {}}};
    for (uint64_t left = draw(4); left > 0; left--)
        message.news.changes.push_back({uint32_t(draw(12)), (1 + draw(1000)) << 16 | draw(4), double(draw(1000)) / 7});
    return message.encode(header());
}

inline Bytes some_notice() {
    using What = BoardMessage::What;
    BoardMessage message;
    message.what = What(draw(6));
    if (message.what == What::proposal || message.what == What::answer) message.id = 1 + draw(1000);
    if (message.what == What::changes) message.notice.number = draw(1000);
    if (message.what == What::answer || message.what >= What::changes) return message.encode(header());
    message.notice.name = std::string(1 + draw(BoardMessage::most_name), char('a' + draw(26)));
    if (message.what == What::copy || draw(2))
        message.notice.text = std::string(1 + draw(BoardMessage::most_text), char(' ' + draw(95)));
    if (message.notice.text.empty() || message.what != What::proposal) message.notice.number = 1 + draw(1000);
    return message.encode(header());
}

inline std::vector<NodeId> some_members() {
    std::vector<NodeId> members;
    for (NodeId node = 0; node < 4; node++)
        if (draw(2)) members.push_back(node);
    return members;
}

inline std::string some_endpoint() { return "tcp://10.0.0.1:" + std::to_string(draw(65536)); }

inline Bytes some_introduction() {
    IntroductionMessage message{{some_members()}, {}};
    for (size_t i = 0; i < message.introduction.members.size(); i++) message.endpoints.push_back(some_endpoint());
    return encode(message, header());
}

inline Bytes some_vote() {
    Ballot ballot{uint32_t(draw(100)), NodeId(draw(4))}, before{uint32_t(draw(100)), NodeId(draw(4))};
    return encode(Vote{Vote::Phase(draw(5)), uint32_t(draw(100)), ballot, before, some_members()}, header());
}

inline Bytes some_report() {
    HoldsBatch batch;
    FrameHeader head = header();
    batch.phase = HoldsBatch::Phase(draw(3));
    batch.lost = draw(2);
    batch.node = batch.lost ? NodeId(draw(4)) : head.from;
    if (batch.phase == HoldsBatch::Phase::report) batch.keys = some_keys();
    if (batch.phase == HoldsBatch::Phase::report && !batch.lost && draw(2))
        for (size_t i = 0; i < batch.keys.size(); i++) batch.versions.push_back(1 + some_sequence());
    return batch.encode(head);
}

inline Bytes some_news() {
    News news{News::What(draw(uint64_t(News::What::full) + 1))};
    if (news.what == News::What::avoids) news.about = NodeId(draw(4));
    return NewsMessage{news}.encode(header());
}

inline Bytes some_trial() {
    using What = TrialNote::What;
    TrialNote note{What(draw(uint64_t(What::ended) + 1)), uint32_t(draw(100))};
    if (note.what == What::step) note.step = uint16_t(draw(IntentTrials::steps));
    if (note.what == What::step || note.what == What::ended) note.acts = draw(2);
    if (note.what == What::found || note.what == What::ended) note.number = double(draw(1000)) / 20;
    return TrialMessage{note}.encode(header());
}

inline Bytes some_message() {
    std::vector<Key> keys = some_keys();
    NodeId node = NodeId(draw(4));
    switch (draw(31)) {
    case 14: return SettleMessage{Until(draw(2)), draw(1000)}.encode(header());
    case 15: return RoundMessage{draw(2) ? Kind::round : Kind::taken, draw(1000)}.encode(header());
    case 16: return some_vote();
    case 17: return some_report();
    case 18: return GoneBatch{draw(4) ? node : no_room, keys}.encode(header());
    case 19: return some_settings();
    case 20: return some_notice();
    case 21: return some_backup();
    case 22: return BackedBatch{keys, numbers<uint64_t>(keys.size())}.encode(header());
    case 23: return some_take_over();
    case 25: return some_backup_run();
    case 26: return BackedRunMessage::encode({0, draw(1000)}, header());
    case 24: return some_news();
    case 27: return OfferBatch{node, keys}.encode(header());
    case 28: return encode(JoinMessage{{some_members()}, some_endpoint()}, header());
    case 29: return some_introduction();
    case 30: return some_trial();
    case 9: return some_attend();
    case 10: return some_opened();
    case 0: return some_request();
    case 1: return some_answer();
    case 2: return some_transfer();
    case 3: return some_delta();
    case 4: return some_refresh();
    case 5: return LocalizeBatch{node, keys}.encode(header());
    case 6: return RelocateBatch{node, keys}.encode(header());
    case 7: return WantBatch{node, draw(2) == 1, keys, numbers<uint32_t>(keys.size())}.encode(header());
    case 11: return encode(Alive{some_nodes()}, header());
    case 12: return encode(Lost{node, Evidence(draw(6))}, header());
    case 13: return MovesBatch{{keys, values_of(keys)}}.encode(header());
    default: return EndedBatch{keys, numbers<uint32_t>(keys.size())}.encode(header());
    }
}

inline Bytes damaged(Bytes message) {
    for (uint64_t changes = 1 + draw(3); changes > 0; changes--) {
        uint64_t at = draw(message.size() + 1);
        switch (draw(5)) {
        case 0: message.resize(at); break;
        case 1: message.insert(message.begin() + long(at), char(draw(256))); break;
        case 2: // a number that is far too large
            for (uint64_t i = at; i < std::min<uint64_t>(at + 4, message.size()); i++) message[i] = char(0xff);
            break;
        default:
            if (at < message.size()) message[at] = char(message[at] ^ (1 << draw(8)));
        }
        if (message.empty()) return message;
    }
    return message;
}

} // namespace ps
