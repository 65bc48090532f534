#include "net/memory/options.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>

#include "errors.h"

namespace ps {

namespace {

constexpr char scheme[] = "memory://";

std::vector<std::string> split(const std::string &text, char separator) {
    std::vector<std::string> parts;
    for (size_t at = 0; at <= text.size();) {
        size_t end = std::min(text.find(separator, at), text.size());
        parts.push_back(text.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

double number(const std::string &text, const std::string &option) {
    char *end = nullptr;
    double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end || !std::isfinite(value) || value < 0)
        fail(PS_EINVAL, Where{}, "'%s' in a memory:// endpoint: '%s' must be a number that is not negative",
             option.c_str(), text.c_str());
    return value;
}

struct Row {
    const char *name;
    void (*take)(MemoryOptions &options, const std::string &value, const std::string &option);
};

const Row rows[] = {
    {"delay", [](auto &options, auto &value, auto &option) { options.delay = number(value, option); }},
    {"jitter", [](auto &options, auto &value, auto &option) { options.jitter = number(value, option); }},
    {"beside", [](auto &options, auto &value, auto &) { options.beside = value; }},
    {"backlog", [](auto &options, auto &value, auto &option) { options.backlog = uint64_t(number(value, option)); }},
    {"cut", [](auto &options, auto &value, auto &option) { options.cut = number(value, option); }},
    {"breaks",
     [](auto &options, auto &value, auto &option) {
         for (const std::string &moment : split(value, ',')) options.breaks.push_back(number(moment, option));
         std::sort(options.breaks.begin(), options.breaks.end());
     }},
};

} // namespace

MemoryOptions parse_memory_endpoint(const std::string &endpoint) {
    MemoryOptions options;
    size_t begin = sizeof scheme - 1, question = std::min(endpoint.find('?'), endpoint.size());
    options.name = endpoint.substr(begin, question - begin);
    if (options.name.empty())
        fail(PS_EINVAL, Where{}, "'%s' has no name: memory://NAME, or memory://* for a free one", endpoint.c_str());
    if (question == endpoint.size()) return options;
    for (const std::string &option : split(endpoint.substr(question + 1), '&')) {
        size_t equals = std::min(option.find('='), option.size());
        std::string name = option.substr(0, equals);
        auto row = std::find_if(std::begin(rows), std::end(rows), [&](const Row &one) { return one.name == name; });
        if (row == std::end(rows))
            fail(PS_EINVAL, Where{},
                 "'%s' is no option of a memory:// endpoint: these are delay, jitter, beside, backlog, cut and breaks",
                 option.c_str());
        row->take(options, option.substr(std::min(equals + 1, option.size())), option);
    }
    return options;
}

} // namespace ps
