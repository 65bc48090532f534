// Whether intents are acted on, found by trial: workers whose clocks take so many seconds with it, and so many without.
#include <cstdio>
#include <deque>
#include <initializer_list>

#include "check.h"
#include "protocol/intent_trials.h"

using namespace ps;

namespace {

class Node {
public:
    explicit Node(uint64_t told_ahead = 5) : told_ahead_(told_ahead), told_(told_ahead, true) {}

    // Let workers go on for so long; returns the part of the clocks that advanced while intents were acted on. Those
    // that are told have an effect `told_ahead` clocks later.
    double run(double seconds, double with, double without) {
        uint64_t acted = 0, all = 0;
        for (double end = now_ + seconds; now_ < end;) {
            now_ += 0.001; // a round
            progress_ += 0.001 / (told_.front() ? with : without);
            for (; progress_ >= 1; progress_--, all++, clocks_++) {
                acted += trials_.acts();
                told_.push_back(trials_.acts());
                told_.pop_front();
            }
            trials_.observe(now_, clocks_, told_ahead_);
        }
        return double(acted) / double(all);
    }
    void pause(double seconds) { now_ += seconds; }
    void lose_a_worker() { clocks_ /= 2; }
    bool acts() const { return trials_.acts(); }
    bool is_trying() const { return trials_.is_trying(); }

private:
    const uint64_t told_ahead_;
    std::deque<bool> told_;
    IntentTrials trials_;
    double now_ = 100, progress_ = 0;
    uint64_t clocks_ = 0;
};

// Some seconds for the first trial, then what was found is kept but for later trials.
void check_found(double with, double without, bool acts) {
    Node node;
    CHECK(node.acts());
    node.run(200 * (with + without) + 1, with, without);
    const double part = node.run(4000 * (with + without) + 20, with, without);
    CHECK(acts ? part > 0.85 : part < 0.15);
}

} // namespace

int main() {
    for (double clock : {0.0004, 0.003, 0.05}) {
        check_found(clock, 0.8 * clock, false);
        check_found(clock, 0.3 * clock, false);
        check_found(0.8 * clock, clock, true);
        check_found(0.3 * clock, clock, true);
        check_found(clock, clock, true); // without a clear reason nothing is changed
    }
    Node early(200); // as in programs that tell long before
    early.run(20, 0.001, 0.003);
    CHECK(early.run(60, 0.001, 0.003) > 0.85);
    Node late; // its workers evaluate now and then, which takes long
    for (int i = 0; i < 40; i++) {
        late.run(0.2, 0.002, 0.001);
        late.pause(5);
    }
    CHECK(late.run(20, 0.002, 0.001) < 0.15);
    Node changing; // first intents pay, then they do not
    CHECK(changing.run(60, 0.001, 0.002) > 0.85);
    changing.run(60, 0.002, 0.001);
    CHECK(changing.run(60, 0.002, 0.001) < 0.15);
    Node leaving;
    leaving.run(0.02, 0.002, 0.001);
    leaving.lose_a_worker();
    leaving.run(2, 0.002, 0.001);
    CHECK(!leaving.acts() && !leaving.is_trying());
    std::printf("ok\n");
}
