// How keys go back to their homes on a node that skips intents: there all nodes look first, so a request takes no
// detour. Those that nobody wants here go at once, a part of them in each round; the others when their last intent or
// replica has ended; and those that come meanwhile when another node uses them.
#include "protocol.h"
#include "step.h"

namespace ps {

namespace {
constexpr size_t most_in_a_round = 1000; // keys that are sent, about
constexpr int most_parts = 16; // that are looked at
} // namespace

void Protocol::let_keys_go_home(bool go) {
    if (go == keys_go_home_) return;
    keys_go_home_ = looks_for_keys_ = go;
    look_from_ = 0;
}

void Protocol::note_use(const std::vector<Key> &keys) {
    if (!keys_go_home_) return;
    for (Key key : keys)
        if (channel_.has(key) && !homes_.is_here(key) && values_.standing(key) == Standing::owned)
            step(key, [=] { go_home(key); });
}

// Part of each round.
void Protocol::look_for_keys_away() {
    std::vector<Key> away;
    for (int part = 0; looks_for_keys_ && part < most_parts && away.size() < most_in_a_round; part++) {
        look_from_ = values_.for_some_here(look_from_, [&](Key key) {
            if (channel_.has(key) && !homes_.is_here(key) && owns(key)) away.push_back(key);
        });
        looks_for_keys_ = look_from_ != 0;
    }
    for (Key key : away) step(key, [=] { go_home(key); });
}

void Protocol::go_home(Key key) {
    if (!owns(key) || homes_.is_here(key) || wanted_.count(key) || is_being_erased(key) || leaves_) return;
    auto found = masters_.find(key);
    if (found != masters_.end() && (!found->second.replicas.empty() || found->second.promised != no_node)) return;
    relocate_to(key, masters_[key], homes_.home(key));
}

} // namespace ps
