// Keys that encrypt messages between nodes and workers, and prove that both ends belong to one cluster.
#pragma once

#include <string>

namespace ps {

// A pair of CURVE keys in Z85, 40 characters each; if they are empty, nothing is encrypted.
struct CurveKeys {
    std::string public_key, secret_key;
};

void check_curve(const CurveKeys &keys); // throws PS_EINVAL if they are no pair

} // namespace ps
