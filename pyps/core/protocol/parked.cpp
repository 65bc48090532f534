#include "parked.h"

#include <algorithm>

namespace ps {

bool Parked::brings(Key key) const {
    auto found = steps_.find(key);
    return found != steps_.end() &&
           std::any_of(found->second.begin(), found->second.end(), [](const Step &step) { return step.brings_key; });
}

void Parked::add(Key key, Step step) {
    steps_[key].push_back(std::move(step));
    senders_.insert(sender_);
}

std::vector<Key> Parked::keys() const {
    std::vector<Key> keys;
    for (const auto &[key, steps] : steps_) keys.push_back(key);
    return keys;
}

std::vector<Step> Parked::extract(Key key) {
    std::vector<Step> steps = std::move(steps_.extract(key).mapped());
    if (steps_.empty()) senders_.clear();
    return steps;
}

void Parked::keep_what_brings_keys() {
    for (auto it = steps_.begin(); it != steps_.end();) {
        std::vector<Step> &steps = it->second;
        steps.erase(std::remove_if(steps.begin(), steps.end(), [](const Step &step) { return !step.brings_key; }),
                    steps.end());
        it = steps.empty() ? steps_.erase(it) : std::next(it);
    }
    if (steps_.empty()) senders_.clear();
}

} // namespace ps
