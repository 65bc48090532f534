// What an owner knows of writes whose backups are on their way (backups.cpp, write_runs.cpp, take_overs.cpp).
#pragma once

#include <vector>

#include "messages.h"

namespace ps {

// A key that is written here, or gets new backups. What comes while a backup is on its way is in the next one.
struct Write {
    struct Request { // of a worker
        Origin origin;
        bool is_asked; // a worker waits for its answer
    };
    bool is_on_its_way = false; // a backup is
    bool erases = false; // the backups, and then the key
    uint64_t version = 0; // of that one
    Bytes sent, whole; // as in that backup, and with what came since
    std::vector<Request> written, next; // what is new in that backup, and in `whole`
    std::vector<NodeId> missing; // nodes that have not answered
    std::vector<Relocate> orders; // for afterwards; what comes behind them waits
    std::vector<ps::Request> later;
};

// Keys whose backups of one operation's writes are on their way to the same nodes. If anything else is to be done
// to one of them, it leaves the run and becomes a Write.
struct Run {
    BackupRun message;
    std::vector<NodeId> missing; // nodes that have not answered
    std::vector<Key> left;
};
struct InRun {
    uint64_t version; // of the run
    uint32_t index, offset; // of the key, and of its whole
};

// A key that this node takes over. Other backups may be older, so it is not here before they are as new.
struct TakingOver {
    uint64_t version = 0; // of what was sent to them, or 0
    std::vector<NodeId> keepers, missing; // missing: those that have not answered
};

} // namespace ps
