// How another process of the same user on the same host gets a node's shared memory: it connects to an abstract Unix
// socket, both sides check each other's user, and the server sends the descriptors of its memfd and its doorbell. An
// abstract socket leaves no file behind. There it can also ask about the node's tables.
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "segment/segment.h"

namespace ps {

// A descriptor that is closed at the end of its scope.
struct Descriptor {
    int number;
    explicit Descriptor(int fd) : number(fd) {}
    Descriptor(Descriptor &&other) noexcept : number(std::exchange(other.number, -1)) {}
    Descriptor &operator=(Descriptor &&other) noexcept {
        std::swap(number, other.number);
        return *this;
    }
    ~Descriptor() {
        if (number >= 0) ::close(number);
    }
};

enum class Ask : uint32_t { open, drop, names, options };
struct Question {
    Ask ask{};
    std::string name, options; // of a table; see Tables
    double timeout = 0; // seconds
};
using AnswerQuestion = std::function<std::string(const Question &question)>; // throws Failure

// Answers each client as soon as it has said who it is; a slow client does not delay the others. Each question has a
// thread of its own.
class Listener {
public:
    Listener(std::shared_ptr<Segment> segment, AnswerQuestion answer); // starts the thread that answers
    Listener(const Listener &) = delete;
    Listener &operator=(const Listener &) = delete;
    ~Listener(); // ends the thread; a forked child, which has no such thread, only closes the descriptors

    const std::string &address() const { return address_; }

private:
    struct Asked {
        std::thread thread;
        std::atomic<bool> is_over{false};
    };

    void run();
    void answer(Descriptor *client);
    void begin(Descriptor client, Question question);

    std::shared_ptr<Segment> segment_;
    const AnswerQuestion answer_;
    std::list<Asked> asked_; // of the listener's thread
    uint32_t generation_;
    std::string address_;
    int socket_ = -1;
    int stop_ = -1; // an eventfd
    pthread_t thread_;
};

std::shared_ptr<Segment> attach(const std::string &address, double timeout); // throws PS_EADDRESS, PS_EINVAL
// Returns the answer of the server at this address; throws its Failure, or PS_EADDRESS.
std::string ask(const std::string &address, const Question &question);

} // namespace ps
