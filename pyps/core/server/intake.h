// Messages and new epochs that other threads left for the thread of a channel, in the order in which they came.
#pragma once

#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <variant>

#include "net/message.h"
#include "net/vigil.h"
#include "server/senders.h"

namespace ps {

struct Delivery {
    std::string peer; // the name of its connection
    Sender sender; // the end that has that connection
    Message message;

    template <class To>
    void to(To &channel) const {
        channel.take(peer, sender, message.data(), message.size());
    }
};

class Intake {
public:
    using Item = std::variant<Delivery, Vigil::Epoch>;

    bool leave(Item item) { // returns true if it is the only one
        std::lock_guard<std::mutex> lock(mutex_);
        items_.push_back(std::move(item));
        return items_.size() == 1;
    }
    std::deque<Item> take() {
        std::lock_guard<std::mutex> lock(mutex_);
        return std::exchange(items_, {});
    }
    bool is_empty() {
        std::lock_guard<std::mutex> lock(mutex_);
        return items_.empty();
    }

private:
    std::mutex mutex_; // guards what follows
    std::deque<Item> items_;
};

} // namespace ps
