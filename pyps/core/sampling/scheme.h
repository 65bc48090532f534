// How samples are drawn and made local: one file per scheme, a row for each in scheme.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ps.h"
#include "sampling/draws.h"

namespace ps {

// What a scheme needs of its worker.
class SamplingPort {
public:
    virtual ~SamplingPort() = default;

    virtual void intend(const std::vector<int64_t> &keys, int64_t start, int64_t end) = 0;
    virtual void prefetch(int64_t key) const = 0; // next_local() will soon look whether the key is here
    virtual int64_t next_local(int64_t from, int64_t to) const = 0; // the first key of [from, to) that is here, or `to`
    virtual int64_t total_length(const int64_t *keys, int64_t n) const = 0;
    virtual int32_t pull(ps_request &request) = 0; // from the nodes where the keys live
    virtual int32_t pull_local(ps_request &request) = 0; // PS_ENOTLOCAL if key number request.done is not here
};

// A prepared sample. Its keys before `used` have been pulled.
struct Sample {
    std::vector<int64_t> keys;
    int64_t start, end; // clocks
    int64_t used = 0;
    KeySet pulled; // filled only by a scheme that needs it

    int64_t left() const { return int64_t(keys.size()) - used; }
};

class Scheme {
public:
    Scheme(Draws &draws, SamplingPort &port) : draws_(draws), port_(port) {}
    virtual ~Scheme() = default;

    // Choose a sample's n keys. They must be distinct if sampling is without replacement.
    virtual void prepare(Sample *sample, int64_t n) = 0;

    // Pull the next request.num_keys keys of a sample; not more than are left. At first, request.num_values is the room
    // that the buffer has. Sets request.keys, which lives until the next call. Throws PS_ESIZE. Unless it returns
    // PS_OK, the sample is unchanged.
    virtual int32_t pull(Sample *sample, ps_request *request);

protected:
    // Set request.num_values to what the keys need. Throws PS_ESIZE if there is less room.
    void fit(ps_request *request, int64_t room) const;

    Draws &draws_;
    SamplingPort &port_;
};

struct SchemeKind {
    const char *name;
    std::unique_ptr<Scheme> (*make)(Draws &draws, SamplingPort &port);
};

const SchemeKind &find_scheme(const char *name); // throws PS_EINVAL

extern const SchemeKind naive_scheme, preloc_scheme, pool_scheme, local_scheme;

} // namespace ps
