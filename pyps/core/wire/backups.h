// Messages about backups of keys: what a keeper is to have, which backups become the keys, and how far
// a node has come with its backups in the present epoch.
#pragma once

#include "wire/frame.h"
#include "wire/shape.h"

namespace ps {

struct BackupBatch {
    static constexpr Kind kind = Kind::backup;
    std::vector<Key> keys;
    std::vector<Backup> backups; // their owner is the sender

    Bytes encode(FrameHeader header) const;
    static BackupBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

struct BackupRunMessage {
    static constexpr Kind kind = Kind::backup_run;

    static Bytes encode(const BackupRun &run, FrameHeader header);
    static BackupRun decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

struct BackedRunMessage {
    static Bytes encode(const BackedRun &run, FrameHeader header);
    static BackedRun decode(const FrameHeader &header, FrameReader &reader);
};

struct TakeOverBatch {
    static constexpr Kind kind = Kind::take_over;
    std::vector<Key> keys;
    std::vector<TakeOver> orders;

    Bytes encode(FrameHeader header) const;
    static TakeOverBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

struct NewsMessage {
    static constexpr Kind kind = Kind::news;
    News news;

    Bytes encode(FrameHeader header) const;
    static NewsMessage decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

} // namespace ps
