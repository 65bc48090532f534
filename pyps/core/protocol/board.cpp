#include "protocol/board.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ps {

Board::Board(NodeId self, std::vector<NodeId> members, Port &port)
    : self_(self), port_(port), members_(std::move(members)),
      is_ready_(std::count(members_.begin(), members_.end(), self)) {}

void Board::begin(uint32_t term, std::vector<NodeId> members) {
    term_ = term;
    members_ = std::move(members);
    is_ready_ = has_asked_ = false;
    if (members_.front() != self_) port_.tell_changes(members_.front(), changes_);
    look_at_copies();
}

void Board::propose(uint64_t id, const Notice &notice) {
    proposals_[id].notice = notice;
    if (is_ready_) make(id);
}

// One that was seen to be decided is not made again: its notice may have been taken down since.
void Board::make(uint64_t id) {
    const Proposal proposal = proposals_[id];
    if (!proposal.is_decided && !decides()) return port_.propose(members_.front(), id, proposal.notice);
    if (!proposal.is_decided) decide(proposal.notice);
    proposals_.erase(id);
    port_.answered(id);
}

bool Board::is_from_host(NodeId from, uint32_t term) const {
    return term == term_ && is_ready_ && from == members_.front();
}

void Board::receive_proposal(NodeId from, uint32_t term, uint64_t id, const Notice &notice) {
    if (term != term_ || !decides()) return;
    decide(notice);
    port_.answer(from, id);
}

void Board::receive(NodeId from, uint32_t term, const Notice &notice) {
    if (is_from_host(from, term)) follow(notice);
}

void Board::receive_answer(NodeId from, uint32_t term, uint64_t id) {
    if (is_from_host(from, term) && proposals_.erase(id)) port_.answered(id);
}

void Board::decide(const Notice &proposed) {
    const Notice *standing = find(proposed.name);
    if (proposed.text.empty() ? !standing || standing->number != proposed.number : standing != nullptr) return;
    Notice notice = proposed;
    if (!notice.text.empty()) {
        notice.text = port_.completed(proposed);
        notice.number = changes_ + 1;
    }
    follow(notice);
    for (NodeId node : members_)
        if (node != self_) port_.tell(node, notice);
}

void Board::follow(const Notice &notice) {
    changes_++;
    if (notice.text.empty())
        standing_.erase(notice.name);
    else
        standing_[notice.name] = notice;
    for (auto &[id, proposal] : proposals_) {
        const Notice &mine = proposal.notice;
        const bool is_same_kind = mine.text.empty() == notice.text.empty();
        if (is_same_kind && mine.name == notice.name && (!mine.text.empty() || mine.number == notice.number))
            proposal.is_decided = true;
    }
    port_.adopted(notice);
}

const Notice *Board::find(const std::string &name) const {
    auto found = standing_.find(name);
    return found == standing_.end() ? nullptr : &found->second;
}

void Board::send_copy(NodeId to) {
    for (const auto &[name, notice] : standing_) port_.copy(to, notice);
    port_.tell_changes(to, changes_);
}

void Board::receive_ask(NodeId from, uint32_t term) {
    if (term == term_ && from == members_.front()) send_copy(from);
}

// What comes may belong to a term of which this node has not heard.
Board::Copy &Board::open_copy(NodeId from, uint32_t term) {
    Copy &copy = copies_[from];
    if (copy.term != term || copy.changes) copy = Copy{term, {}, std::nullopt};
    return copy;
}

void Board::receive_copy(NodeId from, uint32_t term, const Notice &notice) {
    if (!is_over(term)) open_copy(from, term).notices[notice.name] = notice;
}

void Board::receive_changes(NodeId from, uint32_t term, uint64_t changes) {
    if (is_over(term)) return;
    open_copy(from, term).changes = changes;
    look_at_copies();
}

Board::Copy *Board::copy_of(NodeId node) {
    auto found = copies_.find(node);
    return found == copies_.end() || found->second.term != term_ || !found->second.changes ? nullptr : &found->second;
}

void Board::look_at_copies() {
    if (is_ready_ || term_ == 0) return;
    const bool is_host = members_.front() == self_;
    std::map<NodeId, uint64_t> others; // how many changes they have followed
    NodeId most = members_.front();
    for (NodeId node : is_host ? members_ : std::vector<NodeId>{most}) {
        if (node == self_) continue;
        const Copy *copy = copy_of(node);
        if (!copy) return;
        others[node] = *copy->changes;
        if (*copy->changes > (most == self_ ? changes_ : others[most])) most = node;
    }
    if (most != self_ && others[most] != changes_) {
        if (is_host && !has_asked_) {
            has_asked_ = true;
            copies_.erase(most);
            return port_.ask(most);
        }
        take(*copy_of(most));
    }
    is_ready_ = true;
    for (auto copy = copies_.begin(); copy != copies_.end();)
        copy = copy->second.term <= term_ ? copies_.erase(copy) : std::next(copy);
    if (is_host)
        for (const auto &[node, changes] : others)
            changes == changes_ ? port_.tell_changes(node, changes) : send_copy(node);
    std::vector<uint64_t> ids;
    for (const auto &[id, proposal] : proposals_) ids.push_back(id);
    for (uint64_t id : ids) make(id);
}

// Follows, as one, the changes that lead to the board of which this is a copy.
void Board::take(const Copy &copy) {
    const std::map<std::string, Notice> before = standing_;
    for (const auto &[name, notice] : before) {
        auto found = copy.notices.find(name);
        if (found == copy.notices.end() || found->second.number != notice.number) follow({notice.number, name, ""});
    }
    std::map<uint64_t, Notice> more;
    for (const auto &[name, notice] : copy.notices)
        if (!find(name)) more[notice.number] = notice;
    for (const auto &[number, notice] : more) follow(notice);
    changes_ = *copy.changes;
}

} // namespace ps
