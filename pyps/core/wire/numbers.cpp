#include "wire/numbers.h"

#include "wire/parts.h"

namespace ps {

template <Kind of_kind, class Number>
Bytes NumbersBatch<of_kind, Number>::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    writer.put(keys);
    writer.put(numbers);
    return writer.take();
}

template <Kind of_kind, class Number>
NumbersBatch<of_kind, Number> NumbersBatch<of_kind, Number>::decode(const FrameHeader &header, FrameReader &reader,
                                                                    const Shape &shape) {
    NumbersBatch batch;
    get_keys(reader, header, shape, &batch.keys);
    reader.get(&batch.numbers, header.count);
    reader.require_end();
    return batch;
}

template struct NumbersBatch<Kind::ended, uint32_t>;
template struct NumbersBatch<Kind::recall, uint32_t>;
template struct NumbersBatch<Kind::backed, uint64_t>;

} // namespace ps
