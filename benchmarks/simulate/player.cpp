#include "player.h"

#include <algorithm>
#include <utility>

namespace ps::simulate {

namespace {
constexpr double patience = 1e6; // seconds: no call gives up
constexpr size_t most_buffers = 64;
constexpr int64_t for_ever = int64_t(1) << 61; // so many clocks, and more; examples/apps say twice as many
constexpr size_t carriers_of_worker = 1; // as ZmqContext has them
} // namespace

void Meeting::come(Thread &self) {
    self.pay();
    waiting_.push_back(&self);
    if (waiting_.size() == count_) {
        times_.push_back(now);
        const double way = 2 * (cluster_.hosts.delay + cluster_.costs.send.once + cluster_.costs.receive.once);
        cluster_.events.at(now + (cluster_.hosts.nodes > 1 ? way : 0), [waiting = std::exchange(waiting_, {})] {
            for (Thread *thread : waiting) thread->wake();
        });
    }
    self.rest(HUGE_VAL, [] { return false; });
}

// A worker's own end of its connections.
class Player::Connection : public WorkerTransport, public Receiver {
public:
    Connection(Player &player, std::string name)
        : player_(player), name_(std::move(name)), sockets_(player.cluster_, player.node_, carriers_of_worker) {
        player_.node_.workers[name_] = this;
    }
    ~Connection() override { player_.node_.workers.erase(name_); }

    Message message(size_t bytes) override { return Message(Bytes(bytes)); }
    void reach(NodeId) override {}
    void send(NodeId to, Message &&message, bool) override {
        thread().charge(player_.cluster_.costs.send.of(0, message.size()));
        auto packet = std::make_shared<Packet>(Packet{player_.node_.id(), to, name_, false, std::move(message)});
        player_.node_.leave(packet, thread().time(), sockets_);
    }
    bool receive(Message *message) override {
        if (inbox_.empty()) return false;
        *message = std::move(inbox_.front());
        inbox_.pop_front();
        thread().charge(player_.cluster_.costs.receive.of(0, message->size()));
        return true;
    }
    bool wait(double seconds) override {
        thread().rest(seconds, [this] { return !inbox_.empty(); });
        return !inbox_.empty();
    }
    std::vector<NodeId> broken() override { return {}; }
    void arrive(Message &&message) override {
        inbox_.push_back(std::move(message));
        thread().wake();
    }
    void arrive(const std::shared_ptr<Packet> &packet) override { sockets_.arrive(packet); }
    const Sockets &sockets() const override { return sockets_; }

private:
    Thread &thread() { return player_.thread_; }

    Player &player_;
    const std::string name_;
    std::deque<Message> inbox_;
    Sockets sockets_;
};

class Player::Door : public Inside {
public:
    explicit Door(Player &player) : player_(player) {}
    std::unique_ptr<WorkerTransport> connect(const WorkerEnd &worker) override {
        return std::make_unique<Connection>(player_, worker.end.name);
    }

private:
    Player &player_;
};

Player::Player(Cluster &cluster, Node &node, Meeting &meeting, std::unique_ptr<Workload> workload)
    : cluster_(cluster), node_(node), meeting_(meeting),
      management_(Management(cluster.settings.integer("management"))), cold_(cluster.settings.number("cold")),
      workload_(std::move(workload)), door_(std::make_shared<Door>(*this)),
      thread_(cluster.events, node.processors(), cluster.costs, [this](Thread &self) { play(self); }) {
    auto attachment = std::make_shared<Attachment>(node.segment);
    attachment->server_inside = door_;
    worker_ = std::make_unique<ps_worker>(attachment);
}

void Player::play(Thread &self) {
    for (Step step; workload_->next(&step);) {
        play(self, step);
        node_.look_at_doorbell();
        self.pay();
    }
    worker_->wait_all(patience);
    const Counters &counters = node_.segment->slot(uint32_t(worker_->id())).counters;
    for (int operation : {PS_PULL, PS_PUSH}) {
        keys_ += uint64_t(counters.keys[operation].load());
        keys_local_ += uint64_t(counters.local[operation].load());
    }
    if (node_.segment->header().places > 1) worker_->settle(Until::quiet, patience);
}

void Player::play(Thread &self, const Step &step) {
    switch (step.kind) {
    case Step::Kind::compute: self.charge(step.seconds + coldness(self)); break;
    case Step::Kind::pull: run(PS_PULL, step); break;
    case Step::Kind::push: run(PS_PUSH, step); break;
    case Step::Kind::wait: wait_for_pulls(); break;
    case Step::Kind::tell: [[fallthrough]];
    case Step::Kind::tell_and_wait: [[fallthrough]];
    case Step::Kind::tell_sample: tell(step); break;
    case Step::Kind::advance:
        self.charge(cluster_.costs.call);
        worker_->advance_clock();
        break;
    case Step::Kind::sync:
        if (management_ < Management::intent) break;
        worker_->settle(step.start ? Until::told : Until::exchanged, patience, uint64_t(step.start));
        break;
    case Step::Kind::barrier: // as in examples/apps: with what was pushed before at the owners
        worker_->settle(Until::exchanged, patience);
        meeting_.come(self);
        break;
    }
}

// What a worker computes longer that has waited for another node: its caches are cold.
double Player::coldness(Thread &self) const {
    return self.longest_rest() >= cluster_.hosts.delay && cluster_.hosts.nodes > 1 ? cold_ : 0;
}

// The values stay where they are while an operation is on its way.
float *Player::buffer(size_t elements) {
    while (!buffers_.empty() && worker_->is_finished(buffers_.front().timestamp)) buffers_.pop_front();
    if (buffers_.size() == most_buffers) {
        worker_->wait(buffers_.front().timestamp, patience);
        buffers_.pop_front();
    }
    buffers_.push_back({-1, std::vector<float>(elements, 1.0f)});
    return buffers_.back().values.data();
}

void Player::wait_for_pulls() {
    for (int64_t timestamp : std::exchange(pulls_, {})) worker_->wait(timestamp, patience);
}

void Player::run(int32_t operation, const Step &step) {
    if (step.keys.empty()) return;
    uint64_t bytes = 0, asked = 0;
    for (int64_t key : step.keys) {
        bytes += node_.segment->value_bytes(uint64_t(key));
        asked += !node_.segment->place(uint64_t(key)).is_here();
    }
    const uint64_t count = step.keys.size(), each = bytes / count;
    thread_.charge(cluster_.costs.call + cluster_.costs.local.of(count - asked, (count - asked) * each));
    if (asked) thread_.charge(cluster_.costs.asked.of(asked, asked * each));
    ps_request request{};
    request.operation = operation;
    request.flags = PS_ASYNC;
    request.keys = step.keys.data();
    request.num_keys = int64_t(count);
    request.num_values = int64_t(bytes / sizeof(float));
    request.values = buffer(bytes / sizeof(float));
    const double began = thread_.fiber().ran();
    worker_->run(request, patience);
    buffers_.back().timestamp = request.timestamp;
    if (operation == PS_PUSH) pushed_ += double(bytes / sizeof(float));
    if (operation == PS_PULL) pulls_.push_back(request.timestamp);
    const double took = thread_.fiber().ran() - began;
    if (!asked) {
        cluster_.measured["local"].add(count, bytes, took);
        return;
    }
    cluster_.measured["asked"].add(asked, asked * each, took);
    cluster_.measured["beside asked"].add(count - asked, (count - asked) * each, 0); // local keys of the same calls
}

// What is drawn is never localized: the nodes' own scheme for that is to intend it.
void Player::tell(const Step &step) {
    if (management_ == Management::classic || step.keys.empty()) return;
    thread_.charge(cluster_.costs.call + cluster_.costs.tell * double(step.keys.size()));
    const auto count = int64_t(step.keys.size());
    const bool is_block = step.kind == Step::Kind::tell_and_wait && step.end < for_ever;
    if (is_block || (management_ == Management::relocation && step.kind != Step::Kind::tell_sample)) {
        const int64_t timestamp = worker_->localize(step.keys.data(), count);
        if (step.kind == Step::Kind::tell_and_wait) worker_->wait(timestamp, patience);
        return;
    }
    const int64_t clock = worker_->current_clock();
    worker_->intent(step.keys.data(), count, clock + step.start, clock + step.end);
    if (step.kind == Step::Kind::tell_and_wait) worker_->settle(Until::exchanged, patience);
}

} // namespace ps::simulate
