// What a server does with each kind of message, once it is known to be sound, of this epoch, and of whom it says.
#include <string>
#include <utility>

#include "errors.h"
#include "net/refusals.h"
#include "net/server.h"
#include "wire/notes.h"

namespace ps {

void Server::take_late(const Sender &sender, const FrameHeader &header, FrameReader &reader) {
    senders_.require_node(sender);
    if (header.kind == Kind::transfer) {
        for_each<TransferBatch>(sender, header, reader, [&](TransferBatch &batch, size_t i) {
            protocol_.receive_late(batch.keys[i], std::move(batch.transfers[i]));
        });
        return;
    }
    Span values;
    MovesBatch batch = MovesBatch::decode(header, reader, shape_, &values);
    const char *value = values.at;
    each_by_itself(batch.keys, [&](size_t i) {
        const char *begin = value;
        value += segment_->whole_bytes(batch.keys[i]);
        protocol_.receive_late(batch.keys[i], Transfer{0, {}, {}, Bytes(begin, value)});
    });
}

template <class Batch, class Take>
void Server::for_each(const Sender &sender, const FrameHeader &header, FrameReader &reader, Take &&take) {
    Batch batch = Batch::decode(header, reader, shape_);
    senders_.check(sender, batch);
    each_by_itself(batch.keys, [&](size_t i) { take(batch, i); });
}

void Server::handle(const std::string &peer, const Sender &sender, const FrameHeader &header, FrameReader &reader) {
    switch (header.kind) {
    case Kind::hello: {
        reader.finish();
        if (sender.is_node) {
            gates_.meet(sender.node);
            break;
        }
        FrameHeader welcome = header_from(*segment_);
        welcome.kind = Kind::welcome;
        routers_.send(peer, FrameWriter(welcome).take());
        break;
    }
    case Kind::request: {
        Span values;
        RequestBatch batch = RequestBatch::decode(header, reader, shape_, &values);
        senders_.check(sender, batch);
        if (batch.operation == Operation::localize)
            localize(batch);
        else
            serve(batch, values, sender.is_node);
        break;
    }
    case Kind::answer: {
        Span values;
        AnswerBatch batch = AnswerBatch::decode(header, reader, shape_, &values);
        senders_.check(sender, batch);
        mailbox_.pass_on(batch, reader.message());
        break;
    }
    case Kind::localize: {
        LocalizeBatch batch = LocalizeBatch::decode(header, reader, shape_);
        senders_.check(sender, batch);
        protocol_.receive(batch.keys, Localize{batch.node});
        break;
    }
    case Kind::relocate: {
        RelocateBatch batch = RelocateBatch::decode(header, reader, shape_);
        senders_.check(sender, batch);
        protocol_.receive(batch.keys, Relocate{batch.node});
        break;
    }
    case Kind::transfer:
        for_each<TransferBatch>(sender, header, reader, [&](TransferBatch &batch, size_t i) {
            protocol_.receive(batch.keys[i], std::move(batch.transfers[i]));
        });
        break;
    case Kind::want: {
        WantBatch batch = WantBatch::decode(header, reader, shape_);
        senders_.check(sender, batch);
        protocol_.receive(batch.keys, batch.node, batch.numbers, batch.from_home);
        break;
    }
    case Kind::moves: {
        Span values;
        MovesBatch batch = MovesBatch::decode(header, reader, shape_, &values);
        senders_.require_node(sender);
        try {
            protocol_.receive(batch.keys, values.at);
        } catch (const Unexpected &error) {
            count_refusal(segment_->header(), error.what());
        }
        break;
    }
    case Kind::delta:
        for_each<DeltaBatch>(sender, header, reader, [&](DeltaBatch &batch, size_t i) {
            protocol_.receive(batch.keys[i], std::move(batch.deltas[i]), batch.from_home);
        });
        break;
    case Kind::refresh:
        for_each<RefreshBatch>(sender, header, reader, [&](RefreshBatch &batch, size_t i) {
            protocol_.receive(batch.keys[i], batch.refreshes[i]);
        });
        break;
    case Kind::ended:
        for_each<EndedBatch>(sender, header, reader, [&](EndedBatch &batch, size_t i) {
            protocol_.receive(batch.keys[i], Ended{batch.numbers[i]});
        });
        break;
    case Kind::intent: {
        IntentBatch batch = IntentBatch::decode(header, reader, shape_);
        senders_.require_worker_here(sender);
        if (batch.worker < 1 || batch.worker > segment_->header().max_workers)
            throw Malformed("its worker's slot, " + std::to_string(batch.worker) + ", does not exist");
        intents_.add(batch.worker, batch.start, batch.end, std::move(batch.keys));
        intents_.update();
        note_intents();
        break;
    }
    case Kind::settle: {
        SettleMessage message = SettleMessage::decode(header, reader);
        senders_.require_worker_here(sender);
        intents_.update();
        note_intents();
        settling_.push_back({peer, message, protocol_.mark()});
        break;
    }
    case Kind::round: {
        RoundMessage message = RoundMessage::decode(header, reader);
        senders_.require_node(sender);
        mailbox_.flush(); // what this has brought about is on its way before
        message.kind = Kind::taken;
        peers_[sender.node].send(message.encode(header_from(*segment_)));
        break;
    }
    case Kind::taken:
        senders_.require_node(sender);
        mailbox_.taken(sender.node, RoundMessage::decode(header, reader).number);
        break;
    case Kind::attend:
        senders_.require_node(sender);
        gates_.receive(header.from, AttendMessage::decode(header, reader));
        break;
    case Kind::opened:
        senders_.require_node(sender);
        gates_.receive(header.from, OpenedMessage::decode(header, reader));
        break;
    case Kind::left:
        senders_.require_node(sender);
        require_no_keys(header);
        reader.finish();
        senders_.require_node(sender);
        take_leave(header.from);
        break;
    case Kind::noted:
        senders_.require_node(sender);
        require_no_keys(header);
        reader.finish();
        awaited_[header.from] = false;
        break;
    case Kind::alive: vigil_->receive(header, decode_alive(header, reader, shape_)); break;
    case Kind::epoch: vigil_->receive(header, decode_vote(header, reader, shape_)); break;
    case Kind::lost: vigil_->receive(header, decode_lost(header, reader, shape_)); break;
    case Kind::holds: {
        HoldsBatch batch = HoldsBatch::decode(header, reader, shape_);
        senders_.require_node(sender);
        receive(header.from, batch);
        break;
    }
    case Kind::gone: {
        GoneBatch batch = GoneBatch::decode(header, reader, shape_);
        senders_.require_node(sender);
        each_by_itself(batch.keys, [&](size_t i) { protocol_.receive(batch.keys[i], Gone{batch.node}); });
        break;
    }
    default: throw Malformed("it is not for a server");
    }
}

} // namespace ps
