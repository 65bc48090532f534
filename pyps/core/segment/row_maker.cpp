#include "segment/row_maker.h"

#include <algorithm>

#include "errors.h"

namespace ps {

namespace {
constexpr uint64_t rows_at_once = 1 << 12; // rows whose memory is committed together
constexpr uint64_t rows_of_large_page = Mapping::large_page / HashedRows::row_bytes; // in the directory
// The other table of the same size.
constexpr uint32_t twin(uint32_t table) { return table % 2 ? table + 1 : table - 1; }
} // namespace

RowMaker::RowMaker(Mapping &mapping, uint64_t at, uint64_t directory_at, uint32_t most_rows,
                   std::vector<Column> columns)
    : mapping_(mapping), at_(at), most_rows_(most_rows), rows_(mapping.at(at), mapping.at(directory_at)),
      columns_(std::move(columns)) {
    mapping_.commit(at_, sizeof(HashedRows::Head));
    columns_.push_back({directory_at, HashedRows::row_bytes});
    uint64_t rows = rows_.head_->rows.load(std::memory_order_relaxed);
    committed_ = std::min<uint64_t>(round_up(rows, rows_at_once), most_rows_);
    for (uint64_t index = 0; index < rows; index++) {
        Row row = HashedRows::row_at(index);
        if (rows_.find(rows_.key(row)) == row)
            live_++;
        else
            free_.push_back(row);
    }
    if (uint32_t table = current()) {
        for (uint64_t at = 0; at < HashedRows::size(table); at++)
            for (uint32_t slot = 0; slot < Tags::slots; slot++)
                used_ += rows_.buckets(table)[at].tags.at(slot) != HashedRows::unused;
        uint32_t largest = HashedRows::table_for(most_rows_) + 1;
        for (uint32_t other = 1; other <= largest; other++)
            // A table that a killed process had begun or was giving back.
            if (other != table && other != former()) discard(other);
    }
}

void RowMaker::name(Row row, uint64_t key) {
    rows_.key_word(row).store(key, std::memory_order_release);
    put(current(), row, mix(key));
    live_++;
}

bool RowMaker::remove(uint64_t key) {
    Row row = rows_.find(key);
    if (row == no_row) return false;
    if (former()) erase_in(former(), key, row); // first, as it might be moved to the current table again
    erase_in(current(), key, row);
    rows_.key_word(row).store(HashedRows::nobody, std::memory_order_release);
    free_.push_back(row);
    live_--;
    return true;
}

Row RowMaker::take_new() {
    uint64_t index = rows_.head_->rows.load(std::memory_order_relaxed);
    if (index == most_rows_)
        fail(PS_ENOMEM, Where{-1, most_rows_, most_rows_},
             "all %u rows for keys are taken: give the server more capacity", most_rows_);
    if (index >= committed_) commit_rows(index + 1);
    rows_.head_->rows.store(uint32_t(index + 1), std::memory_order_release);
    return HashedRows::row_at(index);
}

// In columns with so many rows in all.
uint64_t RowMaker::rows_in_columns(uint64_t rows) const {
    return std::max(committed_, std::min<uint64_t>(round_up(rows, rows_at_once), most_rows_));
}

// If the present table is smaller, the next one and the one after that will be larger than what they replace.
uint64_t RowMaker::bytes_for(uint64_t live) const {
    const uint64_t more = rows_in_columns(live) - committed_, next = HashedRows::bytes_of_next_table(live);
    const uint64_t now = current() ? HashedRows::size(current()) * sizeof(Bucket) : 0;
    uint64_t bytes = next + (next > now ? next - now : 0);
    for (const Column &column : columns_) bytes += column.bytes(more);
    return bytes;
}

void RowMaker::commit_rows(uint64_t rows) {
    const uint64_t end = rows_in_columns(rows);
    for (const Column &column : columns_)
        mapping_.commit(column.at + committed_ / column.group * column.group_bytes, column.bytes(end - committed_));
    committed_ = end;
    if (end % rows_of_large_page == 0)
        mapping_.make_large(columns_.back().at + (end - rows_of_large_page) * HashedRows::row_bytes);
}

// Put a row into a table that does not have the key and is not full.
void RowMaker::put(uint32_t table, Row row, uint64_t hashed) {
    const uint64_t mask = HashedRows::size(table) - 1;
    for (uint64_t at = hashed & mask;; at = (at + 1) & mask) {
        Bucket &bucket = rows_.buckets(table)[at];
        const uint64_t removed = bucket.tags.with(HashedRows::removed),
                       free = removed ? removed : bucket.tags.with(HashedRows::unused);
        if (!free) continue;
        used_ += !removed;
        const uint32_t slot = Tags::first_of(free);
        bucket.rows[slot].store(HashedRows::index_of(row), std::memory_order_relaxed);
        bucket.tags.set(slot, HashedRows::tag_of(hashed));
        return;
    }
}

void RowMaker::erase_in(uint32_t table, uint64_t key, Row row) {
    const uint64_t mask = HashedRows::size(table) - 1, hashed = mix(key);
    for (uint64_t tried = 0, at = hashed & mask; tried <= mask; tried++, at = (at + 1) & mask) {
        Bucket &bucket = rows_.buckets(table)[at];
        for (uint32_t slot = 0; slot < Tags::slots; slot++)
            if (bucket.tags.at(slot) == HashedRows::tag_of(hashed) && bucket.row(slot) == row)
                bucket.tags.set(slot, HashedRows::removed);
        if (bucket.tags.with(HashedRows::unused)) return;
    }
}

// Make sure that one more key fits.
void RowMaker::make_room() {
    if (!current()) begin(HashedRows::table_for(0));
    if (former()) move_some(at_once);
    if (used_ < HashedRows::fullest(current())) return;
    if (former()) move_some(UINT64_MAX);
    uint32_t wanted = HashedRows::table_for(live());
    begin(HashedRows::size(wanted) == HashedRows::size(current()) ? twin(current()) : wanted);
}

void RowMaker::begin(uint32_t table) {
    mapping_.commit_large(place_of(table), HashedRows::size(table) * sizeof(Bucket));
    change_tables(table, current());
    used_ = moved_ = 0;
}

void RowMaker::move_some(uint64_t buckets) {
    uint32_t from = former();
    if (!from) return;
    for (; buckets > 0 && moved_ < HashedRows::size(from); buckets--, moved_++) {
        const Bucket &bucket = rows_.buckets(from)[moved_];
        for (uint32_t slot = 0; slot < Tags::slots; slot++)
            if (bucket.tags.at(slot) > HashedRows::removed) __builtin_prefetch(&rows_.key_word(bucket.row(slot)));
        for (uint32_t slot = 0; slot < Tags::slots; slot++) {
            if (bucket.tags.at(slot) <= HashedRows::removed) continue;
            Row row = bucket.row(slot);
            uint64_t key = rows_.key(row), hashed = mix(key);
            // It may be there already, moved by a process that was killed.
            if (rows_.find_in(current(), key, hashed) == no_row) put(current(), row, hashed);
        }
    }
    if (moved_ == HashedRows::size(from)) finish();
}

void RowMaker::finish() {
    uint32_t table = former();
    change_tables(current(), 0);
    discard(table);
}

void RowMaker::discard(uint32_t table) { mapping_.discard(place_of(table), HashedRows::size(table) * sizeof(Bucket)); }

uint64_t RowMaker::place_of(uint32_t table) const { return at_ + HashedRows::place(table) * sizeof(Bucket); }

void RowMaker::change_tables(uint32_t current, uint32_t former) {
    uint64_t changes = (rows_.head_->tables.load(std::memory_order_relaxed) >> 16) + 1;
    rows_.head_->tables.store(changes << 16 | former << 8 | current, std::memory_order_release);
}

} // namespace ps
