#include "wire/board.h"

#include "wire/parts.h"

namespace ps {

namespace {

bool fits(const BoardMessage &message) {
    const bool has_number = message.notice.number > 0, has_text = !message.notice.text.empty();
    switch (message.what) {
    case BoardMessage::What::proposal: return has_number != has_text;
    case BoardMessage::What::notice: return has_number;
    case BoardMessage::What::answer:
    case BoardMessage::What::ask: return !has_number && !has_text;
    case BoardMessage::What::copy: return has_number && has_text;
    case BoardMessage::What::changes: return !has_text;
    }
    return false;
}

} // namespace

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
    if (message.what > What::ask) throw Malformed("it is no message about a board");
    reader.zeros(6);
    message.id = reader.get<uint64_t>();
    message.notice.number = reader.get<uint64_t>();
    const auto name = reader.get<uint32_t>(), text = reader.get<uint32_t>();
    message.notice.name = get_text(reader, name, most_name, "its name");
    message.notice.text = get_text(reader, text, most_text, "its text");
    reader.require_end();
    const Notice &notice = message.notice;
    const What what = message.what;
    if ((message.id > 0) != (what == What::proposal || what == What::answer))
        throw Malformed("a proposal and an answer have an id, others have none");
    if (notice.name.empty() == (what == What::proposal || what == What::notice || what == What::copy))
        throw Malformed("a proposal, a notice and its copy have a name, others have none");
    if (!fits(message)) throw Malformed("its number and its text do not fit to what it is");
    return message;
}

} // namespace ps
