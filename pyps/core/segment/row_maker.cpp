#include "segment/row_maker.h"

#include <algorithm>

#include "errors.h"

namespace ps {

namespace {
// Whose memory is committed together: few, then so many that a column of 8 bytes gets a large page.
constexpr uint64_t few_rows = 1 << 13, many_rows = Mapping::large_page / sizeof(uint64_t);
constexpr uint64_t rows_at_once(uint64_t rows) { return rows <= many_rows ? few_rows : many_rows; }
constexpr uint32_t tables = 2 * 28; // the largest has more slots than there can be rows
constexpr uint64_t fullest(uint64_t size) { return size / 8 * 7; }
constexpr uint32_t twin(uint32_t table) { return table % 2 ? table + 1 : table - 1; } // of the same size
} // namespace

RowMaker::RowMaker(Mapping &mapping, uint64_t at, uint32_t most_rows, std::vector<Column> columns)
    : mapping_(mapping), at_(at), most_rows_(most_rows), rows_(mapping.at(at), most_rows),
      columns_(std::move(columns)) {
    mapping_.commit(at_, sizeof(HashedRows::Head));
    columns_.push_back({at_ + HashedRows::keys_at, sizeof(uint64_t)});
    uint64_t rows = rows_.head_->rows.load(std::memory_order_relaxed);
    committed_ = std::min<uint64_t>(round_up(rows, rows_at_once(rows)), most_rows_);
    for (uint64_t row = 0; row < rows; row++)
        if (rows_.find(rows_.key(Row{row})) == Row{row})
            live_++;
        else
            free_.push_back(uint32_t(row));
    if (uint32_t table = current()) {
        for (uint64_t i = 0; i < HashedRows::size(table); i++)
            used_ += rows_.slots(table)[i].load(std::memory_order_relaxed) != 0;
        uint32_t largest = table_for(most_rows_) + 1;
        for (uint32_t other = 1; other <= largest; other++)
            if (other != table && other != former()) discard(other); // one that was begun or given up
    }
}

void RowMaker::name(Row row, uint64_t key) {
    rows_.keys_[number_of(row)].store(key, std::memory_order_release);
    uint64_t hashed = HashedRows::hash(key);
    put(current(), HashedRows::slot_of(row, hashed), hashed);
    live_++;
}

bool RowMaker::remove(uint64_t key) {
    Row row = rows_.find(key);
    if (row == no_row) return false;
    if (former()) erase_in(former(), key, row); // first: it could be moved again
    erase_in(current(), key, row);
    free_.push_back(uint32_t(number_of(row)));
    live_--;
    return true;
}

Row RowMaker::take_row() {
    if (!free_.empty()) {
        uint32_t row = free_.back();
        free_.pop_back();
        return Row{row};
    }
    uint64_t row = rows_.head_->rows.load(std::memory_order_relaxed);
    if (row == most_rows_)
        fail(PS_ENOMEM, Where{-1, most_rows_, most_rows_},
             "all %u rows for keys are taken: give the server more capacity", most_rows_);
    if (row >= committed_) commit_rows(row + 1);
    rows_.head_->rows.store(uint32_t(row + 1), std::memory_order_release);
    return Row{row};
}

void RowMaker::commit_rows(uint64_t rows) {
    uint64_t end = std::min<uint64_t>(round_up(rows, rows_at_once(rows)), most_rows_);
    for (const Column &column : columns_)
        mapping_.commit_large(column.at + committed_ / column.group * column.group_bytes,
                              (end - committed_ + column.group - 1) / column.group * column.group_bytes);
    committed_ = end;
}

// In a table without the key, which is not full.
void RowMaker::put(uint32_t table, uint64_t slot, uint64_t hashed) {
    Slot *slots = rows_.slots(table);
    const uint64_t mask = HashedRows::size(table) - 1;
    for (uint64_t at = hashed & mask;; at = (at + 1) & mask) {
        uint64_t found = slots[at].load(std::memory_order_relaxed);
        if (found != 0 && found != HashedRows::removed) continue;
        used_ += found == 0;
        slots[at].store(slot, std::memory_order_release);
        return;
    }
}

void RowMaker::erase_in(uint32_t table, uint64_t key, Row row) {
    Slot *slots = rows_.slots(table);
    const uint64_t mask = HashedRows::size(table) - 1, hashed = HashedRows::hash(key);
    const uint64_t wanted = HashedRows::slot_of(row, hashed);
    for (uint64_t tried = 0, at = hashed & mask; tried <= mask; tried++, at = (at + 1) & mask) {
        uint64_t found = slots[at].load(std::memory_order_relaxed);
        if (found == 0) return;
        if (found == wanted) slots[at].store(HashedRows::removed, std::memory_order_release);
    }
}

// For one key more.
void RowMaker::make_room() {
    if (!current()) begin(table_for(0));
    if (former()) move_some(at_once);
    if (used_ < fullest(HashedRows::size(current()))) return;
    if (former()) move_some(UINT64_MAX);
    uint32_t wanted = table_for(live_);
    begin(HashedRows::size(wanted) == HashedRows::size(current()) ? twin(current()) : wanted);
}

void RowMaker::begin(uint32_t table) {
    mapping_.commit_large(at_ + uint64_t(reinterpret_cast<char *>(rows_.slots(table)) - mapping_.at(at_)),
                          HashedRows::size(table) * sizeof(Slot));
    change_tables(table, current());
    used_ = moved_ = 0;
}

void RowMaker::move_some(uint64_t slots) {
    uint32_t from = former();
    if (!from) return;
    for (; slots > 0 && moved_ < HashedRows::size(from); slots--, moved_++) {
        uint64_t slot = rows_.slots(from)[moved_].load(std::memory_order_relaxed);
        if (slot == 0 || slot == HashedRows::removed) continue;
        uint64_t key = rows_.key(HashedRows::row_in(slot)), hashed = HashedRows::hash(key);
        if (rows_.find_in(current(), key, hashed) == no_row) put(current(), slot, hashed); // a dead one moved it
    }
    if (moved_ == HashedRows::size(from)) finish();
}

void RowMaker::finish() {
    uint32_t table = former();
    change_tables(current(), 0);
    discard(table);
}

void RowMaker::discard(uint32_t table) {
    mapping_.discard(at_ + uint64_t(reinterpret_cast<char *>(rows_.slots(table)) - mapping_.at(at_)),
                     HashedRows::size(table) * sizeof(Slot));
}

void RowMaker::change_tables(uint32_t current, uint32_t former) {
    uint64_t changes = (rows_.head_->tables.load(std::memory_order_relaxed) >> 16) + 1;
    rows_.head_->tables.store(changes << 16 | former << 8 | current, std::memory_order_release);
}

uint32_t RowMaker::table_for(uint64_t keys) {
    uint32_t table = 1;
    while (table < tables - 1 && HashedRows::size(table) / 16 * 7 < keys) table += 2;
    return table;
}

} // namespace ps
