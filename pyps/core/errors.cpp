#include "errors.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <exception>

namespace ps {

namespace {
thread_local ps_error last_error = {PS_OK, 0, -1, 0, 0, ""};
}

void fail(int32_t code, const Where &where, const char *format, ...) {
    ps_error error{code, 0, where.position, where.value, where.limit, ""};
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(error.message, sizeof error.message, format, arguments);
    va_end(arguments);
    throw Failure(error);
}

void fail_with_errno(const char *what) {
    int number = errno;
    fail(PS_ESYSTEM, Where{-1, number, 0}, "%s: %s", what, std::strerror(number));
}

void make_room_for_failures() noexcept {
    last_error.reserved = 0;
    (void)std::uncaught_exceptions(); // touches the C++ library's own
}

int32_t remember(const ps_error &error) noexcept {
    last_error = error;
    return error.code;
}

int32_t remember(int32_t code, const char *message) noexcept {
    ps_error error{code, 0, -1, 0, 0, ""};
    std::snprintf(error.message, sizeof error.message, "%s", message);
    return remember(error);
}

} // namespace ps

extern "C" const ps_error *ps_last_error(void) { return &ps::last_error; }

extern "C" const char *ps_code_name(int32_t code) {
    static const char *const names[] = {"PS_OK",       "PS_EINVAL",    "PS_EKEY",      "PS_ESIZE",
                                        "PS_ENOMEM",   "PS_ETIMEDOUT", "PS_ECLOSED",   "PS_ELOST",
                                        "PS_EFORKED",  "PS_EBUSY",     "PS_ENOTLOCAL", "PS_EWORKERS",
                                        "PS_EADDRESS", "PS_EINTR",     "PS_ESYSTEM",   "PS_ESTATE"};
    constexpr int32_t count = sizeof names / sizeof names[0];
    return code >= 0 && code < count ? names[code] : "unknown";
}
