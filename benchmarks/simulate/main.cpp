// Simulates a cluster of parameter servers: the shipped nodes and workers under a clock of the simulation's own, with
// costs for what they do. It reads settings, "name value" in each line, and writes what was seen, as JSON.
//
//   simulate work: of nodes and workers
//   simulate loss: of a node
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "losses.h"
#include "report.h"

namespace ps::simulate {

namespace {

void raise_limit_of_files() { // a node has two
    rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void work(const Settings &settings) {
    const double began = real_seconds();
    Cluster cluster(settings);
    const std::unique_ptr<Workloads> workloads = make_workloads(settings);
    Meeting meeting(cluster, size_t(cluster.hosts.nodes * cluster.hosts.workers));
    std::vector<std::unique_ptr<Player>> players;
    for (auto &node : cluster.nodes)
        for (int64_t worker = 0; worker < cluster.hosts.workers; worker++)
            players.push_back(
                std::make_unique<Player>(cluster, *node, meeting, workloads->of(int64_t(players.size()))));
    size_t first = 0; // those before it have ended
    cluster.events.run([&] {
        while (first < players.size() && players[first]->has_ended()) first++;
        return first == players.size();
    });
    report(cluster, meeting, players, real_seconds() - began, std::cout);
}

} // namespace

} // namespace ps::simulate

int main(int count, char **arguments) {
    try {
        const std::string what = count == 2 ? arguments[1] : "";
        if (what != "work" && what != "loss") throw std::runtime_error("simulate work|loss");
        ps::simulate::raise_limit_of_files();
        const ps::simulate::Settings settings(std::cin);
        what == "work" ? ps::simulate::work(settings) : ps::simulate::lose_a_node(settings, std::cout);
        std::cout.flush();
        _exit(0); // what fibers hold is not taken apart
    } catch (const std::exception &error) {
        std::cerr << "simulate: " << error.what() << "\n";
        return 1;
    }
}
