#include "tables/options.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstring>
#include <iterator>
#include <sstream>

#include "errors.h"
#include "protocol/key_space.h"
#include "segment/segment.h"
#include "text_key.h"

namespace ps {

namespace {

const char *const dtypes[] = {"float32", "float64", "float16", "bfloat16", "int32", "int64"}; // by ps_dtype
const char *const evictions[] = {"none", "lru", "lfu", "age"}; // by ps_eviction

template <size_t count>
int32_t number_in(const char *const (&names)[count], const std::string &name, const char *what) {
    auto row = std::find(std::begin(names), std::end(names), name);
    if (row == std::end(names)) fail(PS_EINVAL, Where{}, "there is no %s %s", what, name.c_str());
    return int32_t(row - std::begin(names));
}

std::string described(const PushRule &push) {
    return push.rule().settings.empty() ? "" : push.rule().describe(push.settings);
}

template <class Number>
Number number(const std::string &text, const std::string &name) {
    Number found{};
    const char *begin = text.data(), *end = begin + text.size();
    const auto [stop, error] = std::from_chars(begin, end, found);
    if (text.empty() || stop != end || error != std::errc())
        fail(PS_EINVAL, Where{}, "%s of a table is '%s', no number", name.c_str(), text.c_str());
    return found;
}

std::string written(double number) { // as short as it can be read again
    char text[32];
    return std::string(text, std::to_chars(text, text + sizeof text, number).ptr);
}

} // namespace

static void require_hashed(const TableOptions &table) {
    if (table.hash != text_hash)
        fail(PS_EINVAL, Where{}, "hash %.80s is unknown; texts are hashed by %s", table.hash.c_str(), text_hash);
    if (table.num_keys)
        fail(PS_EINVAL, Where{-1, table.num_keys, 0},
             "num_keys is %lld, but the hash of a text may be any number: give a capacity instead",
             static_cast<long long>(table.num_keys));
    if (table.lengths.size() != 1)
        fail(PS_EINVAL, Where{-1, int64_t(table.lengths.size()), 1},
             "%zu value lengths were given; with a hash a table has one, as a text does not say its class",
             table.lengths.size());
}

TableOptions TableOptions::of(const ps_node_options &options) {
    ps_node_options others = options;
    others.size = others.num_keys = others.capacity = others.memory_limit = others.num_lengths = 0;
    others.dtype = others.eviction = others.admission = 0;
    others.max_age = 0;
    others.value_lengths = nullptr;
    others.optimizer = others.initializer = others.hash = nullptr;
    const ps_node_options none{};
    if (std::memcmp(&others, &none, sizeof none) != 0)
        fail(PS_EINVAL, Where{},
             "a table has num_keys or capacity, value_lengths, dtype, memory_limit, eviction, max_age, admission, "
             "optimizer, initializer and hash; all else is as for its node");
    if (options.num_lengths < 1 || !options.value_lengths ||
        options.num_lengths > (options.capacity ? int64_t(most_key_classes) : 1))
        fail(PS_EINVAL, Where{-1, options.num_lengths, most_key_classes},
             "%lld value lengths were given; a table has one, or with a capacity up to %u, for classes of keys",
             static_cast<long long>(options.num_lengths), most_key_classes);
    if (options.dtype < 0 || size_t(options.dtype) >= std::size(dtypes))
        fail(PS_EINVAL, Where{-1, options.dtype, PS_INT64}, "dtype %d is unknown", options.dtype);
    const PushRule push = PushRule::read(options.optimizer ? options.optimizer : "");
    const Initializer initializer = Initializer::read(options.initializer ? options.initializer : "");
    Segment::check(options, push, initializer);
    TableOptions found;
    found.num_keys = options.num_keys;
    found.capacity = options.capacity;
    found.memory_limit = options.memory_limit;
    found.dtype = options.dtype;
    found.eviction = options.eviction;
    found.max_age = options.max_age;
    found.admission = options.admission > 1 ? options.admission : 0;
    found.lengths.assign(options.value_lengths, options.value_lengths + options.num_lengths);
    found.optimizer = described(push);
    found.initializer = initializer.describe();
    found.hash = options.hash ? options.hash : "";
    if (!found.hash.empty()) require_hashed(found);
    return found;
}

std::string TableOptions::text() const {
    std::ostringstream out;
    if (capacity)
        out << "capacity=" << capacity;
    else
        out << "num_keys=" << num_keys;
    out << " lengths=";
    for (size_t i = 0; i < lengths.size(); i++) out << (i ? "," : "") << lengths[i];
    out << " dtype=" << dtypes[dtype];
    if (!optimizer.empty()) out << " optimizer=" << optimizer;
    if (!initializer.empty()) out << " initializer=" << initializer;
    if (!hash.empty()) out << " hash=" << hash;
    if (memory_limit) out << " memory_limit=" << memory_limit;
    if (eviction) out << " eviction=" << evictions[eviction];
    if (max_age > 0) out << " max_age=" << written(max_age);
    if (admission) out << " admission=" << admission;
    return out.str();
}

TableOptions TableOptions::read(const std::string &text) {
    TableOptions found;
    std::istringstream in(text);
    for (std::string part; in >> part;) {
        const size_t equals = part.find('=');
        const std::string name = part.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
        if (name == "capacity")
            found.capacity = number<int64_t>(value, name);
        else if (name == "num_keys")
            found.num_keys = number<int64_t>(value, name);
        else if (name == "memory_limit")
            found.memory_limit = number<int64_t>(value, name);
        else if (name == "optimizer")
            found.optimizer = described(PushRule::read(value));
        else if (name == "initializer")
            found.initializer = Initializer::read(value).describe();
        else if (name == "hash")
            found.hash = value;
        else if (name == "dtype")
            found.dtype = number_in(dtypes, value, "dtype");
        else if (name == "eviction")
            found.eviction = number_in(evictions, value, "eviction");
        else if (name == "max_age")
            found.max_age = number<double>(value, name);
        else if (name == "admission")
            found.admission = number<int32_t>(value, name);
        else if (name == "lengths") {
            std::istringstream each(value);
            for (std::string one; std::getline(each, one, ',');) found.lengths.push_back(number<int64_t>(one, name));
        } else {
            fail(PS_EINVAL, Where{}, "a table has no option '%s'", name.c_str());
        }
    }
    return of(found.for_node());
}

ps_node_options TableOptions::for_node() const {
    ps_node_options options{};
    options.size = sizeof options;
    options.num_keys = num_keys;
    options.capacity = capacity;
    options.memory_limit = memory_limit;
    options.dtype = dtype;
    options.eviction = eviction;
    options.max_age = max_age;
    options.admission = admission;
    options.value_lengths = lengths.data();
    options.num_lengths = int64_t(lengths.size());
    options.optimizer = optimizer.c_str();
    options.initializer = initializer.c_str();
    options.hash = hash.c_str();
    return options;
}

void require_table_name(const std::string &name) {
    auto is_allowed = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == '-' || c == '.'; };
    if (name.empty() || name.size() > most_table_name || !std::all_of(name.begin(), name.end(), is_allowed))
        fail(PS_EINVAL, Where{-1, int64_t(name.size()), int64_t(most_table_name)},
             "'%.80s' is no name of a table: 1 to %zu letters, digits, '_', '-' and '.'", name.c_str(),
             most_table_name);
}

} // namespace ps
