#include "protocol/board.h"

namespace ps {

void Board::propose(uint64_t id, const Notice &notice) {
    if (self_ != 0) return port_.propose(id, notice);
    decide(notice);
    port_.answered(id);
}

void Board::receive_proposal(NodeId from, uint64_t id, const Notice &notice) {
    decide(notice);
    port_.answer(from, id);
}

void Board::decide(const Notice &proposed) {
    const Notice *standing = find(proposed.name);
    if (proposed.text.empty() ? !standing || standing->number != proposed.number : standing != nullptr) return;
    Notice notice = proposed;
    if (!notice.text.empty()) notice.number = ++last_number_;
    adopt(notice);
    for (NodeId node = 1; node < nodes_; node++) port_.tell(node, notice);
}

void Board::adopt(const Notice &notice) {
    if (notice.text.empty())
        standing_.erase(notice.name);
    else
        standing_[notice.name] = notice;
    port_.adopted(notice);
}

const Notice *Board::find(const std::string &name) const {
    auto found = standing_.find(name);
    return found == standing_.end() ? nullptr : &found->second;
}

} // namespace ps
