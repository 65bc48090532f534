// Finds a row of a table of sampling schemes or distributions by its name.
#pragma once

#include <cstring>
#include <string>

#include "errors.h"

namespace ps {

template <class Kind, size_t count>
const Kind &find_kind(const Kind *const (&kinds)[count], const char *what, const char *name) {
    std::string names;
    for (const Kind *kind : kinds) {
        if (name && std::strcmp(kind->name, name) == 0) return *kind;
        names += (names.empty() ? "" : ", ") + std::string(kind->name);
    }
    fail(PS_EINVAL, Where{}, "there is no %s '%.32s'; there are: %s", what, name ? name : "", names.c_str());
}

} // namespace ps
