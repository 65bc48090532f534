// Messages between nodes: what is written is read again, and nothing else is. Whatever arrives instead, cut, stretched
// or changed, is refused or is a message that would be written the same way; no byte outside of it is looked at.
//
// wire COUNT: how many changed messages to read.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <set>

#include "check.h"
#include "messages.h"

using namespace ps;

namespace {

template <class Batch>
Bytes read_with_values(const FrameHeader &header, FrameReader &reader) {
    ValueBytes values;
    Batch batch = Batch::decode(header, reader, shape, &values);
    batch.values.assign(values.at, values.at + values.bytes);
    return batch.encode(header);
}

template <class Batch>
Bytes read(const FrameHeader &header, FrameReader &reader) {
    return Batch::decode(header, reader, shape).encode(header);
}

// Read a message and write it again; throws Malformed.
Bytes rewritten(const char *bytes, uint64_t size) {
    FrameReader reader(bytes, size);
    FrameHeader header = decode_header(reader, cluster, shape);
    switch (header.kind) {
    case Kind::request: return read_with_values<RequestBatch>(header, reader);
    case Kind::answer: return read_with_values<AnswerBatch>(header, reader);
    case Kind::moves: return read_with_values<MovesBatch>(header, reader);
    case Kind::localize: return read<LocalizeBatch>(header, reader);
    case Kind::relocate: return read<RelocateBatch>(header, reader);
    case Kind::transfer: return read<TransferBatch>(header, reader);
    case Kind::want: return read<WantBatch>(header, reader);
    case Kind::delta: return read<DeltaBatch>(header, reader);
    case Kind::refresh: return read<RefreshBatch>(header, reader);
    case Kind::ended: return read<EndedBatch>(header, reader);
    case Kind::recall: return read<RecallBatch>(header, reader);
    case Kind::settle: return SettleMessage::decode(header, reader).encode(header);
    case Kind::round:
    case Kind::taken: return RoundMessage::decode(header, reader).encode(header);
    case Kind::attend: return AttendMessage::decode(header, reader).encode(header);
    case Kind::opened: return OpenedMessage::decode(header, reader).encode(header);
    case Kind::settings: return read<SettingsMessage>(header, reader);
    case Kind::board: return BoardMessage::decode(header, reader).encode(header);
    case Kind::alive: return encode(decode_alive(header, reader, shape), header);
    case Kind::lost: return encode(decode_lost(header, reader, shape), header);
    case Kind::epoch: return encode(decode_vote(header, reader, shape), header);
    case Kind::join: return encode(decode_join(header, reader, shape), header);
    case Kind::introduction: return encode(decode_introduction(header, reader, shape), header);
    case Kind::holds: return read<HoldsBatch>(header, reader);
    case Kind::gone: return read<GoneBatch>(header, reader);
    case Kind::backup: return read<BackupBatch>(header, reader);
    case Kind::backed: return read<BackedBatch>(header, reader);
    case Kind::take_over: return read<TakeOverBatch>(header, reader);
    case Kind::backup_run: return BackupRunMessage::encode(BackupRunMessage::decode(header, reader, shape), header);
    case Kind::backed_run: return BackedRunMessage::encode(BackedRunMessage::decode(header, reader), header);
    case Kind::news: return read<NewsMessage>(header, reader);
    case Kind::offer: return read<OfferBatch>(header, reader);
    case Kind::trial: return read<TrialMessage>(header, reader);
    default: throw Malformed("its kind is not known here");
    }
}

} // namespace

int main(int count, char **arguments) {
    long total = count > 1 ? std::atol(arguments[1]) : 100'000, refused = 0, accepted = 0;
    std::set<std::string> reasons;
    for (long i = 0; i < total; i++) {
        shape.is_range = i % 2;
        if (i % 10 == 0) shape.of_deltas = some_packing();
        Bytes message = some_message();
        CHECK(rewritten(message.data(), message.size()) == message);
        Bytes changed = draw(50) ? damaged(message) : some_bytes(draw(100));
        std::unique_ptr<char[]> exact(new char[changed.size()]); // a sanitizer sees what lies behind
        std::copy(changed.begin(), changed.end(), exact.get());
        try {
            CHECK(rewritten(exact.get(), changed.size()) == changed);
            accepted++;
        } catch (const Malformed &error) {
            reasons.insert(std::string(error.what()).substr(0, 12));
            refused++;
        }
    }
    CHECK(refused > total / 4 && accepted > total / 100 && reasons.size() >= 8);
    std::printf("ok\n");
}
