// Writes of many keys, with backups. Most keys that an operation writes are plain: nothing else happens to them. Their
// backups go in one message, one answer comes back, and the worker gets one. A key to which anything else happens
// meanwhile leaves its run, and goes on by itself, as in backups.cpp; so no other file has to know about runs.
#include <algorithm>

#include "each_key.h"
#include "protocol.h"
#include "step.h"

namespace ps {

// Whether a write of this key can be a part of a run. A key that is being deleted has replicas still, or is a Write.
bool Protocol::may_run(Key key) const {
    return values_.standing(key) == Standing::owned && !in_run_.count(key) && !writes_.count(key) &&
           !masters_.count(key) && !lacking_.count(key) && !keepers_.of(key).empty();
}

void Protocol::receive_writes(const std::vector<Key> &keys, const std::vector<uint32_t> &positions, Operation operation,
                              Origin origin, const char *values, bool from_home) {
    const bool may_be_known = recent_.has_any_of(origin);
    Run *run = nullptr;
    Bytes whole;
    for_each(keys, [&](size_t i, Key key) {
        const char *value = values;
        values += values_.value_bytes(key);
        origin.position = positions.empty() ? uint32_t(i) : positions[i];
        const bool is_plain = backups_ > 0 && may_run(key) && !(may_be_known && recent_.has(key, origin));
        if (!is_plain || !do_now(key, [&] { values_.read(key, &whole); }))
            return receive(key, Request{operation, origin, Bytes(value, values)}, from_home);
        operation == Operation::push ? values_.apply(&whole, value, key) : values_.assign(&whole, value, key);
        const bool fits = run && run->missing == keepers_.of(key) &&
                          run->message.wholes.size() + whole.size() <= most_bytes_at_once;
        if (!fits) {
            if (run) send(*run);
            run = &begin_run(keepers_.of(key), origin);
        }
        BackupRun &message = run->message;
        in_run_[key] = {message.version, uint32_t(message.keys.size()), uint32_t(message.wholes.size())};
        message.keys.push_back(key);
        message.positions.push_back(origin.position);
        message.wholes.insert(message.wholes.end(), whole.begin(), whole.end());
    });
    if (run) send(*run);
}

Run &Protocol::begin_run(const std::vector<NodeId> &keepers, const Origin &origin) {
    const uint64_t version = ++last_version_;
    return runs_[version] = Run{{self_, version, origin, {}, {}, {}}, keepers, {}};
}

void Protocol::send(const Run &run) {
    for (NodeId keeper : run.missing) post_.send(keeper, run.message);
}

void Protocol::receive(const BackupRun &message) {
    if (backups_ == 0) throw Unexpected("backups come, but keys have none");
    for (Key key : message.keys)
        if (owns(key)) throw Unexpected("a backup comes of a key that is here");
    last_version_ = std::max(last_version_, message.version);
    const char *whole = message.wholes.data();
    for (Key key : message.keys) {
        const uint64_t bytes = values_.whole_bytes(key);
        copies_.put(key, message.version, whole, bytes);
        whole += bytes;
    }
    recent_.note(message.origin, message.keys, message.positions);
    post_.send(message.owner, BackedRun{self_, message.version});
}

void Protocol::receive(const BackedRun &message) {
    auto found = runs_.find(message.version);
    if (found == runs_.end()) return; // each key has left it, or a former epoch had it
    Run &run = found->second;
    for (size_t i = 0; i < run.left.size(); i++) receive(run.left[i], Backed{message.keeper, message.version});
    run.missing.erase(std::remove(run.missing.begin(), run.missing.end(), message.keeper), run.missing.end());
    if (!run.missing.empty()) return;
    commit(run);
    runs_.erase(message.version);
}

// All keepers have the backups.
void Protocol::commit(const Run &run) {
    const BackupRun &message = run.message;
    std::vector<Key> keys;
    std::vector<uint32_t> positions;
    for_each(message.keys, [&](size_t i, Key key) {
        const InRun *at = in_run_.find(key);
        if (!at || at->version != message.version || at->index != i) return; // it has left the run
        auto replace = [&] { values_.replace(key, message.wholes.data() + at->offset); };
        if (!masters_.count(key) && do_now(key, replace)) {
            in_run_.erase(key);
            keys.push_back(key);
            positions.push_back(message.positions[i]);
        } else {
            leave_run(key);
            receive(key, Backed{self_, message.version});
        }
    });
    recent_.note(message.origin, keys, positions);
    if (!keys.empty()) post_.answer(message.origin, positions);
}

// The key goes on by itself.
void Protocol::leave_run(Key key) {
    const InRun *at = in_run_.find(key);
    if (!at) return;
    Run &run = runs_.at(at->version);
    const BackupRun &message = run.message;
    Write &write = writes_[key];
    write.is_on_its_way = true;
    write.version = message.version;
    const char *whole = message.wholes.data() + at->offset;
    write.sent.assign(whole, whole + values_.whole_bytes(key));
    write.whole = write.sent;
    Origin origin = message.origin;
    origin.position = message.positions[at->index];
    write.written.push_back({origin, true});
    write.missing = run.missing;
    run.left.push_back(key);
    in_run_.erase(key);
}

void Protocol::leave_runs() {
    for (auto &[version, run] : runs_)
        for (Key key : run.message.keys) leave_run(key);
}

} // namespace ps
