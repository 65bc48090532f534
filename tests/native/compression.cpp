// A replica in a real store whose deltas are compressed, and its owner, of whom only the value is here. What is pushed,
// when deltas are taken, and when the owner's value comes are drawn. All numbers are whole and small, so sums are
// exact. Always: the replica's value has everything that was pushed here; what is sent is written short and read as it
// was; a rest is not named as a change. In the end the owner's value is the sum. Then single deltas of any numbers are
// split: the parts are their sum, and what is sent is the nearest, or the largest.
//
// compression FIRST LAST: the seeds to run. A failure names its seed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "compression/splits.h"
#include "seeds.h"
#include "store/store_values.h"
#include "wire/packed.h"

using namespace ps;

namespace {

constexpr Key key = 1; // begins at the other node

std::shared_ptr<Segment> make_segment(int64_t length, int32_t dtype, const std::string &compression) {
    ps_node_options options{};
    options.num_keys = 2;
    options.value_lengths = &length;
    options.num_lengths = 1;
    options.dtype = dtype;
    options.num_nodes = 2;
    options.max_workers = 1;
    options.compression = compression.c_str();
    return Segment::create(options);
}

template <class Element>
class Simulation : Chance {
public:
    explicit Simulation(uint64_t seed)
        : Chance(seed), compression_text_(draw_compression(*this)), length_(1 + draw(draw(2) ? 4 : 40)),
          segment_(make_segment(int64_t(length_), dtype_of<Element>(), compression_text_)), slabs_(*segment_),
          values_(*segment_, slabs_, 0), homes_(0, HomeRule::of_all(2, KeySpace::range(2))), owned_(length_),
          pushed_(length_) {
        values_.begin_with(homes_);
        latched([&] { values_.copy(key, bytes_of(owned_)); });
    }

    void run() {
        for (int actions = 60; actions > 0; actions--) {
            switch (draw(6)) {
            case 0:
            case 1: push(); break;
            case 2: send_part(); break;
            case 3: send_whole(); break;
            case 4: arrive(); break;
            default: change_elsewhere();
            }
            check_value();
        }
        arrive();
        draw(2) ? end() : come();
        REQUIRE(owned_ == pushed_);
    }

private:
    using Elements = std::vector<Element>;

    static Bytes bytes_of(const Elements &elements) {
        Bytes bytes(elements.size() * sizeof(Element));
        std::memcpy(bytes.data(), elements.data(), bytes.size());
        return bytes;
    }
    static Elements elements_of(const Bytes &bytes) {
        Elements elements(bytes.size() / sizeof(Element));
        if (!elements.empty()) std::memcpy(elements.data(), bytes.data(), bytes.size());
        return elements;
    }
    static void add(Elements *sum, const Bytes &more) {
        const Elements elements = elements_of(more);
        for (size_t i = 0; i < elements.size(); i++) (*sum)[i] += elements[i];
    }

    template <class Body>
    void latched(Body &&body) {
        REQUIRE(values_.latch(key));
        body();
        values_.unlatch();
    }

    Elements draw_elements() {
        Elements elements(length_);
        for (Element &element : elements) element = draw(3) ? Element(draw(2001)) - 1000 : Element(0);
        return elements;
    }

    void push() {
        const Elements more = draw_elements();
        latched([&] { values_.push(key, bytes_of(more)); });
        add(&pushed_, bytes_of(more));
        has_changed_ = true;
    }

    // A push names the key once, a rest never does.
    void check_changes() {
        std::vector<Key> changes;
        values_.take_changes(&changes);
        REQUIRE(changes.size() == (has_changed_ && !is_named_));
        is_named_ = has_changed_;
    }

    // As the protocol does: one delta is on its way at a time.
    void send_part() {
        if (!sent_.empty()) return;
        check_changes();
        latched([&] { REQUIRE(values_.take_part(key, &sent_) == has_changed_); });
        has_changed_ = is_named_ = false;
        check_changes();
        const Packing packing = segment_->header().compression.packing();
        if (!packing.shortens(sent_.size())) return;
        FrameWriter writer;
        put_packed(writer, packing, sent_);
        const Bytes packed = writer.take();
        REQUIRE(packed.size() <= packing.most_bytes(sent_.size()));
        FrameReader reader(packed.data(), packed.size());
        REQUIRE(get_packed(reader, packing, sent_.size()) == sent_ && reader.left() == 0);
    }

    void send_whole() {
        if (!sent_.empty()) return;
        check_changes();
        latched([&] { values_.take_delta(key, &sent_); });
        has_changed_ = is_named_ = false;
        Elements all = owned_;
        add(&all, sent_);
        REQUIRE(all == pushed_);
    }

    // The delta, and the owner's answer.
    void arrive() {
        add(&owned_, sent_);
        sent_.clear();
        latched([&] { values_.refresh(key, bytes_of(owned_), {}); });
    }

    // Another node pushes: the owner's value comes while a delta is on its way.
    void change_elsewhere() {
        const Bytes more = bytes_of(draw_elements());
        add(&owned_, more);
        add(&pushed_, more);
        latched([&] { values_.refresh(key, bytes_of(owned_), sent_); });
    }

    void check_value() {
        Bytes value;
        latched([&] { values_.pull(key, &value); });
        REQUIRE(elements_of(value) == pushed_);
    }

    void end() {
        latched([&] { values_.retire(key, &sent_); });
        add(&owned_, sent_);
    }

    void come() { // the key itself comes here
        latched([&] {
            values_.own(key, bytes_of(owned_).data());
            Bytes value;
            values_.pull(key, &value);
            owned_ = elements_of(value);
        });
    }

    const std::string compression_text_;
    const uint64_t length_;
    const std::shared_ptr<Segment> segment_;
    Slabs slabs_;
    StoreValues values_;
    const FirstHomes homes_;
    Elements owned_, pushed_; // the owner's value; the sum of all
    Bytes sent_; // the delta on its way
    bool has_changed_ = false, is_named_ = false; // since a delta was taken; and take_changes has said so
};

} // namespace

int main(int count, char **arguments) {
    const Seeds seeds(count, arguments);
    seeds.for_each([](uint64_t seed) {
        if (seed % 2) {
            Simulation<float>(seed).run();
            check_split<float>(seed);
        } else {
            Simulation<double>(seed).run();
            check_split<double>(seed);
        }
    });
    std::printf("ok\n");
}
