#include "net/zeromq/message.h"

#include "errors.h"
#include "net/zeromq/library.h"

namespace ps {

ZmqMessage::ZmqMessage() { zmq().msg_init(raw_); }
ZmqMessage::ZmqMessage(size_t bytes) {
    if (zmq().msg_init_size(raw_, bytes))
        fail(PS_ENOMEM, Where{-1, int64_t(bytes), 0}, "no memory for a message of %zu bytes", bytes);
}
ZmqMessage::ZmqMessage(ZmqMessage &&other) noexcept {
    zmq().msg_init(raw_);
    zmq().msg_move(raw_, other.raw_);
}
ZmqMessage::~ZmqMessage() { zmq().msg_close(raw_); }
const char *ZmqMessage::data() const { return static_cast<const char *>(zmq().msg_data(raw_)); }
char *ZmqMessage::data() { return static_cast<char *>(zmq().msg_data(raw_)); }
size_t ZmqMessage::size() const { return zmq().msg_size(raw_); }
bool ZmqMessage::more() const { return zmq().msg_more(raw_); }

Message room_of_zmq(size_t bytes) { return Message::of(ZmqMessage(bytes)); }

} // namespace ps
