// Sampling: the alias table gives every index its weight to the last bits of a float, generators and draws do what they
// say, and every scheme chooses keys that follow the distribution.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <set>
#include <vector>

#include "check.h"
#include "sampling/alias_table.h"
#include "sampling/sampler.h"

using namespace ps;

namespace {

int64_t times = 1; // how many times as much is drawn; the program's argument
int64_t table_size = 500'000;

// How far the table is from the weights, in parts of each weight; infinite where one that is zero can be drawn.
double worst_error(const std::vector<double> &weights) {
    auto n = int64_t(weights.size());
    std::vector<AliasCell> cells(weights.size());
    build_alias_table(weights.data(), n, cells.data());
    std::vector<double> found = alias_weights(cells.data(), n);
    double most = *std::max_element(weights.begin(), weights.end());
    long double sum = 0;
    for (double weight : weights) sum += weight / most;
    double worst = 0;
    for (int64_t i = 0; i < n; i++) {
        CHECK(cells[i].other < n && cells[i].keep >= 0 && cells[i].keep <= 1);
        CHECK((cells[i].keep > 0) == (weights[i] > 0));
        double expected = double(weights[i] / most * (n / sum));
        if (expected == 0) CHECK(found[i] < 1e-40); // a weight too small for a double beside the largest
        if (expected > 1e-30) worst = std::max(worst, std::fabs(found[i] - expected) / expected);
    }
    return worst;
}

std::vector<double> zipf(int64_t n, double exponent) {
    std::vector<double> weights(static_cast<size_t>(n));
    for (int64_t i = 0; i < n; i++) weights[i] = std::pow(double(i + 1), -exponent);
    return weights;
}

void the_alias_table_is_exact() {
    CHECK(worst_error({1}) == 0);
    CHECK(worst_error({0, 7, 0}) == 0);
    CHECK(worst_error({1, 2, 3, 4}) < 1e-7);
    CHECK(worst_error({1e-320, 1e-300, 1, 1e300, 1e308, 1e308, 1e308}) < 1e-7); // their sum is no double
    CHECK(worst_error(std::vector<double>(size_t(table_size), 5)) == 0);
    for (double exponent : {0.01, 0.5, 1.0, 3.0}) CHECK(worst_error(zipf(table_size, exponent)) < 5e-7);
    Random random(1, 1);
    for (double spread : {0.1, 1.0, 20.0}) {
        std::vector<double> any(static_cast<size_t>(table_size));
        for (double &weight : any) weight = random.below(4) ? std::exp(spread * random.unit()) : 0;
        CHECK(worst_error(any) < 5e-7);
    }
}

void generators_are_as_published() {
    Random counted({1, 2, 3, 4});
    for (uint64_t expected : {41943041ull, 58720359ull, 3588806011781223ull, 3591011842654386ull,
                              9228616714210784205ull, 9973669472204895162ull, 14011001112246962877ull})
        CHECK(counted.next() == expected);
    Random first(7, 1), same(7, 1), other_seed(8, 1), other_stream(7, 2);
    int64_t ones = 0;
    for (int i = 0; i < 10'000; i++) {
        uint64_t word = first.next();
        CHECK(word == same.next());
        CHECK(word != other_seed.next() && word != other_stream.next());
        ones += __builtin_popcountll(word);
    }
    CHECK(std::llabs(ones - 320'000) < 5 * 400); // five standard deviations
    for (uint64_t bound : {uint64_t(1), uint64_t(3), uint64_t(1) << 63, UINT64_MAX})
        for (int i = 0; i < 1000; i++) CHECK(first.below(bound) < bound);
    for (int i = 0; i < 10'000; i++) CHECK(first.unit() < 1 && first.positive() > 0);
}

// A node where each third key lives, with the intents that schemes had.
class FakePort : public SamplingPort {
public:
    void intend(const std::vector<int64_t> &keys, int64_t start, int64_t end) override {
        CHECK(start >= 0 && end > start);
        intended.insert(keys.begin(), keys.end());
        messages++;
    }
    void prefetch(int64_t) const override {}
    int64_t next_local(int64_t from, int64_t to) const override {
        while (from < to && !is_local(from)) from++;
        return from;
    }
    int64_t total_length(const int64_t *, int64_t n) const override { return n; }
    int32_t pull(ps_request &) override { return PS_OK; }
    int32_t pull_local(ps_request &request) override {
        for (; request.done < request.num_keys; request.done++) {
            if (--until_a_move == 0) moved = request.keys[request.done];
            if (!is_local(request.keys[request.done])) return PS_ENOTLOCAL;
        }
        return PS_OK;
    }
    bool is_local(int64_t key) const { return key % 3 == 0 && key != moved; }

    std::set<int64_t> intended;
    int64_t messages = 0, moved = -1, until_a_move = -1;
};

struct Fixture {
    Fixture(const char *scheme, const char *distribution, bool with_replacement, const std::vector<double> &weights)
        : memory(new char[sizeof(SamplingArea) + weights.size() * sizeof(AliasCell)]()) {
        area = reinterpret_cast<SamplingArea *>(memory.get());
        std::strcpy(area->scheme, scheme);
        std::strcpy(area->distribution, distribution);
        area->min = 30;
        area->max = 30 + int64_t(weights.size());
        area->population = area->range();
        area->with_replacement = with_replacement;
        area->pool_size = 20;
        area->pool_uses = 4;
        area->seed = 11;
        ps_sampling_options options{};
        options.size = sizeof options;
        options.min = area->min;
        options.max = area->max;
        options.weights = weights.data();
        options.num_weights = area->range();
        find_distribution(distribution).fill(options, area);
        sampler = std::make_unique<Sampler>(*area, 1, port);
    }

    std::vector<int64_t> draw(int64_t n, int64_t clock) {
        int64_t id = sampler->prepare(n, clock, clock + 1);
        std::vector<int64_t> keys(static_cast<size_t>(n));
        ps_request request{PS_PULL, 0, nullptr, n, nullptr, n, 0, -1, 0};
        CHECK(sampler->pull(id, keys.data(), &request) == PS_OK);
        for (int64_t key : keys) CHECK(key >= area->min && key < area->max);
        return keys;
    }

    std::unique_ptr<char[]> memory;
    SamplingArea *area;
    FakePort port;
    std::unique_ptr<Sampler> sampler;
};

bool is_distinct(std::vector<int64_t> keys) {
    std::sort(keys.begin(), keys.end());
    return std::adjacent_find(keys.begin(), keys.end()) == keys.end();
}

void samples_of_every_size_are_whole() {
    for (const char *scheme : {"naive", "preloc", "pool", "local"})
        for (const char *distribution : {"uniform", "log-uniform", "weighted"})
            for (bool with_replacement : {false, true}) {
                Fixture fixture(scheme, distribution, with_replacement, zipf(60, 4));
                for (int64_t n : {1, 7, 20, 21, 59, 60, 3}) {
                    std::vector<int64_t> keys = fixture.draw(n, n);
                    CHECK(with_replacement || is_distinct(keys));
                }
                if (with_replacement) fixture.draw(1000, 1);
            }
}

// The probabilities of two keys drawn without replacement, against counts: P(a, b) = p(a) p(b) / (1 - p(a)).
void samples_without_replacement_are_successive_draws() {
    std::vector<double> weights{8, 4, 2, 1};
    for (const char *scheme : {"naive", "preloc", "pool"}) {
        Fixture fixture(scheme, "weighted", false, weights);
        const int64_t samples = 100'000 * times;
        std::vector<int64_t> counts(16);
        for (int64_t i = 0; i < samples; i++) {
            std::vector<int64_t> keys = fixture.draw(2, 0);
            counts[size_t((keys[0] - 30) * 4 + keys[1] - 30)]++;
        }
        double worst = 0;
        for (size_t a = 0; a < 4; a++)
            for (size_t b = 0; b < 4; b++) {
                if (a == b) continue;
                double expected = samples * weights[a] / 15 * weights[b] / (15 - weights[a]);
                worst = std::max(worst, std::fabs(double(counts[a * 4 + b]) - expected) / std::sqrt(expected));
            }
        // Samples of a pool depend on each other: their counts vary up to the uses of a pool times as much.
        CHECK(worst < 5 * (std::strcmp(scheme, "pool") ? 1 : 2));
    }
}

void what_is_left_over_is_drawn_in_the_same_way() {
    // All but one of five keys: the one that is missing is last in successive draws. Rejection and the way that grows
    // with the range alone must agree on how often that is which.
    std::vector<double> weights{1, 2, 4, 8, 16};
    Fixture fixture("naive", "weighted", false, weights);
    std::vector<double> missing[2] = {std::vector<double>(5), std::vector<double>(5)};
    Draws draws(*fixture.area, 5);
    const int64_t rounds = 100'000 * times;
    for (int64_t i = 0; i < rounds; i++)
        for (int way = 0; way < 2; way++) {
            std::vector<int64_t> keys;
            if (way == 0) {
                keys = draws.sample(4);
            } else {
                draws.start_distinct(4);
                keys = draws.independent(1);
                draws.offer(keys[0]);
                draws.complete(&keys, 4);
            }
            CHECK(keys.size() == 4 && is_distinct(keys));
            missing[way][size_t(30 + 31 + 32 + 33 + 34 - std::accumulate(keys.begin(), keys.end(), int64_t(0)) - 30)]++;
        }
    for (size_t i = 0; i < 5; i++) {
        double both = missing[0][i] + missing[1][i];
        CHECK(both > 100 && std::fabs(missing[0][i] - missing[1][i]) < 5 * std::sqrt(both));
    }
}

void pools_are_used_again_and_cost_few_intents() {
    Fixture preloc("preloc", "uniform", true, std::vector<double>(100'000)),
        pool("pool", "uniform", true, std::vector<double>(100'000));
    std::set<int64_t> drawn;
    for (int64_t clock = 0; clock < 1000; clock++) {
        preloc.draw(4, clock);
        for (int64_t key : pool.draw(4, clock)) {
            CHECK(pool.port.intended.count(key));
            drawn.insert(key);
        }
    }
    CHECK(drawn.size() < 1100 && drawn.size() > 900); // 4000 draws, each pool of 20 used four times
    CHECK(preloc.port.messages == 1000);
    CHECK(pool.port.messages < 500);
}

void local_takes_the_next_key_that_is_here() {
    Fixture fixture("local", "uniform", true, std::vector<double>(60));
    for (int64_t i = 0; i < 100; i++) {
        fixture.port.moved = -1;
        fixture.port.until_a_move = i; // a key moves away in the middle
        for (int64_t key : fixture.draw(10, 0)) CHECK(key % 3 == 0);
    }
    Fixture distinct("local", "uniform", false, std::vector<double>(60));
    std::vector<int64_t> twenty = distinct.draw(20, 0), more = distinct.draw(25, 0);
    for (int64_t key : twenty) CHECK(key % 3 == 0); // all that are here
    CHECK(is_distinct(twenty) && is_distinct(more));
    CHECK(std::count_if(more.begin(), more.end(), [](int64_t key) { return key % 3 == 0; }) >= 20);
}

} // namespace

int main(int count, char **arguments) {
    if (count > 1) times = std::atoll(arguments[1]);
    table_size = std::min<int64_t>(1'000'000, times * table_size);
    the_alias_table_is_exact();
    generators_are_as_published();
    samples_of_every_size_are_whole();
    samples_without_replacement_are_successive_draws();
    what_is_left_over_is_drawn_in_the_same_way();
    pools_are_used_again_and_cost_few_intents();
    local_takes_the_next_key_that_is_here();
    std::puts("ok");
}
