// What the system has to have left for a ZeroMQ context and its first socket: where it lacks something then, ZeroMQ ends
// the process.
#pragma once

namespace ps {

void require_room_for_zmq(); // descriptors and threads; throws PS_ESYSTEM

} // namespace ps
