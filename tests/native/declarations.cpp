// What stands on the board for a table, written and read again; and texts that were damaged, which are refused or name
// some nodes of the cluster in ascending order.
//
// declarations TIMES
#include <cstdio>
#include <cstdlib>

#include "messages.h"
#include "require.h"
#include "tables/declaration.h"

using namespace ps;

namespace {

constexpr NodeId places = 300;

Declaration some_declaration() {
    Declaration declared{"capacity=10 lengths=4", {}};
    const uint64_t share = 1 + draw(5);
    for (NodeId node = 0; node < places; node++)
        if (draw(5) < share) declared.first.push_back(node);
    if (declared.first.empty()) declared.first.push_back(NodeId(draw(places)));
    return declared;
}

void check_damaged(std::string text) {
    for (uint64_t left = 1 + draw(3); left > 0; left--) text[draw(text.size())] = char(' ' + draw(95));
    try {
        const Declaration found = Declaration::read(text, places);
        REQUIRE(!found.first.empty() && found.first.back() < places);
        for (size_t i = 1; i < found.first.size(); i++) REQUIRE(found.first[i - 1] < found.first[i]);
    } catch (const Malformed &error) {
        REQUIRE(*error.what());
    }
}

} // namespace

int main(int count, char **arguments) {
    for (long i = count > 1 ? std::atol(arguments[1]) : 1000; i > 0; i--) {
        const Declaration declared = some_declaration();
        const Declaration found = Declaration::read(declared.text(), places);
        REQUIRE(found.options == declared.options && found.first == declared.first);
        check_damaged(declared.text());
    }
    REQUIRE(Declaration({"a=1", {0, 1, 2, 5}}).text() == "a=1|0-2,5");
    REQUIRE(Declaration({"a=1", {7}}).text() == "a=1|7");
    std::puts("ok");
}
