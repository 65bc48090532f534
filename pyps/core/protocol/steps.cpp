// What happens to a key happens in steps, each under the key's latch. If the latch is busy, the step waits, and so does
// everything that comes for this key after it; other keys go on.
#include "protocol.h"
#include "step.h"

namespace ps {

void Protocol::receive(Key key, Request message, bool from_home) {
    if (is_empty_) return; // it is asked for again
    if (is_about_rows(message.operation)) return receive_about_row(key, std::move(message));
    step(key,
         [this, key, message = std::move(message), from_home]() mutable { take(key, std::move(message), from_home); });
}

// What is about replicas and comes to a node where the key has no row is about replicas that have ended, or answers
// what was asked of a key that was erased since its intent began. It must not make a row again.
void Protocol::receive(Key key, Delta message, bool from_home) {
    if (is_unused(key)) {
        if (!take_ghost(key, message) && message.last) post_.send(message.node, key, Ended{message.number});
        return;
    }
    step(key,
         [this, key, message = std::move(message), from_home]() mutable { take(key, std::move(message), from_home); });
}

void Protocol::receive(Key key, Refresh message) {
    if (!values_.has_row(key)) {
        answer_asked(key, message.number);
        if (!begins_here(key)) send_end(key, message.number);
        return;
    }
    step(key, [this, key, message = std::move(message)] { take(key, message); });
}

void Protocol::receive(Key key, const Ended &message) {
    if (!values_.has_row(key)) {
        roomless_ += answer_asked(key, message.number);
        return;
    }
    step(key, [=] { take(key, message); });
}

void Protocol::receive(Key key, const Recall &message) {
    if (!values_.has_row(key)) return;
    step(key, [=] { take(key, message); });
}

void Protocol::receive(Key key, const Gone &message) {
    if (!values_.has_row(key)) {
        if (message.with != no_room) asked_.erase(key);
        return;
    }
    step(key, [=] { take(key, message); });
}

void Protocol::receive(Key key, Transfer message) { bring(key, std::move(message), epoch_); }
void Protocol::receive_late(Key key, Transfer message) { bring(key, std::move(message), epoch_ - 1); }

void Protocol::bring(Key key, Transfer message, uint64_t epoch) {
    auto take_it = [this, key, message = std::move(message), epoch]() mutable {
        epoch == epoch_ ? take(key, std::move(message)) : take_late(key, std::move(message));
    };
    if (!do_now(key, take_it)) parked_.add(key, {std::move(take_it), true});
}

void Protocol::retry(const std::function<void(const Unexpected &)> &refuse) {
    for (Key key : parked_.keys()) {
        if (!values_.latch(key)) continue;
        Latched latched(values_);
        for (Step &step : parked_.extract(key)) {
            try {
                if (is_unborn(key)) bear(key);
                step.take();
            } catch (const Unexpected &error) {
                refuse(error);
            }
        }
    }
}

} // namespace ps
