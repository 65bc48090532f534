#include "wire/board.h"

#include "wire/parts.h"

namespace ps {

Bytes BoardMessage::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind));
    writer.put(what);
    writer.zeros(6);
    writer.put(id);
    writer.put(notice.number);
    writer.put(uint32_t(notice.name.size()));
    writer.put(uint32_t(notice.text.size()));
    writer.put(notice.name.data(), notice.name.size());
    writer.put(notice.text.data(), notice.text.size());
    return writer.take();
}

BoardMessage BoardMessage::decode(const FrameHeader &header, FrameReader &reader) {
    require_no_keys(header);
    BoardMessage message;
    message.what = reader.get<What>();
    if (message.what > What::answer) throw Malformed("it is neither a proposal nor a notice nor an answer");
    reader.zeros(6);
    message.id = reader.get<uint64_t>();
    message.notice.number = reader.get<uint64_t>();
    const auto name = reader.get<uint32_t>(), text = reader.get<uint32_t>();
    message.notice.name = get_text(reader, name, most_name, "its name");
    message.notice.text = get_text(reader, text, most_text, "its text");
    reader.require_end();
    const Notice &notice = message.notice;
    const bool is_answer = message.what == What::answer, is_notice = message.what == What::notice;
    if (is_notice == (message.id > 0)) throw Malformed("a proposal or an answer has an id, a notice has none");
    if (is_answer != notice.name.empty()) throw Malformed("a proposal or a notice has a name, an answer has none");
    if (is_answer   ? notice.number > 0 || !notice.text.empty()
        : is_notice ? notice.number == 0
                    : (notice.number > 0) != notice.text.empty())
        throw Malformed("its number and its text do not fit to what it is");
    return message;
}

} // namespace ps
