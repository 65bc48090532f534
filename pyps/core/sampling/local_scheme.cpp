// local: each drawn key is replaced by the next key that this node has, as its own or as a replica; the search goes on
// at the beginning of the range when it has reached its end. No other node is asked as long as there is such a key that
// the sample may have. How often a key comes depends on where keys are: only the draws have the distribution, not the
// keys that replace them.
#include "sampling/scheme.h"

namespace ps {

namespace {

class Local : public Scheme {
public:
    using Scheme::Scheme;

    void prepare(Sample *sample, int64_t n) override { sample->keys = draws_.sample(n); }

    // Keys are replaced here, as only now it is known where they are. A key that moves away meanwhile is replaced once
    // more.
    int32_t pull(Sample *sample, ps_request *request) override {
        const int64_t room = request->num_values;
        const int64_t *drawn = sample->keys.data() + sample->used;
        const bool distinct = !draws_.area().with_replacement;
        all_here_ = true;
        chosen_.assign(drawn, drawn + request->num_keys);
        if (distinct) taken_.clear(uint64_t(request->num_keys));
        for (size_t i = 0; i < chosen_.size(); i++) {
            if (i + ahead < chosen_.size()) port_.prefetch(chosen_[i + ahead]);
            chosen_[i] = stand_in(chosen_[i], *sample);
        }
        request->keys = chosen_.data();
        int32_t code;
        for (;;) {
            fit(request, room);
            code = all_here_ ? port_.pull_local(*request) : port_.pull(*request);
            if (code != PS_ENOTLOCAL) break;
            chosen_[request->done] = stand_in(chosen_[request->done], *sample);
        }
        if (code == PS_OK && distinct)
            for (int64_t key : chosen_) sample->pulled.insert(key);
        return code;
    }

private:
    // The first key from `key` on that the sample may have: of the keys that are here or, if there is none, of all
    // keys.
    int64_t stand_in(int64_t key, const Sample &sample) {
        int64_t found = all_here_
                            ? search(key, sample, [&](int64_t from, int64_t to) { return port_.next_local(from, to); })
                            : none;
        if (found == none) {
            all_here_ = false;
            found = search(key, sample, [](int64_t from, int64_t) { return from; });
        }
        if (found == none) found = key; // the key has moved away, and all others are taken
        if (!draws_.area().with_replacement) taken_.insert(found);
        return found;
    }

    template <class Next>
    int64_t search(int64_t key, const Sample &sample, Next &&next) const {
        const SamplingArea &area = draws_.area();
        for (int64_t at = next(key, area.max); at < area.max; at = next(at + 1, area.max))
            if ((at == key || draws_.distribution().is_possible(at)) && is_free(at, sample)) return at;
        for (int64_t at = next(area.min, key); at < key; at = next(at + 1, key))
            if (draws_.distribution().is_possible(at) && is_free(at, sample)) return at;
        return none;
    }

    bool is_free(int64_t key, const Sample &sample) const {
        return draws_.area().with_replacement || !(taken_.contains(key) || sample.pulled.contains(key));
    }

    static constexpr int64_t none = -1;
    static constexpr size_t ahead = 16;

    std::vector<int64_t> chosen_;
    KeySet taken_; // keys that this pull has chosen
    bool all_here_ = true;
};

} // namespace

const SchemeKind local_scheme{"local", [](Draws &draws, SamplingPort &port) -> std::unique_ptr<Scheme> {
                                  return std::make_unique<Local>(draws, port);
                              }};

} // namespace ps
