#include "workload.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <fstream>
#include <numeric>
#include <random>
#include <stdexcept>
#include <utility>

namespace ps::simulate {

namespace {

constexpr int64_t behind = 2; // exchanges of replicas; as in examples/apps

// Numbers from 1 to n, k with a probability in proportion to k^-s: by rejection from the integral of x^-s, which
// needs no table (Hoermann and Derflinger, 1996).
class Zipf {
public:
    Zipf(double exponent, uint64_t count)
        : s_(exponent), count_(double(count)), first_(integral(1.5) - 1), last_(integral(count_ + 0.5)) {}

    uint64_t draw(std::mt19937_64 &random) const {
        for (;;) {
            const double area = first_ + std::uniform_real_distribution<>()(random) * (last_ - first_);
            const double k = std::clamp(std::floor(inverse(area) + 0.5), 1.0, count_);
            if (area >= integral(k + 0.5) - std::pow(k, -s_)) return uint64_t(k);
        }
    }

private:
    double integral(double x) const { return s_ == 1 ? std::log(x) : (std::pow(x, 1 - s_) - 1) / (1 - s_); }
    double inverse(double y) const { return s_ == 1 ? std::exp(y) : std::pow(1 + y * (1 - s_), 1 / (1 - s_)); }

    double s_, count_, first_, last_;
};

struct ZipfShape {
    explicit ZipfShape(const Settings &settings)
        : seed(uint64_t(settings.integer("seed"))), keys(uint64_t(settings.integer("keys"))),
          zipf(settings.number("zipf"), keys), batches(settings.integer("batches")),
          batch_keys(size_t(settings.integer("batch_keys"))), ahead(size_t(settings.integer("ahead"))),
          epochs(settings.integer("epochs")), seconds(settings.number("compute")), written(settings.number("written")) {
        for (stride = uint64_t(0.61803398875 * double(keys)) | 1; std::gcd(stride, keys) > 1; stride += 2) {
        }
    }

    // Neighbours by frequency are not neighbours by number.
    int64_t key(uint64_t rank) const { return int64_t(__uint128_t(rank) * stride % keys); }

    uint64_t seed, keys, stride;
    Zipf zipf;
    int64_t batches; // of a worker in an epoch
    size_t batch_keys, ahead;
    int64_t epochs;
    double seconds, written;
};

// Batches as the applications have them: told of some time ahead, pulled, computed with and pushed.
class ZipfWorkload : public Workload {
public:
    ZipfWorkload(const ZipfShape &shape, int64_t worker)
        : shape_(shape), random_(shape.seed * 1000003 + uint64_t(worker)) {
        begin_epoch();
    }

    bool next(Step *step) override {
        while (steps_.empty()) {
            if (epoch_ > shape_.epochs) return false;
            add_batch();
        }
        *step = std::move(steps_.front());
        steps_.pop_front();
        return true;
    }

private:
    void begin_epoch() {
        steps_.push_back({Step::Kind::barrier});
        drawn_ = done_ = 0;
        epoch_++;
    }

    std::vector<int64_t> draw() {
        std::vector<int64_t> keys(shape_.batch_keys);
        for (int64_t &key : keys) key = shape_.key(shape_.zipf.draw(random_));
        std::sort(keys.begin(), keys.end());
        keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
        return keys;
    }

    void add_batch() {
        for (; drawn_ < shape_.batches && drawn_ <= done_ + int64_t(shape_.ahead); drawn_++) {
            told_.push_back(draw());
            const int64_t clock = drawn_ - done_;
            steps_.push_back({Step::Kind::tell, told_.back(), clock, clock + 1});
        }
        std::vector<int64_t> keys = std::move(told_.front());
        told_.pop_front();
        steps_.push_back({Step::Kind::pull, keys});
        steps_.push_back({Step::Kind::wait});
        steps_.push_back({Step::Kind::compute, {}, 0, 0, shape_.seconds});
        keys.resize(size_t(std::ceil(shape_.written * double(keys.size()))));
        steps_.push_back({Step::Kind::push, std::move(keys)});
        steps_.push_back({Step::Kind::sync, {}, behind});
        steps_.push_back({Step::Kind::advance});
        if (++done_ == shape_.batches) begin_epoch();
    }

    const ZipfShape &shape_;
    std::mt19937_64 random_;
    std::deque<Step> steps_;
    std::deque<std::vector<int64_t>> told_;
    int64_t epoch_ = 0, drawn_ = 0, done_ = 0;
};

class ZipfWorkloads : public Workloads {
public:
    explicit ZipfWorkloads(const Settings &settings) : shape_(settings) {}
    std::unique_ptr<Workload> of(int64_t worker) override { return std::make_unique<ZipfWorkload>(shape_, worker); }

private:
    ZipfShape shape_;
};

struct Recorded {
    struct Row { // of the file of steps
        int64_t kind, first_key, num_keys, start, end, nanoseconds;
    };
    std::vector<Row> rows;
    std::vector<int64_t> keys;
    size_t begin = 0, end = 0; // the rows between the first two barriers

    void find_barriers() {
        const auto is_barrier = [](const Row &row) { return row.kind == int64_t(Step::Kind::barrier); };
        const auto first = std::find_if(rows.begin(), rows.end(), is_barrier);
        if (first == rows.end()) return;
        begin = size_t(first + 1 - rows.begin());
        end = size_t(std::find_if(first + 1, rows.end(), is_barrier) - rows.begin());
    }
};

template <class Item>
std::vector<Item> read_file(const std::string &name) {
    std::ifstream in(name, std::ios::binary | std::ios::ate);
    if (!in) throw std::runtime_error(name + " cannot be read");
    std::vector<Item> items(size_t(in.tellg()) / sizeof(Item));
    in.seekg(0);
    in.read(reinterpret_cast<char *>(items.data()), std::streamsize(items.size() * sizeof(Item)));
    return items;
}

// What one worker did, some times. A worker of which there are more than were recorded does the same, but between the
// first two barriers it begins elsewhere, at the batch that was drawn, so that not all use the same keys at the same
// time.
class RecordedWorkload : public Workload {
public:
    RecordedWorkload(const Recorded &recorded, int64_t epochs, size_t shift)
        : recorded_(recorded), left_(epochs), shift_(shift) {}

    bool next(Step *step) override {
        if (done_ == recorded_.rows.size()) left_--, done_ = 0;
        if (left_ == 0) return false;
        const Recorded::Row &row = recorded_.rows[at(done_++)];
        const auto keys = recorded_.keys.begin() + row.first_key;
        *step = {Step::Kind(row.kind), {keys, keys + row.num_keys}, row.start, row.end, 1e-9 * double(row.nanoseconds)};
        return true;
    }

private:
    size_t at(size_t row) const {
        if (row < recorded_.begin || row >= recorded_.end) return row;
        return recorded_.begin + (row - recorded_.begin + shift_) % (recorded_.end - recorded_.begin);
    }

    const Recorded &recorded_;
    int64_t left_;
    const size_t shift_;
    size_t done_ = 0;
};

class RecordedWorkloads : public Workloads {
public:
    explicit RecordedWorkloads(const Settings &settings)
        : epochs_(settings.integer("epochs")), random_(uint64_t(settings.integer("seed"))) {
        for (int64_t number = 0; number < settings.integer("recorded"); number++) {
            const std::string base = settings.text("trace") + "." + std::to_string(number);
            workers_.push_back({read_file<Recorded::Row>(base + ".steps"), read_file<int64_t>(base + ".keys"), 0, 0});
            workers_.back().find_barriers();
        }
    }

    std::unique_ptr<Workload> of(int64_t worker) override {
        const Recorded &recorded = workers_[size_t(worker) % workers_.size()];
        const bool is_first = size_t(worker) < workers_.size();
        return std::make_unique<RecordedWorkload>(recorded, epochs_, is_first ? 0 : draw_shift(recorded));
    }

private:
    size_t draw_shift(const Recorded &recorded) { // to behind an advance of the clock
        std::vector<size_t> shifts{0};
        for (size_t row = recorded.begin; row < recorded.end; row++)
            if (recorded.rows[row].kind == int64_t(Step::Kind::advance)) shifts.push_back(row + 1 - recorded.begin);
        return shifts[std::uniform_int_distribution<size_t>(0, shifts.size() - 1)(random_)];
    }

    const int64_t epochs_;
    std::vector<Recorded> workers_;
    std::mt19937_64 random_;
};

} // namespace

std::unique_ptr<Workloads> make_workloads(const Settings &settings) {
    if (settings.integer("recorded") > 0) return std::make_unique<RecordedWorkloads>(settings);
    return std::make_unique<ZipfWorkloads>(settings);
}

} // namespace ps::simulate
