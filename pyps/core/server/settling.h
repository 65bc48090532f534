// Workers that wait until everything of a moment was exchanged, or until nothing is on its way. Belongs to the server's
// thread.
#pragma once

#include <string>
#include <vector>

#include "net/routers.h"
#include "protocol/protocol.h"
#include "segment/segment.h"
#include "wire/barriers.h"

namespace ps {

class Settling {
public:
    Settling(const Segment &segment, Protocol &protocol, Routers &routers)
        : segment_(segment), protocol_(protocol), routers_(routers) {}

    void add(const std::string &worker, const SettleMessage &question) {
        waiting_.push_back({worker, question, protocol_.mark()});
    }
    bool is_anybody_waiting() const { return !waiting_.empty(); }
    void answer(bool is_quiet); // those whose time has come; nothing is on its way from here

private:
    struct Waiting {
        std::string worker;
        SettleMessage question;
        Mark mark;
    };

    const Segment &segment_;
    Protocol &protocol_;
    Routers &routers_;
    std::vector<Waiting> waiting_;
};

} // namespace ps
