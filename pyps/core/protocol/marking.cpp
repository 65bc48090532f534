// How the protocol makes a Mark, and finds out whether it is reached.
#include "protocol.h"

namespace ps {

Mark Protocol::mark() {
    Mark mark;
    if (backups_) take_changes();
    lacking_.for_each([&](Key key, bool) { mark.lacking.push_back(key); });
    // These may be on their way even if no intent needs them any more.
    asked_.for_each([&](Key key, uint32_t) { mark.coming.push_back(key); });
    wanted_.for_each([&](Key key, bool) {
        if (is_coming(key) && !asked_.count(key)) mark.coming.push_back(key);
    });
    for (auto &[key, held] : replicas_) mark_replica(key, held, &mark);
    return mark;
}

void Protocol::mark_replica(Key key, Held &held, Mark *mark) {
    held.due = true;
    list(key, held);
    mark->replicas.push_back({key, held.number, held.sent + !held.ended});
}

bool Protocol::is_coming(Key key) const {
    auto found = replicas_.find(key);
    bool ends = found != replicas_.end() && found->second.ended;
    return ends || asked_.count(key) || arrivals_.count(key) || parked_.count(key);
}

// Removes what has happened from the mark, so that looking often costs little.
bool Protocol::reached(Mark *mark) {
    auto met = [&](const Mark::Exchange &known) {
        auto found = replicas_.find(known.key);
        if (found == replicas_.end() || found->second.number != known.number) return true;
        const Held &held = found->second;
        return held.sent > known.sequence || (held.sent == known.sequence && !held.on_its_way);
    };
    while (!mark->coming.empty() && !is_coming(mark->coming.back())) {
        auto found = replicas_.find(mark->coming.back()); // its value may have been on the way when the mark was made
        if (found != replicas_.end()) mark_replica(found->first, found->second, mark);
        mark->coming.pop_back();
    }
    while (!mark->replicas.empty() && met(mark->replicas.back())) mark->replicas.pop_back();
    while (!mark->lacking.empty() && !lacking_.count(mark->lacking.back())) mark->lacking.pop_back();
    return mark->coming.empty() && mark->replicas.empty() && mark->lacking.empty();
}

} // namespace ps
