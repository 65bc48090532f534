// preloc: keys are drawn when a sample is prepared, and an intent makes them local for the sample's clocks.
#include "sampling/scheme.h"

namespace ps {

namespace {

class Preloc : public Scheme {
public:
    using Scheme::Scheme;
    void prepare(Sample *sample, int64_t n) override {
        sample->keys = draws_.sample(n);
        port_.intend(sample->keys, sample->start, sample->end);
    }
};

} // namespace

const SchemeKind preloc_scheme{"preloc", [](Draws &draws, SamplingPort &port) -> std::unique_ptr<Scheme> {
                                   return std::make_unique<Preloc>(draws, port);
                               }};

} // namespace ps
