// A message: bytes that it owns. It can be moved, not copied. It holds them in an object of any type with data() and
// size(), so a message of ZeroMQ is carried as it is, without a copy.
#pragma once

#include <cstddef>
#include <new>
#include <utility>
#include <vector>

namespace ps {

using Bytes = std::vector<char>;

class Message {
public:
    Message() noexcept : Message(Bytes()) {}
    Message(Bytes &&bytes) noexcept { hold(std::move(bytes)); } // implicit, as encoders return bytes
    // `held`: an object with data() and size(), which is empty after it was moved from.
    template <class Held>
    static Message of(Held &&held) noexcept {
        Message message(nullptr);
        message.hold(std::move(held));
        return message;
    }
    Message(Message &&other) noexcept : kind_(other.kind_) { kind_->move(held_, other.held_); }
    Message &operator=(Message &&other) noexcept {
        if (this == &other) return *this;
        kind_->destroy(held_);
        kind_ = other.kind_;
        kind_->move(held_, other.held_);
        return *this;
    }
    Message(const Message &) = delete;
    Message &operator=(const Message &) = delete;
    ~Message() {
        if (kind_) kind_->destroy(held_);
    }

    const char *data() const { return kind_->data(held_); }
    char *data() { return kind_->data(held_); }
    size_t size() const { return kind_->size(held_); }

    // Replace what is held by a new object of this type, which the caller fills.
    template <class Held>
    Held &renew() {
        kind_->destroy(held_);
        kind_ = &kind<Held>;
        return *new (held_) Held();
    }
    // The object that holds the bytes, or null if it has another type.
    template <class Held>
    Held *held_as() {
        return kind_ == &kind<Held> ? std::launder(reinterpret_cast<Held *>(held_)) : nullptr;
    }

private:
    struct Kind {
        char *(*data)(void *held);
        size_t (*size)(void *held);
        void (*move)(void *to, void *from);
        void (*destroy)(void *held);
    };

    template <class Held>
    static Held &as(void *held) {
        return *std::launder(static_cast<Held *>(held));
    }

    template <class Held>
    static constexpr Kind kind{[](void *held) { return as<Held>(held).data(); },
                               [](void *held) { return as<Held>(held).size(); },
                               [](void *to, void *from) { new (to) Held(std::move(as<Held>(from))); },
                               [](void *held) { as<Held>(held).~Held(); }};

    explicit Message(std::nullptr_t) noexcept {}

    template <class Held>
    void hold(Held &&held) noexcept {
        static_assert(sizeof(Held) <= room && alignof(Held) <= alignof(void *));
        new (held_) Held(std::move(held));
        kind_ = &kind<Held>;
    }

    static constexpr size_t room = 64; // bytes; enough for one of ZeroMQ's messages
    const Kind *kind_ = nullptr;
    alignas(void *) mutable unsigned char held_[room];
};

} // namespace ps
