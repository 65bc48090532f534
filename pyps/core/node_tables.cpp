// The named tables of a node: each is a ps_node of its own.
#include <cmath>
#include <utility>

#include "errors.h"
#include "mixing.h"
#include "net/peer.h"
#include "net/remote.h"
#include "node.h"
#include "tables/options.h"
#include "worker/loss.h"

using namespace ps;

namespace {

constexpr double joins_for = 0.05; // seconds, before other tables are looked at

std::string without_port(const std::string &address) { return address.substr(0, address.rfind(':')); }

// Where a table's node is bound: beside the node that has the table.
std::string place_beside(const std::string &endpoint, uint64_t number) {
    if (endpoint.rfind("tcp://", 0) == 0) return without_port(endpoint) + ":*";
    if (endpoint.rfind("ipc://", 0) == 0) return endpoint + "." + std::to_string(number);
    return "memory://*?beside=" + endpoint.substr(endpoint.rfind('/') + 1);
}

// `compression`: of the node's deltas, as text.
ps_node_options beside(const Header &header, const TableOptions &table, const std::string &compression, size_t first,
                       uint64_t number) {
    ps_node_options options = table.for_node();
    if (Compression::takes(table.dtype)) options.compression = compression.c_str();
    options.max_workers = int32_t(header.max_workers);
    options.latch_timeout = header.latch_timeout;
    options.num_nodes = int32_t(first);
    options.places = int32_t(header.places);
    options.node = int32_t(header.node);
    options.techniques = int32_t(header.techniques);
    options.replicas = int32_t(header.replicas);
    options.cluster = mix(header.cluster + number);
    options.heartbeat = header.heartbeat;
    options.lost_after = header.lost_after;
    options.on_loss = int32_t(header.on_loss);
    options.in_flight = int64_t(header.in_flight);
    options.server_threads = int32_t(header.num_channels);
    return options;
}

class OwnTable final : public TableNode {
public:
    OwnTable(std::shared_ptr<Segment> beside, ps_node *node, uint64_t number)
        : beside_(std::move(beside)), node_(node), number_(number) {}

    std::string bind() override {
        const Header &header = beside_->header();
        const CurveKeys keys = keys_of(*beside_);
        if (!keys.public_key.empty()) node_->secure(keys);
        if (header.places == 1) return "here";
        return node_->bind(place_beside(beside_->endpoint(header.node), number_));
    }
    bool connect(const std::vector<std::string> &endpoints) override {
        if (beside_->header().places == 1) return true;
        Attachment &attachment = *node_->attachment();
        if (!attachment.segment->joins()) return node_->connect(endpoints), true;
        attachment.patience = joins_for;
        const bool is_member = node_->join(endpoints, HUGE_VAL) == PS_OK;
        attachment.patience = HUGE_VAL;
        return is_member;
    }
    void end_workers(const std::string &why) override { node_->end_workers(why); }
    void shut_down(bool with_others) override {
        node_->end_workers();
        if (with_others || beside_->header().leave_rounds.load(std::memory_order_acquire)) node_->end_together();
        node_->shutdown();
    }
    std::shared_ptr<Attachment> attachment() const { return node_->attachment(); }
    std::string listen() const { return node_->listen(); }

private:
    const std::shared_ptr<Segment> beside_;
    const std::unique_ptr<ps_node> node_;
    const uint64_t number_;
};

// Whether what another node offers at this URL can be reached: on a loopback only if both nodes are on one host.
bool is_reached(const Segment &segment, NodeId node, const std::string &url) {
    const std::string host = without_port(url);
    const bool is_loopback = host.rfind("http://127.", 0) == 0 || host == "http://[::1]" || host == "http://localhost";
    return !is_loopback ||
           without_port(segment.endpoint(node)) == without_port(segment.endpoint(segment.header().node));
}

} // namespace

std::shared_ptr<Tables> ps_node::make_tables(const std::shared_ptr<Segment> &segment) {
    const Header &header = segment->header();
    auto make = [segment](const Declaration &declared, uint64_t number) {
        const TableOptions table = TableOptions::read(declared.options);
        const std::string compression = segment->header().compression.describe();
        const ps_node_options options = beside(segment->header(), table, compression, declared.first.size(), number);
        std::unique_ptr<ps_node> node(ps_node::create(options, PushRule::read(table.optimizer),
                                                      Initializer::read(table.initializer), Part::table,
                                                      declared.first));
        return std::make_shared<OwnTable>(segment, node.release(), number);
    };
    auto note_metrics = [segment](NodeId node, const std::string &url) {
        if (!url.empty() && url.size() < sizeof MemberSlot::metrics && is_reached(*segment, node, url))
            segment->note_metrics(node, url);
    };
    const Tables::Cluster cluster{NodeId(header.places), segment->first(), header.replicas > 0, note_metrics};
    return std::make_shared<Tables>(header_from(*segment), cluster, make, [segment] { segment->doorbell().ring(); });
}

std::vector<std::shared_ptr<Segment>> ps_node::segments() {
    std::vector<std::shared_ptr<Segment>> segments{attachment()->segment};
    if (const std::shared_ptr<Tables> tables = own_tables())
        for (const std::shared_ptr<TableNode> &table : tables->nodes())
            segments.push_back(static_cast<OwnTable &>(*table).attachment()->segment);
    return segments;
}

// Of the process that created the node; null in others.
std::shared_ptr<Tables> ps_node::own_tables() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!attachment_) fail(PS_ECLOSED, Where{}, "the node was shut down");
    if (attachment_->is_table) fail(PS_EINVAL, Where{}, "a table has no tables");
    if (!attachment_->address.empty()) return nullptr;
    if (!is_creator())
        fail(PS_EINVAL, Where{}, "a forked process opens tables of a node that it has attached to, by its address");
    const Header &header = attachment_->segment->header();
    if (header.places > 1 && !header.connected.load(std::memory_order_acquire))
        fail(PS_ESTATE, Where{}, "a node has tables when it is connected");
    return tables_;
}

int32_t ps_node::table(const std::string &name, const std::string &options, double timeout, ps_node **table) {
    const std::shared_ptr<Attachment> attachment = this->attachment();
    attachment->require_open();
    const double patience = attachment->patience;
    if (const std::shared_ptr<Tables> tables = own_tables()) {
        const std::shared_ptr<TableNode> found = tables->open(name, options, timeout, patience);
        if (!found) return PS_EBUSY;
        *table = new ps_node(static_cast<OwnTable &>(*found).attachment());
        return PS_OK;
    }
    std::string address;
    const int32_t code = ask_server(*attachment, {Ask::open, name, options, timeout}, &address);
    if (code == PS_OK) *table = attach(address, timeout), (*table)->attachment_->is_table = true;
    return code;
}

int32_t ps_node::drop_table(const std::string &name, double timeout) {
    const std::shared_ptr<Attachment> attachment = this->attachment();
    attachment->require_open();
    if (const std::shared_ptr<Tables> tables = own_tables())
        return tables->drop(name, timeout, attachment->patience) ? PS_OK : PS_EBUSY;
    std::string nothing;
    return ask_server(*attachment, {Ask::drop, name, "", timeout}, &nothing);
}

// One name per line.
std::string ps_node::table_names() {
    const std::shared_ptr<Attachment> attachment = this->attachment();
    const Header &header = attachment->segment->header();
    std::string found;
    if (attachment->is_table || (header.places > 1 && !header.connected.load(std::memory_order_acquire))) return found;
    if (!attachment->address.empty()) return ask(attachment->address, {Ask::names, "", "", default_wait_timeout});
    const std::shared_ptr<Tables> tables = own_tables();
    for (const std::string &name : tables->names()) found += name + "\n";
    return found;
}

std::string ps_node::table_options(const std::string &name) {
    const std::shared_ptr<Attachment> attachment = this->attachment();
    attachment->require_open();
    if (const std::shared_ptr<Tables> tables = own_tables()) return tables->options(name);
    return ask(attachment->address, {Ask::options, name, "", default_wait_timeout});
}

// The server is asked as long as the patience lasts. A drop is over when the table has gone, also if it was an earlier
// call that has asked for it.
int32_t ps_node::ask_server(Attachment &attachment, Question question, std::string *answer) {
    const double patience = attachment.patience, timeout = question.timeout;
    question.timeout = std::min(timeout, patience);
    try {
        *answer = ask(attachment.address, question);
    } catch (const Failure &failure) {
        if (failure.error().code == PS_ETIMEDOUT && timeout > patience) return PS_EBUSY;
        throw;
    }
    return PS_OK;
}

std::string ps_node::answer(const Question &question) {
    const std::shared_ptr<Tables> tables = own_tables();
    switch (question.ask) {
    case Ask::open:
        return static_cast<OwnTable &>(*tables->open(question.name, question.options, question.timeout, HUGE_VAL))
            .listen();
    case Ask::drop: tables->drop(question.name, question.timeout, HUGE_VAL); return "";
    case Ask::names: return table_names();
    case Ask::options: return tables->options(question.name);
    }
    fail(PS_EINVAL, Where{-1, int64_t(question.ask), 0}, "question %u is unknown", uint32_t(question.ask));
}
