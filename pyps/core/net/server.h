// A node's server: a thread that takes what other nodes and workers send, answers what it can from the store and leaves
// the rest to the protocol.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <thread>
#include <unordered_map>

#include "membership/crossing.h"
#include "net/admission.h"
#include "net/connections.h"
#include "net/gates.h"
#include "net/mailbox.h"
#include "net/refusals.h"
#include "net/routers.h"
#include "net/senders.h"
#include "net/vigil.h"
#include "protocol/intents.h"
#include "protocol/protocol.h"
#include "store/room.h"
#include "store/traced_values.h"

namespace ps {

class Server {
public:
    // Bound, but it works only when it is connected.
    Server(std::shared_ptr<Segment> segment, Slabs &slabs, const std::string &endpoint, Trace *trace);
    ~Server();

    const std::string &endpoint() const { return endpoint_; }
    std::weak_ptr<ZmqContext> inside() const { return routers_.inside(); } // where workers of this process find it
    void connect(const std::vector<std::string> &endpoints);
    void leave(); // this node comes to its end
    bool is_alone_here() const; // this process serves no other node of the cluster that has not come to its end

private:
    // An operation of a worker of this node that waits for keys to land here.
    struct Waiter {
        AnswerBatch answer;
        uint32_t left;
        uint64_t bytes; // admitted
    };

    // A message that waits: until the epoch it belongs to is settled, or for what its sender said before.
    struct HeldBack {
        std::string peer;
        Bytes bytes;
    };

    void run() noexcept;
    void work();
    bool receive_some();
    void receive(const ZmqMessage &peer, const ZmqMessage &frame, ZmqSocket &router);
    void handle(const std::string &peer, const Sender &sender, const FrameHeader &header, FrameReader &reader);
    void serve(const RequestBatch &batch, Span values, bool forwarded);
    void leave_to_protocol(const RequestBatch &batch, const std::vector<int64_t> &elsewhere, Span values,
                           AnswerBatch *answer);
    bool has_parked(const std::vector<Key> &keys) const;
    void localize(const RequestBatch &batch);
    void lose(NodeId node);
    void say_goodbye();
    void finish_settling(bool is_quiet);
    void note_intents(); // for statistics
    void landed(uint64_t waiter, NodeId lost_with);
    bool has_room(Kept kept, uint64_t bytes) const;
    void want(const std::vector<Key> &keys);
    void take(const std::string &peer, const char *bytes, uint64_t size);
    void take_again(std::deque<HeldBack> *messages);
    void retry_parked();
    void take_late(const Sender &sender, const FrameHeader &header, FrameReader &reader);
    Crossing::Verdict judge(const FrameHeader &header) const;
    void begin_epoch(const Vigil::Epoch &epoch);
    void say_to_members(HoldsBatch::Phase phase);
    void receive(NodeId from, const HoldsBatch &batch);
    double patience() const;
    bool has_work() const;
    bool rest(double seconds);
    bool refuse(const FrameHeader &header);
    void take_leave(NodeId from);
    void look_for_losses();
    // `take(i)` for each key of a message; one that does not fit is refused alone.
    template <class Take>
    void each_by_itself(const std::vector<Key> &keys, Take &&take) {
        for (size_t i = 0; i < keys.size(); i++) {
            try {
                take(i);
            } catch (const Unexpected &error) {
                count_refusal(segment_->header(), error.what());
            }
        }
    }
    template <class Batch, class Take>
    void for_each(const Sender &sender, const FrameHeader &header, FrameReader &reader, Take &&take);

    std::shared_ptr<Segment> segment_;
    StoreShape shape_;
    ZmqContext context_;
    Routers routers_;
    std::unique_ptr<Admission> admission_; // with keys
    Connections peers_;
    Trace *const trace_; // null: nobody asked for one; outlives this
    TracedValues values_;
    Mailbox mailbox_;
    Protocol protocol_;
    Senders senders_;
    Crossing crossing_;
    std::deque<HeldBack> held_;
    std::deque<HeldBack> behind_; // parked steps of what their senders said before

    // A worker that waits until everything of a moment was exchanged, or until nothing is on its way.
    struct Settling {
        std::string worker;
        SettleMessage message;
        Mark mark;
    };

    Intents intents_;
    std::vector<Settling> settling_;
    Gates gates_;
    std::unordered_map<uint64_t, Waiter> waiters_;
    uint64_t last_waiter_ = 0;
    uint64_t admitted_ = 0; // bytes, of all waiters' keys
    std::string endpoint_;
    std::vector<bool> lost_;
    bool is_leaving_ = false;
    bool is_awake_ = false; // the last round had something to do, or somebody rang: another one comes soon
    bool rested_ = false; // since the last round
    std::atomic<bool> stop_{false};
    std::vector<double> told_; // when a node that was lost was last told so
    std::vector<bool> awaited_; // by node: its answer to the farewell
    std::unique_ptr<Vigil> vigil_;
    std::thread thread_;
};

} // namespace ps
