#include "fibers.h"

#include <sys/mman.h>

#include <cmath>
#include <stdexcept>

namespace ps::simulate {

namespace {
constexpr size_t stack_bytes = 256 << 10; // of addresses; memory is used as far as the stack grows
}

Fiber::Fiber(Events &events, std::function<void()> body) : events_(events), body_(std::move(body)) {
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK;
    void *found = mmap(nullptr, stack_bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    if (found == MAP_FAILED) throw std::runtime_error("no memory for a fiber's stack");
    stack_ = static_cast<char *>(found);
    getcontext(&own_);
    own_.uc_stack.ss_sp = stack_;
    own_.uc_stack.ss_size = stack_bytes;
    own_.uc_link = &back_;
    const auto self = reinterpret_cast<uintptr_t>(this);
    makecontext(&own_, reinterpret_cast<void (*)()>(&Fiber::enter), 2, unsigned(self >> 32), unsigned(self));
    events_.go_on(now, *this, turn_);
}

Fiber::~Fiber() { munmap(stack_, stack_bytes); }

void Fiber::enter(unsigned high, unsigned low) {
    auto *self = reinterpret_cast<Fiber *>(uintptr_t(high) << 32 | low);
    try {
        self->body_();
    } catch (...) {
        self->events_.failure_ = std::current_exception();
    }
    self->ended_ = true;
    self->turn_++;
}

void Fiber::go_on() {
    began_ = real_seconds();
    swapcontext(&back_, &own_);
    ran_ += real_seconds() - began_;
}

void Fiber::give_way() { swapcontext(&own_, &back_); }

void Fiber::sleep(double seconds) {
    events_.go_on(now + seconds, *this, ++turn_);
    give_way();
}

bool Fiber::rest(double seconds) {
    resting_ = true;
    woken_ = false;
    turn_++;
    if (std::isfinite(seconds)) events_.go_on(now + seconds, *this, turn_);
    give_way();
    resting_ = false;
    return woken_;
}

void Fiber::wake(double after) {
    if (!resting_ || woken_) return;
    woken_ = true;
    events_.go_on(now + after, *this, ++turn_);
}

void Events::run(const std::function<bool()> &until) {
    while (!until()) {
        if (heap_.empty()) throw std::runtime_error("nothing can happen any more, and not all is done");
        std::pop_heap(heap_.begin(), heap_.end());
        Event next = std::move(heap_.back());
        heap_.pop_back();
        if (next.fiber && next.turn != next.fiber->turn_) continue;
        now = next.time;
        next.fiber ? next.fiber->go_on() : next.what();
        if (failure_) std::rethrow_exception(failure_);
    }
}

} // namespace ps::simulate
