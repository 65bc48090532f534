// The steps of a run that was drawn, for who looks for the cause of a failure.
#pragma once

#include <cstdarg>
#include <cstdio>

namespace ps {

inline bool tracing;

__attribute__((format(printf, 1, 2))) inline void trace(const char *format, ...) {
    if (!tracing) return;
    va_list arguments;
    va_start(arguments, format);
    std::vprintf(format, arguments);
    va_end(arguments);
    std::printf("\n");
}

} // namespace ps
