// How many of ZeroMQ's threads carry a node's messages: as many as its server has, and more where there are both many
// nodes and processors for these threads.
#include "net/zeromq/carriers.h"

#include <sched.h>

#include <cstdio>

#include "check.h"

using namespace ps;

namespace {

void few_nodes_have_those_of_the_server() {
    CHECK(carriers_of_node(1, 1, 64) == 1);
    CHECK(carriers_of_node(1, 32, 64) == 1);
    CHECK(carriers_of_node(4, 2, 2) == 4);
}

void many_nodes_have_more_where_processors_are_left() {
    CHECK(carriers_of_node(1, 33, 64) == 2);
    CHECK(carriers_of_node(1, 256, 64) == 8);
    CHECK(carriers_of_node(1, 1000, 64) == 8);
    CHECK(carriers_of_node(16, 1000, 64) == 16);
    CHECK(carriers_of_node(1, 256, 4) == 2);
    CHECK(carriers_of_node(2, 256, 64) == 8);
    for (uint32_t processors = 1; processors < 4; processors++) CHECK(carriers_of_node(1, 1000, processors) == 1);
}

void only_processors_of_this_process_count() {
    cpu_set_t all, one;
    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    CHECK(usable_processors() == uint32_t(CPU_COUNT(&all)));
    int first = 0;
    while (!CPU_ISSET(first, &all)) first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    CHECK(sched_setaffinity(0, sizeof one, &one) == 0);
    CHECK(usable_processors() == 1);
}

} // namespace

int main() {
    few_nodes_have_those_of_the_server();
    many_nodes_have_more_where_processors_are_left();
    only_processors_of_this_process_count();
    std::puts("ok");
}
