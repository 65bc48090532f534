// What the functions of ps.h have in common: they check that pointers and numbers are usable, and turn exceptions into
// codes. Everything else is done by the classes behind the handles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "errors.h"
#include "net/remote.h"
#include "ps.h"

namespace ps {

template <class Type>
Type &require(Type *pointer, const char *name) {
    if (!pointer) fail(PS_EINVAL, Where{}, "%s is null", name);
    return *pointer;
}

inline double seconds(double timeout, double otherwise) {
    if (!(timeout >= 0) || std::isinf(timeout))
        fail(PS_EINVAL, Where{}, "timeout is %g; it must be a number of seconds", timeout);
    return timeout > 0 ? timeout : otherwise;
}

// Call wait(*object, seconds) with the default in place of a timeout of 0.
template <class Type, class Wait>
int32_t wait_for(Type *object, const char *name, double timeout, Wait &&wait) {
    return guarded([&] { return wait(require(object, name), seconds(timeout, default_wait_timeout)); });
}

// A copy of the caller's options that has exactly the fields that this library knows.
template <class Options>
Options known(const Options *options) {
    const uint64_t size = require(options, "options").size;
    if (size <= sizeof size)
        fail(PS_EINVAL, Where{-1, int64_t(size), int64_t(sizeof(Options))},
             "options.size is %llu: it must be sizeof of the struct, %zu here", static_cast<unsigned long long>(size),
             sizeof(Options));
    const char *bytes = reinterpret_cast<const char *>(options);
    if (size > sizeof(Options) && std::any_of(bytes + sizeof(Options), bytes + size, [](char byte) { return byte; }))
        fail(PS_EINVAL, Where{-1, int64_t(size), int64_t(sizeof(Options))},
             "the options have fields beyond the %zu bytes that this version of libps knows", sizeof(Options));
    Options known{};
    std::memcpy(&known, options, std::min<uint64_t>(size, sizeof known));
    return known;
}

// Write what was asked for to a caller's struct of so many bytes; fields that this library does not know become 0.
template <class Struct>
void give(const Struct &asked, Struct *to, size_t bytes, const char *name) {
    std::memset(&require(to, name), 0, bytes);
    std::memcpy(to, &asked, std::min(bytes, sizeof asked));
}

template <class Body>
int32_t with_node(ps_node *node, Body &&body) {
    return guarded([&] {
        body(require(node, "node"));
        return int32_t(PS_OK);
    });
}

} // namespace ps
