// When intents are acted on. timing quantile MEAN...: the 0.9999 Poisson quantiles, for a comparison with exact ones.
// timing: slow clocks look ahead a little, fast ones far, and what is due is acted on at once.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "check.h"
#include "protocol/intent_trials.h"
#include "protocol/intents.h"

using namespace ps;

namespace {

// The clock at which an intent for clock 100'000 is acted on by a worker that advances so often in a second.
int64_t acted_at(double per_second) {
    int64_t clock = 90'000, acted = -1;
    Intents intents([&](uint32_t) { return clock; },
                    [&](const std::vector<Key> &, Intents::What what) {
                        if (what == Intents::What::begins) acted = clock;
                    });
    intents.add(1, 100'000, 100'001, {7});
    for (long round = 0; acted < 0; round++) {
        clock = 90'000 + int64_t(double(round) * 0.001 * per_second);
        intents.begin_round(1 + double(round) * 0.001, false);
    }
    return acted;
}

} // namespace

int main(int count, char **arguments) {
    if (count > 1) {
        for (int i = 2; i < count; i++)
            std::printf("%lld\n", static_cast<long long>(poisson_quantile(std::atof(arguments[i]), 0.9999)));
        return 0;
    }
    int64_t slow = 100'000 - acted_at(10), middle = 100'000 - acted_at(10'000), fast = 100'000 - acted_at(1'000'000);
    CHECK(slow >= 0 && slow <= 3);
    CHECK(middle >= 20 && middle <= 50);
    CHECK(fast >= 2000 && fast <= 3500);
    std::vector<Intents::What> acted;
    Intents due([](uint32_t) { return int64_t(50); },
                [&](const std::vector<Key> &, Intents::What what) { acted.push_back(what); });
    due.add(1, 50, 51, {7});
    due.update();
    due.add(1, 50, 50 + short_intent + 1, {8});
    due.update();
    CHECK((acted == std::vector{Intents::What::begins, Intents::What::begins_for_long}));
    ClockRate paused;
    for (int i = 0; i < 100; i++) paused.observe(10 * i, 0.001 * i);
    double before = paused.per_second(0.001);
    paused.observe(1000, 100);
    CHECK(paused.per_second(0.001) > 0.85 * before);
    std::printf("ok\n");
}
