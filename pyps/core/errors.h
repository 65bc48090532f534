// Failures are exceptions of one type inside the library, and a code and ps_last_error() outside of it.
#pragma once

#include <cstdint>
#include <exception>
#include <new>

#include "ps.h"

namespace ps {

// Where in a batch something is wrong: the three numbers of a ps_error.
struct Where {
    int64_t position = -1;
    int64_t value = 0;
    int64_t limit = 0;
};

class Failure : public std::exception {
public:
    explicit Failure(const ps_error &error) : error_(error) {}
    const char *what() const noexcept override { return error_.message; }
    const ps_error &error() const { return error_; }

private:
    ps_error error_;
};

[[noreturn]] __attribute__((format(printf, 3, 4))) void fail(int32_t code, const Where &where, const char *format, ...);
[[noreturn]] void fail_with_errno(const char *what);

// A thread's first failure takes memory for what belongs to the thread, and the process ends if there is none. Call
// this while there is.
void make_room_for_failures() noexcept;

int32_t remember(const ps_error &error) noexcept; // for ps_last_error(); returns the code
int32_t remember(int32_t code, const char *message) noexcept;

// Run the body of a function of the C interface; any exception becomes a code.
template <class Body>
int32_t guarded(Body &&body) noexcept {
    try {
        return body();
    } catch (const Failure &failure) {
        return remember(failure.error());
    } catch (const std::bad_alloc &) {
        return remember(PS_ENOMEM, "this process has no memory left");
    } catch (const std::exception &other) {
        return remember(PS_ESYSTEM, other.what());
    }
}

} // namespace ps
