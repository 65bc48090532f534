// A network between hosts of one machine, in user space: packets of each host's TUN interface go to the others' after a
// delay, as fast as the hosts' links carry them, and some are lost.
//
//   relay DELAY_NS NS_PER_BYTE LOSS SEED INTERFACE...
//
// makes the interfaces, says "ready", and passes packets on until its standard input ends; whoever started it puts each
// into a host meanwhile. Host number i, from 0, has the IPv4 address whose last byte is i + 1. Each host has a link to
// the network, in each direction one of so many nanoseconds for a byte, 0: any number at once. In the end it says, as
// JSON, how many packets it passed on, how many it lost as it should, how many no buffer had room for, how late packets
// came, and what time of a processor it took.
#include <linux/if.h>
#include <linux/if_tun.h>

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

constexpr size_t longest_packet = 65536;
constexpr size_t buffer_bytes = 64 << 20; // of each link, for packets that wait

int64_t now() {
    timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1'000'000'000) + time.tv_nsec;
}

[[noreturn]] void fail(const std::string &what) { throw std::runtime_error(what + ": " + std::strerror(errno)); }

int open_interface(const std::string &name) {
    ifreq request{};
    if (name.size() >= sizeof request.ifr_name) throw std::runtime_error(name + " is no name of an interface");
    std::memcpy(request.ifr_name, name.c_str(), name.size() + 1);
    request.ifr_flags = IFF_TUN | IFF_NO_PI;
    const int file = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) fail("/dev/net/tun");
    if (ioctl(file, TUNSETIFF, &request) < 0) fail("interface " + name);
    return file;
}

struct Packet {
    int64_t due;
    std::vector<char> bytes;
};

struct Host {
    int file;
    int64_t sent = 0, received = 0; // when its links are free again
    size_t waiting = 0; // bytes
    std::deque<Packet> packets = {}; // to it, in the order in which they are due
};

struct Network {
    int64_t delay;
    double per_byte, loss;
    std::mt19937_64 random;
    std::vector<Host> hosts = {};
    uint64_t passed = 0, lost = 0, dropped = 0;
    int64_t latest = 0, late = 0; // how late packets were: the most, and all together

    Host *destination(const std::vector<char> &packet) {
        if (packet.size() < 20 || (packet[0] >> 4 & 15) != 4) return nullptr; // IPv4 only
        const auto number = size_t(static_cast<unsigned char>(packet[19])) - 1;
        return number < hosts.size() ? &hosts[number] : nullptr;
    }

    void take(Host &from, std::vector<char> packet) {
        Host *to = destination(packet);
        if (!to) return;
        if (std::uniform_real_distribution<>()(random) < loss) {
            lost++;
            return;
        }
        if (to->waiting + packet.size() > buffer_bytes) {
            dropped++;
            return;
        }
        const auto duration = int64_t(per_byte * double(packet.size()));
        from.sent = std::max(now(), from.sent) + duration;
        to->received = std::max(from.sent + delay, to->received + duration);
        to->waiting += packet.size();
        to->packets.push_back({to->received, std::move(packet)});
    }

    void read_all() {
        std::vector<char> packet;
        for (Host &host : hosts)
            for (;;) {
                packet.resize(longest_packet);
                const ssize_t count = read(host.file, packet.data(), packet.size());
                if (count <= 0) break;
                packet.resize(size_t(count));
                packet.shrink_to_fit();
                take(host, std::move(packet));
            }
    }

    // Those that are due; returns when the next one will be, or -1.
    int64_t pass_on() {
        int64_t next = -1;
        for (Host &host : hosts) {
            for (; !host.packets.empty() && host.packets.front().due <= now(); host.packets.pop_front()) {
                const Packet &packet = host.packets.front();
                const int64_t behind = now() - packet.due;
                latest = std::max(latest, behind);
                late += behind;
                host.waiting -= packet.bytes.size();
                if (write(host.file, packet.bytes.data(), packet.bytes.size()) < 0)
                    dropped++;
                else
                    passed++;
            }
            if (!host.packets.empty() && (next < 0 || host.packets.front().due < next)) next = host.packets.front().due;
        }
        return next;
    }

    void run() {
        std::vector<pollfd> files{{STDIN_FILENO, POLLIN, 0}};
        for (const Host &host : hosts) files.push_back({host.file, POLLIN, 0});
        for (;;) {
            const int64_t next = pass_on();
            const int64_t left = std::max<int64_t>(next - now(), 0);
            const timespec timeout{left / 1'000'000'000, left % 1'000'000'000};
            if (ppoll(files.data(), files.size(), next < 0 ? nullptr : &timeout, nullptr) < 0 && errno != EINTR)
                fail("poll");
            if (files[0].revents) return;
            read_all();
        }
    }

    void report() const {
        rusage usage;
        getrusage(RUSAGE_SELF, &usage);
        const auto seconds = [](const timeval &time) { return double(time.tv_sec) + double(time.tv_usec) / 1e6; };
        std::printf("{\"passed\": %llu, \"lost\": %llu, \"dropped\": %llu, \"late\": %.9f, \"latest\": %.9f, "
                    "\"core_seconds\": %.6f}\n",
                    static_cast<unsigned long long>(passed), static_cast<unsigned long long>(lost),
                    static_cast<unsigned long long>(dropped), passed ? double(late) / 1e9 / double(passed) : 0.0,
                    double(latest) / 1e9, seconds(usage.ru_utime) + seconds(usage.ru_stime));
    }
};

} // namespace

int main(int count, char **arguments) {
    try {
        if (count < 6) throw std::runtime_error("relay DELAY_NS NS_PER_BYTE LOSS SEED INTERFACE...");
        prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL); // else the system may wake it 50 us late
        const sched_param first{sched_get_priority_min(SCHED_FIFO) + 1}; // a network waits for no program
        if (sched_setscheduler(0, SCHED_FIFO, &first) < 0) fail("priority");
        Network network{std::strtoll(arguments[1], nullptr, 10), std::strtod(arguments[2], nullptr),
                        std::strtod(arguments[3], nullptr), std::mt19937_64(std::strtoull(arguments[4], nullptr, 10))};
        for (int i = 5; i < count; i++) network.hosts.push_back({open_interface(arguments[i])});
        std::printf("ready\n");
        std::fflush(stdout);
        network.run();
        network.report();
        return 0;
    } catch (const std::exception &error) {
        std::fprintf(stderr, "relay: %s\n", error.what());
        return 1;
    }
}
