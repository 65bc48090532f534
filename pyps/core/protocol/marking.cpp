// How the protocol makes a Mark, and finds out whether it is reached.
#include <algorithm>

#include "protocol.h"

namespace ps {

namespace {
constexpr size_t few_travelling = 64;
} // namespace

Mark Protocol::mark() {
    Mark mark;
    if (backups_) take_changes();
    lacking_.for_each([&](Key key, bool) { mark.lacking.push_back(key); });
    // These may be on their way even if no intent needs them any more.
    asked_.for_each([&](Key key, uint32_t) { mark.coming.push_back(key); });
    wanted_.for_each([&](Key key, bool) {
        if (is_coming(key) && !asked_.count(key)) mark.coming.push_back(key);
    });
    for (auto &[key, held] : replicas_) mark_replica(key, held, true, &mark);
    return mark;
}

Mark Protocol::mark_changes() {
    take_changes();
    drop_arrived();
    Mark mark;
    for (const std::vector<Key> *keys : {&due_, &travelling_})
        for (Key key : *keys) {
            auto found = replicas_.find(key);
            if (found == replicas_.end()) continue;
            Held &held = found->second;
            if (held.listed)
                mark_replica(key, held, false, &mark);
            else
                mark.replicas.push_back({key, held.number, held.sent});
        }
    return mark;
}

// So that it is known without a look at all replicas which of them wait for their owners.
void Protocol::note_travelling(Key key) {
    travelling_.push_back(key);
    if (travelling_.size() > 2 * replicas_.size() + few_travelling) drop_arrived();
}

void Protocol::drop_arrived() {
    auto has_arrived = [&](Key key) {
        auto found = replicas_.find(key);
        return found == replicas_.end() || !found->second.on_its_way;
    };
    travelling_.erase(std::remove_if(travelling_.begin(), travelling_.end(), has_arrived), travelling_.end());
}

void Protocol::mark_replica(Key key, Held &held, bool whole, Mark *mark) {
    held.due = true;
    held.whole = held.whole || whole;
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
        if (found != replicas_.end()) mark_replica(found->first, found->second, false, mark);
        mark->coming.pop_back();
    }
    while (!mark->replicas.empty() && met(mark->replicas.back())) mark->replicas.pop_back();
    while (!mark->lacking.empty() && !lacking_.count(mark->lacking.back())) mark->lacking.pop_back();
    return mark->coming.empty() && mark->replicas.empty() && mark->lacking.empty();
}

} // namespace ps
