// The backups that a node keeps of other nodes' keys: each key's whole and its version. A key takes 24 bytes of a table
// that is a quarter to half full, and a block of memory for the whole.
#pragma once

#include <cstring>
#include <memory>

#include "flat_map.h"
#include "messages.h"

namespace ps {

struct Copy {
    uint64_t version = 0;
    std::unique_ptr<char[]> whole;
};

class Copies {
public:
    bool empty() const { return copies_.empty(); }
    size_t size() const { return copies_.size(); }
    uint64_t bytes() const { return bytes_; } // of the wholes

    const Copy *find(Key key) const { return copies_.find(key); }
    bool has_newer(Key key, uint64_t version) const { // or this one
        const Copy *copy = find(key);
        return copy && copy->version >= version;
    }

    // Of a key there are as many bytes each time. If there is a newer one, it stays.
    void put(Key key, uint64_t version, const char *whole, uint64_t bytes) {
        Copy &copy = copies_[key];
        if (copy.version >= version) return;
        if (!copy.whole) {
            copy.whole.reset(new char[bytes]);
            bytes_ += bytes;
        }
        std::memcpy(copy.whole.get(), whole, bytes);
        copy.version = version;
    }
    void note_version(Key key, uint64_t version) { copies_[key].version = version; } // of one that is here
    void erase(Key key, uint64_t bytes) { // if it is here
        Copy *copy = copies_.find(key);
        if (!copy) return;
        copy->whole.reset();
        bytes_ -= bytes;
        copies_.erase(key);
    }

    template <class Body>
    void for_each(Body &&body) const { // body(key, copy)
        copies_.for_each(body);
    }

private:
    FlatMap<Copy> copies_;
    uint64_t bytes_ = 0;
};

} // namespace ps
