#include "tables/declaration.h"

#include <charconv>
#include <sstream>

#include "wire/frame.h"

namespace ps {

NodeId read_node(const std::string &text, NodeId places) {
    NodeId node = 0;
    const char *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, node);
    if (text.empty() || stop != end || error != std::errc() || node >= places)
        throw Malformed("'" + text.substr(0, 20) + "' is no node");
    return node;
}

std::string Declaration::text() const {
    std::string text = options + "|";
    for (size_t begin = 0, end; begin < first.size(); begin = end) {
        for (end = begin + 1; end < first.size() && first[end] == first[end - 1] + 1; end++) continue;
        if (begin > 0) text += ",";
        text += std::to_string(first[begin]);
        if (end - begin > 1) text += "-" + std::to_string(first[end - 1]);
    }
    return text;
}

Declaration Declaration::read(const std::string &text, NodeId places) {
    const size_t bar = text.find('|');
    if (bar == std::string::npos) throw Malformed("a table is declared without its nodes");
    Declaration found{text.substr(0, bar), {}};
    std::istringstream ranges(text.substr(bar + 1));
    for (std::string range; std::getline(ranges, range, ',');) {
        const size_t dash = range.find('-');
        const NodeId begin = read_node(range.substr(0, dash), places);
        const NodeId last = dash == std::string::npos ? begin : read_node(range.substr(dash + 1), places);
        if (last < begin || (!found.first.empty() && begin <= found.first.back()))
            throw Malformed("the nodes of a table are in no order");
        for (uint32_t node = begin; node <= last; node++) found.first.push_back(NodeId(node));
    }
    if (found.first.empty()) throw Malformed("a table is declared without its nodes");
    return found;
}

} // namespace ps
