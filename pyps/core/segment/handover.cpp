#include "segment/handover.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

#include "errors.h"
#include "segment/process.h"

namespace ps {

namespace {

constexpr char scheme[] = "unix:@";
constexpr uint32_t hello_magic = 0x73707970, asking_magic = 0x71707970;
constexpr double patience_with_clients = 30.0; // seconds a client may take to say who it is
// Clients that have not done so; if there are more, the one that has waited longest is closed.
constexpr size_t most_clients = 256;
constexpr size_t most_of_an_answer = 1 << 17; // bytes of the text of an answer
constexpr int pause_without_descriptors = 100; // milliseconds to wait when no descriptor is left for a client

struct Hello {
    uint32_t magic;
    int32_t abi;
    int32_t pid; // in the client's pid namespace
};

// A client that asks sends this instead.
struct Asking {
    Hello hello; // with asking_magic
    Ask ask;
    double timeout;
    char name[80], options[2056];
};

struct Reply {
    ps_error error; // its code is PS_OK if there is none; the answer's text follows
};

struct Answer {
    uint32_t magic;
    int32_t code;
    uint64_t reserved_bytes;
    char reason[112];
};

// A client that has connected and has not said who it is.
struct Client {
    Descriptor socket;
    double deadline; // in monotonic_seconds()
};

sockaddr_un abstract_name(const std::string &name, socklen_t *size) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    *size = socklen_t(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    return address;
}

void set_timeout(int socket, double seconds) {
    timeval time{time_t(seconds), suseconds_t((seconds - double(time_t(seconds))) * 1e6)};
    if (!time.tv_sec && !time.tv_usec) time.tv_usec = 1;
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof time);
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof time);
}

ucred peer_of(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0) peer.uid = uid_t(-1);
    return peer;
}

// The descriptors of a node's memory and doorbell.
struct Descriptors {
    int numbers[2];
};

void send_answer(int client, const Answer &answer, const Descriptors *descriptors) {
    Answer copy = answer;
    iovec part{&copy, sizeof copy};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(Descriptors))] = {};
    if (descriptors) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(Descriptors));
        std::memcpy(CMSG_DATA(header), descriptors, sizeof(Descriptors));
    }
    // A client that has gone needs no answer.
    while (sendmsg(client, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno == EINTR) {
    }
}

void refuse(int client, const char *format, int theirs, int ours) {
    Answer answer{hello_magic, PS_EADDRESS, 0, ""};
    std::snprintf(answer.reason, sizeof answer.reason, format, theirs, ours);
    send_answer(client, answer, nullptr);
}

void receive_answer(int socket, Answer *answer, const std::string &address, Descriptor *memory, Descriptor *doorbell) {
    iovec part{answer, sizeof *answer};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(Descriptors))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    ssize_t size;
    do size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (size < 0 && errno == EINTR);
    for (cmsghdr *header = CMSG_FIRSTHDR(&message); size >= 0 && header; header = CMSG_NXTHDR(&message, header))
        if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS) {
            const unsigned char *numbers = CMSG_DATA(header);
            std::memcpy(&memory->number, numbers, sizeof(int));
            if (header->cmsg_len == CMSG_LEN(sizeof(Descriptors)))
                std::memcpy(&doorbell->number, numbers + sizeof(int), sizeof(int));
        }
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        fail(PS_EADDRESS, Where{-1, errno, 0},
             "the server at %s did not answer in time: its process stands still, or has no file descriptors left",
             address.c_str());
    if (size != ssize_t(sizeof *answer) || answer->magic != hello_magic)
        fail(PS_EADDRESS, Where{}, "no server answered at %s", address.c_str());
    answer->reason[sizeof answer->reason - 1] = 0;
}

} // namespace

Listener::Listener(std::shared_ptr<Segment> segment, AnswerQuestion answer)
    : segment_(std::move(segment)), answer_(std::move(answer)), generation_(fork_generation()) {
    uint64_t random = 0;
    if (getrandom(&random, sizeof random, 0) != sizeof random) fail_with_errno("getrandom");
    char name[64];
    std::snprintf(name, sizeof name, "pyps-%d-%016llx", int(getpid()), static_cast<unsigned long long>(random));
    Descriptor listening{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    Descriptor stop{eventfd(0, EFD_CLOEXEC)};
    if (listening.number < 0 || stop.number < 0) fail_with_errno("socket");
    socklen_t size;
    sockaddr_un address = abstract_name(name, &size);
    if (bind(listening.number, reinterpret_cast<sockaddr *>(&address), size) < 0) fail_with_errno("bind");
    if (listen(listening.number, 128) < 0) fail_with_errno("listen");
    address_ = std::string(scheme) + name;
    socket_ = listening.number;
    stop_ = stop.number;
    auto run_self = [](void *self) -> void * { return static_cast<Listener *>(self)->run(), nullptr; };
    int error;
    {
        SignalsBlocked blocked;
        error = pthread_create(&thread_, nullptr, run_self, this);
    }
    if (error) {
        errno = error;
        fail_with_errno("pthread_create");
    }
    listening.number = stop.number = -1;
}

Listener::~Listener() {
    if (generation_ == fork_generation()) {
        eventfd_write(stop_, 1);
        pthread_join(thread_, nullptr);
        for (Asked &asked : asked_) asked.thread.join();
    }
    ::close(socket_);
    ::close(stop_);
}

void Listener::run() {
    pthread_setname_np(pthread_self(), "ps-listener");
    std::vector<Client> clients; // the one that has waited longest is first
    std::vector<pollfd> events;
    clients.reserve(most_clients);
    events.reserve(2 + most_clients);
    for (;;) {
        events.assign({{stop_, POLLIN, 0}, {socket_, POLLIN, 0}});
        for (const Client &client : clients) events.push_back({client.socket.number, POLLIN, 0});
        double left = clients.empty() ? 0 : std::max(0.0, clients.front().deadline - monotonic_seconds());
        if (poll(events.data(), events.size(), clients.empty() ? -1 : int(left * 1000) + 1) < 0) continue;
        if (events[0].revents) return;
        double now = monotonic_seconds();
        for (size_t i = clients.size(); i--;) {
            if (events[2 + i].revents)
                answer(&clients[i].socket);
            else if (now < clients[i].deadline)
                continue;
            clients.erase(clients.begin() + ptrdiff_t(i));
        }
        if (!events[1].revents) continue;
        Descriptor client(accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC));
        if (client.number < 0) {
            poll(events.data(), 1, pause_without_descriptors);
            continue;
        }
        if (ucred peer = peer_of(client.number); peer.uid != geteuid()) {
            refuse(client.number, "user %d may not attach to a server of user %d", int(peer.uid), int(geteuid()));
            continue;
        }
        if (clients.size() == most_clients) clients.erase(clients.begin());
        clients.push_back({std::move(client), now + patience_with_clients});
    }
}

void Listener::answer(Descriptor *socket) {
    const int client = socket->number, pid = peer_of(client).pid;
    Asking asking{};
    const Hello &hello = asking.hello;
    const ssize_t size = recv(client, &asking, sizeof asking, MSG_DONTWAIT);
    const bool asks = size == ssize_t(sizeof asking) && hello.magic == asking_magic;
    if (!asks && (size != ssize_t(sizeof hello) || hello.magic != hello_magic)) return; // no client of ours
    if (hello.abi != PS_ABI_VERSION)
        return refuse(client, "libps of the client has version %d, the server's has %d: install the same one",
                      hello.abi, PS_ABI_VERSION);
    if (hello.pid != pid)
        return refuse(client, "the client is process %d for itself and %d for the server: different pid namespaces",
                      hello.pid, pid);
    if (asks) {
        asking.name[sizeof asking.name - 1] = asking.options[sizeof asking.options - 1] = 0;
        return begin(std::move(*socket), {asking.ask, asking.name, asking.options, asking.timeout});
    }
    Descriptors descriptors{{segment_->mapping().fd(), segment_->doorbell().fd()}};
    send_answer(client, Answer{hello_magic, PS_OK, segment_->header().reserved_bytes, ""}, &descriptors);
}

void Listener::begin(Descriptor client, Question question) {
    for (auto asked = asked_.begin(); asked != asked_.end();) {
        if (!asked->is_over) {
            ++asked;
            continue;
        }
        asked->thread.join();
        asked = asked_.erase(asked);
    }
    Asked &asked = asked_.emplace_back();
    asked.thread = std::thread([this, &asked, question, socket = std::make_shared<Descriptor>(std::move(client))] {
        Reply reply{};
        std::string text;
        if (guarded([&] { return text = answer_(question), int32_t(PS_OK); }) != PS_OK) reply.error = *ps_last_error();
        std::string message(reinterpret_cast<const char *>(&reply), sizeof reply);
        message += text;
        while (send(socket->number, message.data(), message.size(), MSG_NOSIGNAL) < 0 && errno == EINTR) {
        }
        asked.is_over = true;
    });
}

namespace {

Descriptor reach(const std::string &address, double timeout) {
    const size_t prefix = sizeof scheme - 1;
    socklen_t size;
    if (address.compare(0, prefix, scheme) != 0 || address.size() == prefix ||
        address.size() - prefix > sizeof(sockaddr_un::sun_path) - 2)
        fail(PS_EINVAL, Where{}, "'%.100s' is not an address of a server: use server.address, like unix:@pyps-...",
             address.c_str());
    sockaddr_un name = abstract_name(address.substr(prefix), &size);
    Descriptor socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    if (socket.number < 0) fail_with_errno("socket");
    set_timeout(socket.number, timeout);
    if (connect(socket.number, reinterpret_cast<sockaddr *>(&name), size) < 0)
        fail(PS_EADDRESS, Where{-1, errno, 0}, "no server at %s: %s", address.c_str(), std::strerror(errno));
    ucred peer = peer_of(socket.number);
    if (peer.uid != geteuid()) fail(PS_EADDRESS, Where{}, "%s belongs to user %d", address.c_str(), int(peer.uid));
    return socket;
}

} // namespace

std::string ask(const std::string &address, const Question &question) {
    constexpr double longer = 10.0; // seconds, so that the server says itself that the time is over
    Descriptor socket = reach(address, question.timeout + longer);
    Asking asking{};
    asking.hello = {asking_magic, PS_ABI_VERSION, int32_t(getpid())};
    asking.ask = question.ask;
    asking.timeout = question.timeout;
    if (question.name.size() >= sizeof asking.name || question.options.size() >= sizeof asking.options)
        fail(PS_EINVAL, Where{}, "a table's name or its options are too long");
    question.name.copy(asking.name, question.name.size());
    question.options.copy(asking.options, question.options.size());
    ssize_t size;
    do size = send(socket.number, &asking, sizeof asking, MSG_NOSIGNAL);
    while (size < 0 && errno == EINTR);
    if (size != ssize_t(sizeof asking))
        fail(PS_EADDRESS, Where{-1, errno, 0}, "%s went away: %s", address.c_str(), std::strerror(errno));
    std::vector<char> room(sizeof(Reply) + most_of_an_answer);
    do size = recv(socket.number, room.data(), room.size(), 0);
    while (size < 0 && errno == EINTR);
    if (size < ssize_t(sizeof(Reply)))
        fail(PS_EADDRESS, Where{-1, size < 0 ? errno : 0, 0}, "the server at %s did not answer", address.c_str());
    Reply reply;
    std::memcpy(&reply, room.data(), sizeof reply);
    reply.error.message[sizeof reply.error.message - 1] = 0;
    if (reply.error.code != PS_OK) throw Failure(reply.error);
    return {room.data() + sizeof reply, size_t(size) - sizeof reply};
}

std::shared_ptr<Segment> attach(const std::string &address, double timeout) {
    Descriptor socket = reach(address, timeout);
    Hello hello{hello_magic, PS_ABI_VERSION, int32_t(getpid())};
    if (send(socket.number, &hello, sizeof hello, MSG_NOSIGNAL) != ssize_t(sizeof hello))
        fail(PS_EADDRESS, Where{-1, errno, 0}, "%s went away: %s", address.c_str(), std::strerror(errno));
    Answer answer{};
    Descriptor memory(-1), doorbell(-1);
    receive_answer(socket.number, &answer, address, &memory, &doorbell);
    if (answer.code != PS_OK || memory.number < 0 || doorbell.number < 0)
        fail(PS_EADDRESS, Where{}, "%s refused: %s", address.c_str(), answer.reason);
    Doorbell bell(std::exchange(doorbell.number, -1));
    return Segment::adopt(std::exchange(memory.number, -1), std::move(bell), answer.reserved_bytes);
}

} // namespace ps
