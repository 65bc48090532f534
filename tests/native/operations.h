// Operations of simulated workers on one key, and the techniques of the protocol that serves them.
#pragma once

#include <algorithm>

#include "protocol/protocol.h"
#include "seeds.h"
#include "stores.h"

namespace ps {

inline Techniques draw_techniques(Chance &chance) { return Techniques(std::max(0, int(chance.draw(6)) - 3)); }

// A worker stops at a key, or goes on. As many keys are held up as workers have stopped.
inline void stop_or_go_on(const Store &store, Key key) { (*store.stops)[key] = !(*store.stops)[key]; }
inline void all_go_on(const Store &store) { store.stops->assign(store.stops->size(), false); }

inline void refuse_nothing(const Unexpected &) { REQUIRE(!"what comes was to come"); }

inline void send_parts(Values &values, bool wanted) {
    if (auto *store = dynamic_cast<NumberStore *>(&values)) store->sends_parts = wanted;
}

// Whether a worker does it by itself.
inline bool is_here(const Values &values, Operation operation, Key key) {
    return owns(values, key) || (values.standing(key) == Standing::replica && operation != Operation::set);
}

// Returns what was pulled.
inline int64_t do_here(Values &values, Operation operation, Key key, int64_t operand) {
    Bytes value = bytes_of(operand);
    under_latch(values, key, [&] {
        if (operation == Operation::pull) values.pull(key, &value);
        if (operation == Operation::push) values.push(key, value);
        if (operation == Operation::set) values.set(key, value);
    });
    return number_of(value);
}

} // namespace ps
