// naive: keys are drawn when a sample is prepared, and pulled like any other keys.
#include "sampling/scheme.h"

namespace ps {

namespace {

class Naive : public Scheme {
public:
    using Scheme::Scheme;
    void prepare(Sample *sample, int64_t n) override { sample->keys = draws_.sample(n); }
};

} // namespace

const SchemeKind naive_scheme{"naive", [](Draws &draws, SamplingPort &port) -> std::unique_ptr<Scheme> {
                                  return std::make_unique<Naive>(draws, port);
                              }};

} // namespace ps
