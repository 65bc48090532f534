// The header that every message between nodes and workers begins with, and how its parts are read and written.
// docs/wire.md describes the protocol.
//
// A message is checked as a whole before anything is done with it. If anything is wrong with it, it is refused with a
// Malformed, whose text says why, and has changed nothing.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ps {

constexpr uint32_t wire_magic = 0x5350544d; // "MTPS"
constexpr uint8_t wire_version = 3;

enum class Kind : uint8_t {
    hello = 1, // a node or a worker introduces itself
    welcome = 2,
    request = 4, // 3 is not used
    answer,
    localize,
    relocate,
    transfer,
    want,
    delta,
    refresh,
    ended,
    intent,
    alive = 14, // from here on about members, not keys
    epoch = 15,
    lost = 16,
    noted = 17, // the answer to left
    holds = 18,
    gone = 19,
    attend = 20, // how a node stands at a barrier
    opened, // how many rounds of a barrier are over
    left, // the node ends and does not wait for the others
    settle, // a worker's question to its node whether everything has settled, and the answer
    round, // a node asks another one to tell when it has taken in everything up to here
    taken, // the answer to round
    moves = 26,
    settings, // changed settings of the rule for pushes
    recall,
    board, // notices on which all nodes agree
    backup = 30,
    backed, // the answer to backup
    take_over,
    news, // about backups, in an epoch
    backup_run, // of keys that one operation writes
    backed_run, // the answer to it
    offer, // of keys, by a node that leaves, or to one that has joined
    join, // a node asks to be let in
    introduction, // and is told whom to ask
    trial, // whether intents pay
};
constexpr Kind last_kind = Kind::trial;
constexpr bool is_from_vigil(Kind kind) {
    return (kind >= Kind::alive && kind <= Kind::lost) || kind == Kind::join || kind == Kind::introduction;
}
constexpr bool is_about_keys(Kind kind) {
    return (kind >= Kind::request && kind <= Kind::intent) || kind == Kind::gone || kind == Kind::moves ||
           kind == Kind::recall || (kind >= Kind::backup && kind <= Kind::take_over) || kind == Kind::backup_run ||
           kind == Kind::offer;
}

struct FrameHeader {
    uint32_t magic = wire_magic;
    uint8_t version = wire_version;
    Kind kind{};
    uint16_t from = 0; // the node that sends it, or whose worker does
    uint64_t cluster = 0; // the number that a cluster's nodes have in common
    uint32_t epoch : 24, channel : 8; // of the membership; of the keys that the message is about
    uint32_t count = 0; // number of keys, or of other things that the message has

    FrameHeader() : epoch(0), channel(0) {}
};
static_assert(sizeof(FrameHeader) == 24 && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as in docs/wire.md");

class Shape;

class Malformed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

inline void require_no_keys(const FrameHeader &header) {
    if (header.count) throw Malformed("it counts keys, but is about none");
}

class FrameReader {
public:
    FrameReader(const char *bytes, uint64_t size) : begin_(bytes), at_(bytes), end_(bytes + size) {}

    uint64_t left() const { return uint64_t(end_ - at_); }
    std::vector<char> message() const { return {begin_, end_}; } // the whole message

    const char *skip(uint64_t bytes) {
        if (bytes > left()) throw Malformed("it ends " + std::to_string(bytes - left()) + " bytes too early");
        const char *here = at_;
        at_ += bytes;
        return here;
    }

    void zeros(uint64_t bytes) { // bytes that later versions may use
        for (const char *byte = skip(bytes); bytes-- > 0; byte++)
            if (*byte) throw Malformed("bytes that are not used are not zero");
    }

    template <class Type>
    Type get() {
        Type value;
        std::memcpy(&value, skip(sizeof value), sizeof value);
        return value;
    }

    template <class Type>
    void get(std::vector<Type> *column, uint32_t count) {
        // First, so that no memory is allocated for a wrong count.
        const char *from = skip(uint64_t(count) * sizeof(Type));
        column->resize(count);
        if (count) std::memcpy(column->data(), from, uint64_t(count) * sizeof(Type));
    }

    void require_end() const {
        if (left()) throw Malformed("it has " + std::to_string(left()) + " bytes too many");
    }

private:
    const char *begin_, *at_, *end_;
};

// Reads and checks the header of a message. Throws Malformed, as everything that decodes does.
FrameHeader decode_header(FrameReader &reader, uint64_t cluster, const Shape &shape);

class FrameWriter {
public:
    FrameWriter() = default;
    explicit FrameWriter(const FrameHeader &header) { put(header); }

    void expect(uint64_t more) { bytes_.reserve(bytes_.size() + more); }
    void zeros(uint64_t bytes) { bytes_.resize(bytes_.size() + bytes); }
    void put(const char *from, uint64_t bytes) { bytes_.insert(bytes_.end(), from, from + bytes); }

    template <class Type>
    void put(const Type &value) {
        put(reinterpret_cast<const char *>(&value), sizeof value);
    }
    template <class Type>
    void put(const std::vector<Type> &column) {
        put(reinterpret_cast<const char *>(column.data()), column.size() * sizeof(Type));
    }

    std::vector<char> take() { return std::move(bytes_); }

private:
    std::vector<char> bytes_;
};

} // namespace ps
