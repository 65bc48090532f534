#include "sampling/scheme.h"

#include "sampling/registry.h"

namespace ps {

namespace {
const SchemeKind *const schemes[] = {&naive_scheme, &preloc_scheme, &pool_scheme, &local_scheme};
}

const SchemeKind &find_scheme(const char *name) { return find_kind(schemes, "sampling scheme", name); }

int32_t Scheme::pull(Sample *sample, ps_request *request) {
    request->keys = sample->keys.data() + sample->used;
    fit(request, request->num_values);
    return port_.pull(*request);
}

void Scheme::fit(ps_request *request, int64_t room) const {
    request->num_values = port_.total_length(request->keys, request->num_keys);
    if (request->num_values > room)
        fail(PS_ESIZE, Where{-1, room, request->num_values},
             "the buffer has room for %lld elements, the values of the %lld drawn keys have %lld: pull the sample into "
             "a larger one",
             static_cast<long long>(room), static_cast<long long>(request->num_keys),
             static_cast<long long>(request->num_values));
}

} // namespace ps
