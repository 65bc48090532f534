#include "segment/segment.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

#include "counting.h"
#include "errors.h"
#include "requests/in_flight.h"
#include "sampling/sampling_area.h"
#include "segment/node_options.h"
#include "store/kernels.h"

namespace ps {

namespace {

constexpr uint64_t magic = 0x65646974'73707970; // "pypstide"
constexpr uint32_t default_workers = 256;
constexpr double default_latch_timeout = 10.0;
// On a node that lets keys go, slabs are a small part of the memory limit, and smaller where they go from one length of
// values to another.
constexpr uint64_t slabs_in_limit = 32, smallest_slab = 16 << 10, largest_moving_slab = 64 << 10;

// Whether keys of one length go for values of another one.
bool moves_memory(const ps_node_options &options) {
    return options.eviction != PS_EVICT_NONE && options.memory_limit > 0 && options.num_lengths > 1;
}

uint64_t slab_bytes_each(const ps_node_options &options) {
    if (options.eviction == PS_EVICT_NONE || options.memory_limit == 0) return usual_slab;
    const uint64_t part = uint64_t(options.memory_limit) / (slabs_in_limit * uint64_t(options.num_lengths));
    const uint64_t largest = moves_memory(options) ? largest_moving_slab : usual_slab;
    return std::clamp(round_down(part, Mapping::page), smallest_slab, largest);
}

uint64_t changes_bytes(uint64_t rows) { return round_up(Changes::bytes(rows), 64); } // for one channel

// The classes with the number of keys in each: of a range, sorted by length; where keys may be any numbers, as they
// were given, and all keys may be of one class.
std::vector<LengthClass> classify(const ps_node_options &options, const PushRule &push) {
    std::vector<int64_t> lengths(options.value_lengths, options.value_lengths + options.num_lengths);
    const bool is_range = options.capacity == 0;
    if (is_range) std::sort(lengths.begin(), lengths.end());
    std::vector<LengthClass> classes;
    uint64_t each = !is_range ? uint64_t(options.capacity) : lengths.size() == 1 ? uint64_t(options.num_keys) : 1;
    for (int64_t length : lengths) {
        if (!is_range || classes.empty() || classes.back().length != length)
            classes.emplace_back(uint32_t(length), options.dtype, push, moves_memory(options));
        classes.back().keys += each;
    }
    if (classes.size() > most_classes)
        fail(PS_EINVAL, Where{-1, int64_t(classes.size()), most_classes},
             "%zu different value lengths were given; at most %u are possible: round some up", classes.size(),
             most_classes);
    return classes;
}

} // namespace

LengthClass::LengthClass(uint32_t elements, int32_t dtype, const PushRule &push, bool has_row)
    : base(0), length(elements), keys(0), value_bytes(uint64_t(elements) * element_bytes(dtype)), shared_base(0),
      rule(push.number) {
    uint64_t plain = round_up(value_bytes, 8), state = push.state_bytes(elements, dtype);
    state_at = state ? uint32_t(plain) : 0;
    whole_bytes = state ? plain + state : value_bytes;
    const uint64_t slot = round_up(whole_bytes + (has_row ? sizeof(uint32_t) : 0), 8);
    slot_bytes = uint32_t(slot);
    row_at = has_row ? slot_bytes - uint32_t(sizeof(uint32_t)) : 0;
    if (slot > UINT32_MAX)
        fail(PS_EINVAL, Where{-1, int64_t(whole_bytes), UINT32_MAX},
             "a value of %u elements takes %llu bytes with its state; at most %u are possible", elements,
             static_cast<unsigned long long>(whole_bytes), UINT32_MAX);
    shared_bytes = sizeof(SharedHead) + slot_bytes + plain;
}

static Compression compression_of(const ps_node_options &options) {
    return Compression::read(options.compression ? options.compression : "", options.dtype);
}

void Segment::check(const ps_node_options &options, const PushRule &push, const Initializer &initializer) {
    check_options(options);
    push.require(options.dtype);
    initializer.require(options.dtype);
    compression_of(options);
}

std::shared_ptr<Segment> Segment::create(const ps_node_options &options, const PushRule &push,
                                         const Initializer &initializer, const std::vector<NodeId> &members) {
    check(options, push, initializer);
    std::vector<LengthClass> classes = classify(options, push);
    Header plan{};
    plan.magic = magic;
    plan.abi = PS_ABI_VERSION;
    plan.dtype = options.dtype;
    plan.initializer = initializer;
    plan.compression = compression_of(options);
    plan.num_keys = options.num_keys;
    plan.capacity = std::max(options.num_keys, options.capacity);
    const auto [shortest, longest] = std::minmax_element(
        classes.begin(), classes.end(), [](const LengthClass &a, const LengthClass &b) { return a.length < b.length; });
    plan.longest_value = longest->length;
    plan.value_length = shortest->length == longest->length ? longest->length : 0;
    plan.element_bytes = element_bytes(options.dtype);
    plan.num_classes = uint32_t(classes.size());
    plan.max_workers = options.max_workers ? uint32_t(options.max_workers) : default_workers;
    plan.num_workers = uint32_t(options.num_workers);
    plan.memory_limit = uint64_t(options.memory_limit);
    plan.latch_timeout = options.latch_timeout > 0 ? options.latch_timeout : default_latch_timeout;
    plan.server = Process::self();
    plan.classes_at = round_up(sizeof(Header), 64);
    plan.places = uint32_t(places_of(options));
    plan.node = uint32_t(options.node);
    plan.num_channels = plan.has_server() && options.server_threads > 1 ? uint32_t(options.server_threads) : 1;
    for (const LengthClass &c : classes)
        plan.undo_bytes = std::max(plan.undo_bytes, round_up(plan.places > 1 ? c.shared_bytes : c.whole_bytes, 64));
    plan.techniques = uint32_t(options.techniques);
    plan.replicas = plan.places > 1 ? uint32_t(options.replicas) : 0;
    plan.cluster = options.cluster;
    plan.heartbeat = heartbeat_of(options);
    plan.lost_after = lost_after_of(options);
    plan.on_loss = uint32_t(options.on_loss);
    plan.admission = options.admission > 1 ? uint32_t(options.admission) : 0;
    plan.in_flight = uint64_t(options.in_flight ? options.in_flight : default_in_flight);
    plan.endpoints_at = round_up(plan.classes_at + classes.size() * sizeof(LengthClass), 64);
    plan.members_at = plan.endpoints_at + plan.places * endpoint_bytes;
    plan.slots_at = round_up(plan.members_at + plan.places * sizeof(MemberSlot), 64);
    const RangeRows range(uint64_t(plan.num_keys), plan.places);
    const uint64_t rows = plan.is_range() ? range.size() : HashedRows::numbers(uint64_t(plan.capacity));
    const uint64_t before_own = plan.is_range() ? number_of(range.first(plan.node)) * sizeof(Entry) : 0;
    const uint64_t slots = plan.max_workers + plan.num_channels;
    plan.channels_at = plan.slots_at + slots * sizeof(WorkerSlot);
    plan.rows_at = plan.directory_at = plan.channels_at + plan.num_channels * sizeof(ChannelWords);
    if (!plan.is_range()) {
        plan.rows_at = round_up(plan.rows_at, Mapping::large_page);
        plan.directory_at = round_up(plan.rows_at + HashedRows::bytes(uint64_t(plan.capacity)), Mapping::large_page);
    }
    if (before_own) plan.directory_at = round_up(plan.directory_at + before_own, Mapping::large_page) - before_own;
    plan.here_at = plan.directory_at + rows * sizeof(Entry);
    uint64_t blocks = (rows + here_block - 1) / here_block;
    plan.changes_at = round_up(plan.here_at + blocks * sizeof(uint32_t), 64);
    plan.undo_at = round_up(plan.changes_at + plan.num_channels * changes_bytes(rows), 4096);
    plan.eviction = Eviction(options.eviction);
    plan.slab_bytes_each = slab_bytes_each(options);
    if (plan.eviction != Eviction::none) {
        plan.uses_at = plan.undo_at;
        plan.undo_at = round_up(plan.uses_at + uint64_t(plan.capacity), 4096);
    }
    plan.max_age = options.max_age;
    if (plan.max_age > 0) {
        static_assert(sizeof(Ages::Clock) <= Mapping::page);
        plan.ages_at = plan.undo_at;
        plan.undo_at = round_up(plan.ages_at + Mapping::page + uint64_t(plan.capacity), 4096);
    }
    plan.values_at = round_up(plan.undo_at + slots * plan.undo_bytes, 4096);
    uint64_t end = plan.values_at;
    for (LengthClass &c : classes) {
        c.base = end;
        c.shared_base = round_up(end + c.keys * c.slot_bytes, 4096);
        end = round_up(c.shared_base + c.keys * c.shared_bytes, 4096);
        if (plan.is_range()) plan.total_values += int64_t(c.keys * c.length);
    }
    plan.sampling_at = end;
    plan.reserved_bytes = round_up(end + sampling_bytes(uint64_t(plan.num_keys)), 4096);

    std::shared_ptr<Segment> segment(new Segment(Mapping::create(plan.reserved_bytes), Doorbell(), *push.rules));
    segment->mapping_.limit(plan.memory_limit);
    if (plan.is_range()) { // counts the entries that are not committed now as well
        const uint64_t entries = uint64_t(plan.num_keys) * sizeof(Entry);
        segment->mapping_.require_room(plan.channels_at + entries + plan.undo_at - plan.here_at);
    }
    segment->mapping_.extend(plan.undo_at); // zeros mean free slots and absent keys
    segment->mapping_.commit(0, sizeof(Header));
    Header *header = new (segment->header_) Header{};
    std::memcpy(static_cast<void *>(header), &plan, offsetof(Header, state));
    for (size_t i = 0; i < push.rule().settings.size(); i++) header->settings[i] = push.settings.number[i];
    segment->find_parts();
    segment->commit_rows();
    segment->note_first(members.empty() ? HomeRule::first_nodes(NodeId(std::max(1, options.num_nodes))) : members);
    if (segment->ages().are_kept()) segment->ages().begin(monotonic_seconds());
    std::copy(classes.begin(), classes.end(), segment->classes_);
    header->rows_at_tick = segment->rows_per_tick();
    auto class_of = [&](int64_t length) {
        auto found = std::lower_bound(classes.begin(), classes.end(), length,
                                      [](const LengthClass &c, int64_t wanted) { return c.length < wanted; });
        return uint32_t(found - classes.begin());
    };
    static_assert(Place(Residence::absent, 0, 0).word() == 0, "what is zero is an absent key of the first class");
    for (int64_t key = 0; key < plan.num_keys && classes.size() > 1; key++) {
        Place place(Residence::absent, class_of(options.value_lengths[key]), 0);
        segment->entry(segment->row(uint64_t(key))).store(place.word(), std::memory_order_relaxed);
    }
    header->state.store(State::open, std::memory_order_release);
    return segment;
}

std::shared_ptr<Segment> Segment::adopt(int fd, Doorbell doorbell, size_t reserved) {
    std::shared_ptr<Segment> segment(new Segment(Mapping::adopt(fd, reserved), std::move(doorbell), built_in_rules()));
    if (segment->mapping_.size() < sizeof(Header) || segment->header_->magic != magic)
        fail(PS_EADDRESS, Where{}, "what the server sent is not a store");
    const Header &header = *segment->header_;
    if (header.abi != PS_ABI_VERSION || header.reserved_bytes != reserved)
        fail(PS_EADDRESS, Where{-1, header.abi, PS_ABI_VERSION},
             "the server has version %u of the store, this process %d", header.abi, PS_ABI_VERSION);
    segment->mapping_.limit(header.memory_limit);
    segment->find_parts();
    for (uint32_t number = 0; number < header.num_classes; number++)
        if (segment->length_class(number).rule >= built_in_rules().size())
            fail(PS_EADDRESS, Where{-1, segment->length_class(number).rule, int64_t(built_in_rules().size())},
                 "pushes to the store follow rule %u, which this process does not have",
                 segment->length_class(number).rule);
    return segment;
}

void Segment::tune(const std::string &text) {
    if (rule().settings.empty()) fail(PS_EINVAL, Where{}, "the server has no optimizer: what is pushed is added");
    const RuleSettings now = settings(), wanted = rule().read_settings(text, now);
    uint64_t changed = 0;
    for (size_t i = 0; i < rule().settings.size(); i++) {
        const Setting &setting = rule().settings[i];
        if (wanted.number[i] == now.number[i]) continue;
        if (setting.shapes_state && (wanted.number[i] == 0) != (now.number[i] == 0))
            fail(PS_EINVAL, Where{}, "%s is %g and cannot become %g: what is kept beside each value depends on it",
                 setting.name, now.number[i], wanted.number[i]);
        changed |= uint64_t(1) << i;
    }
    for (size_t i = 0; i < rule().settings.size(); i++)
        if (changed >> i & 1) header_->settings[i].store(wanted.number[i], std::memory_order_relaxed);
    if (!changed || header_->places == 1) return;
    header_->settings_changed.fetch_or(changed); // the server tells the other nodes
    doorbell_.ring();
}

Segment::Segment(Mapping mapping, Doorbell doorbell, const Rules &rules)
    : mapping_(std::move(mapping)), doorbell_(std::move(doorbell)), rules_(&rules), generation_(fork_generation()),
      base_(mapping_.at(0)), header_(reinterpret_cast<Header *>(base_)) {}

// Commit everything before the undo areas, except the rows of other nodes' keys of a range, and rows for any keys that
// may still come.
void Segment::commit_rows() {
    mapping_.commit(0, header_->channels_at + header_->num_channels * sizeof(ChannelWords));
    std::vector<Column> columns{{header_->here_at, sizeof(uint32_t), here_block / HashedRows::row_words}};
    const uint64_t lowest = Changes::lowest_bytes(row_numbers()), all = changes_bytes(row_numbers());
    for (uint32_t channel = 0; channel < header_->num_channels; channel++) {
        const uint64_t at = header_->changes_at + channel * all;
        mapping_.commit(at + lowest, all - lowest);
        columns.push_back({at, sizeof(uint64_t), 64 / HashedRows::row_words});
    }
    if (header_->uses_at) columns.push_back({header_->uses_at, sizeof(Uses::Mark)});
    if (header_->ages_at) {
        mapping_.commit(header_->ages_at, Mapping::page);
        columns.push_back({header_->ages_at + Mapping::page, sizeof(Ages::Mark)});
    }
    if (header_->is_range())
        commit_range();
    else
        maker_ = std::make_unique<RowMaker>(mapping_, header_->rows_at, header_->directory_at,
                                            uint32_t(header_->capacity), columns);
}

void Segment::commit_range() {
    const uint64_t first = number_of(rows_.first(header_->node)), keys = rows_.num_keys(header_->node);
    const uint64_t rows_at = header_->directory_at + first * sizeof(Entry);
    // The directory's first rows share large pages with what lies before them.
    const uint64_t begin = first == 0 ? 0 : rows_at;
    mapping_.commit_large(begin, rows_at + keys * sizeof(Entry) - begin);
    mapping_.commit(header_->here_at, header_->changes_at - header_->here_at);
    for (uint32_t channel = 0; channel < header_->num_channels; channel++)
        mapping_.commit(header_->changes_at + channel * changes_bytes(row_numbers()) + first / 8, keys / 8);
}

Row Segment::make_row(uint64_t key, const std::function<bool(Row row)> &prepare) {
    auto lock = lock_maker();
    return maker_->make(key, prepare);
}

void Segment::remove_row(uint64_t key) {
    auto lock = lock_maker();
    maker_->remove(key);
}

uint64_t Segment::bytes_for_rows(uint64_t more) {
    auto lock = lock_maker();
    return maker_->bytes_for(std::min(maker_->live() + more, uint64_t(header_->capacity)));
}

void Segment::pass_time() const {
    const uint64_t given = header_->rows_given.fetch_add(1, std::memory_order_relaxed) + 1;
    uint64_t due = header_->rows_at_tick.load(std::memory_order_relaxed);
    if (given >= due && header_->rows_at_tick.compare_exchange_strong(due, given + rows_per_tick()))
        count_in(header_->ticks, 1);
}

// With a memory limit it depends on the values that are here for how many keys there is room, about.
uint64_t Segment::rows_per_tick() const {
    constexpr uint64_t beside = 32; // bytes of a key beside its value
    auto room = uint64_t(header_->capacity);
    if (header_->memory_limit) {
        const uint64_t values = header_->keys_held + header_->replicas_held;
        const uint64_t each = values ? header_->value_bytes / values : classes_[0].slot_bytes;
        room = std::min(room, header_->memory_limit / (each + beside));
    }
    return std::max<uint64_t>(1, room / Uses::ticks_per_room);
}

std::unique_lock<std::mutex> Segment::lock_maker() {
    std::unique_lock<std::mutex> lock(maker_mutex_, std::defer_lock);
    if (header_->num_channels > 1) lock.lock();
    return lock;
}

// With a range: the rows of this node's own keys, and the pages of others that are in use. Else the rows that were
// made.
uint64_t Segment::directory_bytes() const {
    if (!header_->is_range()) return hashed_rows_->count() * HashedRows::row_bytes;
    const uint64_t own = rows_.num_keys(header_->node) * sizeof(Entry);
    const uint64_t before = number_of(rows_.first(header_->node)) * sizeof(Entry), behind = before + own;
    return mapping_.committed(header_->directory_at, before) + own +
           mapping_.committed(header_->directory_at + behind, rows_.size() * sizeof(Entry) - behind);
}

void Segment::find_parts() {
    rows_ = RangeRows(uint64_t(header_->num_keys), header_->places);
    if (!header_->is_range()) hashed_rows_.emplace(base_ + header_->rows_at, base_ + header_->directory_at);
    if (header_->ages_at)
        ages_ = Ages(header_->max_age, header_->eviction != Eviction::age, base_ + header_->ages_at,
                     base_ + header_->ages_at + Mapping::page);
    if (header_->uses_at) uses_ = Uses(header_->eviction, base_ + header_->uses_at, header_->ticks);
    classes_ = reinterpret_cast<LengthClass *>(base_ + header_->classes_at);
    slots_ = reinterpret_cast<WorkerSlot *>(base_ + header_->slots_at);
    directory_ = reinterpret_cast<Entry *>(base_ + header_->directory_at);
    here_ = reinterpret_cast<std::atomic<uint32_t> *>(base_ + header_->here_at);
    channels_ = reinterpret_cast<ChannelWords *>(base_ + header_->channels_at);
    channel_rule_ = ChannelRule(header_->num_channels, NodeId(header_->places), key_space());
    for (uint32_t channel = 0; channel < header_->num_channels; channel++)
        changes_.emplace_back(base_ + header_->changes_at + channel * changes_bytes(row_numbers()), row_numbers());
}

void Segment::note_first(const std::vector<NodeId> &members) {
    for (uint32_t node = 0; node < header_->places; node++) member(node).state.store(Member::absent);
    for (NodeId node : members) {
        member(node).is_first = 1;
        member(node).state.store(Member::here);
    }
}

void Segment::note_endpoint(uint32_t node, const std::string &endpoint) {
    std::memcpy(base_ + header_->endpoints_at + node * endpoint_bytes, endpoint.c_str(), endpoint.size() + 1);
    member(node).is_known.store(1, std::memory_order_release);
}

bool Segment::note_metrics(uint32_t node, const std::string &url) {
    MemberSlot &slot = member(node);
    if (slot.is_watched.load(std::memory_order_relaxed)) return false;
    std::memcpy(slot.metrics, url.c_str(), url.size() + 1);
    slot.is_watched.store(1, std::memory_order_release);
    return true;
}

void Segment::note_members(const std::vector<std::string> &endpoints) {
    for (uint32_t node = 0; node < header_->places; node++)
        member(node).state.store(node == header_->node || endpoints[node].empty() ? Member::absent : Member::here);
}

template <class Is>
std::vector<NodeId> Segment::nodes_that(Is &&is) const {
    std::vector<NodeId> nodes;
    for (uint32_t node = 0; node < header_->places; node++)
        if (is(member(node))) nodes.push_back(NodeId(node));
    return nodes;
}

std::vector<NodeId> Segment::first() const {
    return nodes_that([](const MemberSlot &slot) { return slot.is_first == 1; });
}

std::vector<NodeId> Segment::members() const {
    return nodes_that([](const MemberSlot &slot) { return slot.is_member(); });
}

} // namespace ps
