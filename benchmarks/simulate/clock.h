// The time that the shipped code sees: the simulation's own. Its calls of the system's clock_gettime() end up in
// clock.cpp, whose definition comes before the C library's.
#pragma once

namespace ps::simulate {

extern double now; // seconds; set by the simulation only

double real_seconds(); // the system's monotonic clock, for what the simulation itself takes

} // namespace ps::simulate
