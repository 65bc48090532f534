// How answers are taken in: values go into the caller's buffer, and it is noted where keys live.
#include <cstring>

#include "requests/requests.h"

namespace ps {

namespace {
constexpr char other_length[] = "its values have another length than the keys'";
} // namespace

void Requests::receive(const char *bytes, uint64_t size) {
    FrameReader reader(bytes, size);
    FrameHeader header = decode_header(reader, header_.cluster, shape_);
    if (header.kind == Kind::welcome) {
        bool was_welcome = questions_.is_welcome();
        questions_.welcome(header.channel, header.count);
        if (was_welcome || !questions_.is_welcome()) return;
        announced_ = since_hello_;
        since_hello_.clear();
        return;
    }
    if (header.kind == Kind::settle)
        return questions_.settled(header.channel, SettleMessage::decode(header, reader).number);
    if (header.epoch < header_.epoch) return; // the question was given up
    if (header.kind != Kind::answer) throw Malformed("it is not for a worker");
    ValueBytes values;
    AnswerBatch answer = AnswerBatch::decode(header, reader, shape_, &values);
    take(answer, header.from, values);
}

void Requests::take(const AnswerBatch &answer, NodeId from, ValueBytes values) {
    auto found = sent_.find(int64_t(answer.number));
    if (found == sent_.end()) {
        if (int64_t(answer.number) < given_up_) return;
        throw Malformed("it answers nothing that is on its way");
    }
    Sent &sent = found->second;
    if (answer.count > sent.left) throw Malformed("it answers more keys than are on their way");
    bool is_lost = answer.lost_with != no_node;
    bool brings_values = has_answer(sent.operation) && answer.has_values();
    if (is_answered_whole(sent, answer)) {
        if (values.bytes != (brings_values ? each_ * answer.count : 0)) throw Malformed(other_length);
        if (brings_values && sent.values) std::memcpy(sent.values, values.at, values.bytes);
    } else {
        mark_answered(sent, answer, values.bytes);
        if (brings_values && sent.values) fill(sent, answer, values.at);
    }
    if (is_lost) sent.lost_with = answer.lost_with;
    if (answer.refused) sent.lost_with = no_room;
    if (answer.forwarded && !is_lost && from != header_.from) whereabouts_.note_owner(sent.keys, answer, from);
    if (sent.noted)
        for (uint32_t i = 0; i < answer.count; i++) keys_.remove(sent.keys[answer.position(i)], sent.operation);
    sent.left -= answer.count;
    if (sent.left > 0) return;
    outbox_.ended(sent.operation, sent.began);
    if (sent.lost_with != no_node) failures_.add(found->first, sent.lost_with);
    drop(found);
}

// The usual case: an answer for all keys at once, with values of one length, one after another.
bool Requests::is_answered_whole(const Sent &sent, const AnswerBatch &answer) const {
    return answer.whole && answer.count == sent.keys.size() && each_ && sent.spans.empty();
}

// Throws Malformed if the answer does not fit what is on its way, and marks nothing then.
void Requests::mark_answered(Sent &sent, const AnswerBatch &answer, uint64_t value_bytes) const {
    bool brings_values = has_answer(sent.operation) && answer.has_values();
    uint64_t bytes = 0;
    sent.answered.resize(sent.keys.size());
    uint32_t marked = 0;
    auto refuse = [&](const char *reason) {
        while (marked > 0) sent.answered[answer.position(--marked)] = false;
        throw Malformed(reason);
    };
    for (; marked < answer.count; marked++) {
        uint32_t position = answer.position(marked);
        if (position >= sent.keys.size() || sent.answered[position]) refuse("it answers a key that is not on its way");
        sent.answered[position] = true;
        if (brings_values) bytes += length(sent, position);
    }
    if (bytes != value_bytes) refuse(other_length);
}

void Requests::fill(const Sent &sent, const AnswerBatch &answer, const char *values) const {
    for (uint32_t i = 0; i < answer.count; i++) {
        uint32_t position = answer.position(i);
        uint64_t bytes = length(sent, position);
        std::memcpy(sent.spans.empty() ? sent.values + position * bytes : sent.spans[position].at, values, bytes);
        values += bytes;
    }
}

} // namespace ps
