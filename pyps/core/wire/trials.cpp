#include "wire/trials.h"

#include <cmath>

#include "wire/parts.h"

namespace ps {

Bytes TrialMessage::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind));
    writer.put(uint16_t(note.what));
    writer.put(note.step);
    writer.put(note.trial);
    writer.put(uint32_t(note.acts));
    writer.zeros(4);
    writer.put(note.number);
    return writer.take();
}

TrialMessage TrialMessage::decode(const FrameHeader &header, FrameReader &reader, const Shape &) {
    using What = TrialNote::What;
    require_no_keys(header);
    const auto what = reader.get<uint16_t>();
    if (what > uint16_t(What::ended)) throw Malformed("note " + std::to_string(what) + " of a trial is unknown");
    TrialNote note{};
    note.what = What(what);
    note.step = reader.get<uint16_t>();
    if (note.step >= (note.what == What::step ? IntentTrials::steps : 1))
        throw Malformed("a trial has no step " + std::to_string(note.step) + " there");
    note.trial = reader.get<uint32_t>();
    const auto acts = reader.get<uint32_t>();
    if (acts > (note.what == What::step || note.what == What::ended ? 1 : 0))
        throw Malformed("a trial asks neither for intents nor for none");
    note.acts = acts;
    reader.zeros(4);
    note.number = reader.get<double>();
    const double most = note.what == What::found || note.what == What::ended ? IntentTrials::most_told : 0;
    if (!(note.number >= 0 && note.number <= most)) throw Malformed("a trial's number is outside of its limits");
    if (note.number == 0 && std::signbit(note.number)) throw Malformed("a trial's number is less than 0");
    reader.require_end();
    return {note};
}

} // namespace ps
