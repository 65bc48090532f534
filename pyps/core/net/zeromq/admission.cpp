#include "net/zeromq/admission.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <exception>
#include <vector>

#include "errors.h"
#include "net/zeromq/library.h"
#include "segment/process.h"

namespace ps {

namespace {

constexpr char where_to_ask[] = "inproc://zeromq.zap.01"; // the name that ZAP prescribes
// ZeroMQ's events for a handshake that failed because of the protocol or of keys, not because the client went away.
constexpr int handshake_failed = 0x2000 | 0x4000;
constexpr size_t parts_of_a_question = 7; // version, number, domain, address, name, mechanism, key
constexpr double long_time = 3600; // seconds

std::vector<std::string> receive_parts(ZmqSocket &socket) {
    std::vector<std::string> parts;
    for (bool more = true; more;) {
        ZmqMessage part;
        if (!socket.receive(&part)) break;
        parts.emplace_back(part.data(), part.size());
        more = part.more();
    }
    return parts;
}

} // namespace

Admission::Admission(ZmqContext &context, ZmqSocket &router, std::atomic<uint64_t> &refused)
    : router_(router), refused_(refused), admitted_(decode_z85(context.keys().public_key)),
      questions_(context, ZmqSocket::reply), events_(router.monitor(context, handshake_failed)),
      wake_(eventfd(0, EFD_CLOEXEC)) {
    if (wake_ < 0) fail_with_errno("eventfd");
    questions_.bind(where_to_ask);
    SignalsBlocked blocked;
    thread_ = std::thread([this] { run(); });
}

Admission::~Admission() {
    stop_ = true;
    eventfd_write(wake_, 1);
    thread_.join();
    router_.stop_monitor();
    ::close(wake_);
}

void Admission::run() noexcept {
    pthread_setname_np(pthread_self(), "ps-admission");
    try {
        while (!stop_) {
            wait_for_any({&questions_, &events_}, wake_, long_time);
            while (answer_one() || count_one()) {
            }
        }
    } catch (const std::exception &) {
        return; // memory may have run out: no client is admitted from now on
    }
}

bool Admission::answer_one() {
    std::vector<std::string> question = receive_parts(questions_);
    if (question.empty()) return false;
    bool fits = question.size() == parts_of_a_question && question[0] == "1.0";
    bool admits = fits && question[5] == "CURVE" && question[6] == admitted_;
    std::string number = fits ? question[1] : "";
    questions_.send({"1.0", number, admits ? "200" : "400", admits ? "OK" : "not a key of this cluster", "", ""});
    return true;
}

bool Admission::count_one() {
    if (receive_parts(events_).empty()) return false;
    refused_.fetch_add(1, std::memory_order_relaxed);
    return true;
}

} // namespace ps
