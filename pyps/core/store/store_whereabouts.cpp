#include "store/store_whereabouts.h"

namespace ps {

// While intents are skipped keys are at their homes, or on the way there.
void StoreWhereabouts::find(const std::vector<Key> &keys, std::vector<NodeId> *nodes) const {
    const bool are_home = segment_.header().skips_intents.load(std::memory_order_relaxed);
    for (size_t i = 0; i < keys.size(); i++) {
        Place place = segment_.place(keys[i]);
        if (place.residence() == Residence::absent)
            (*nodes)[i] = is_known(place.index()) && !are_home ? NodeId(node_of(place.index())) : no_node;
    }
}

// The next operation on the key asks that node. If the key has moved on, that node sends the request to the key's home.
void StoreWhereabouts::note_owner(const std::vector<Key> &keys, const AnswerBatch &answer, NodeId owner) {
    for (uint32_t i = 0; i < answer.count; i++) {
        Row row = segment_.row(keys[answer.position(i)]);
        if (row == no_row) continue; // only the server makes rows, so a worker cannot note it
        Entry &entry = segment_.entry(row);
        uint64_t word = entry.load(std::memory_order_relaxed);
        const Place place(word), seen(Residence::absent, place.length_class(), seen_at(owner));
        if (place.residence() == Residence::absent && !place.is_held())
            entry.compare_exchange_strong(word, seen.latched_as(place).word(), std::memory_order_relaxed);
    }
}

} // namespace ps
