#include "commands/commands.hpp"

#include "framewire/core/error.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {
namespace {

constexpr const char* bench_name = "bench";

// Returns the path of framewire-bench, which is installed beside this program or is in the build folder. Empty if it
// does not exist.
std::filesystem::path bench_program(const std::filesystem::path& here) {
    for (const auto& place : {here / "framewire-bench", here / "bench" / "framewire-bench"})
        if (std::filesystem::is_regular_file(place)) return place;
    return {};
}

}  // namespace

// Called before the command line is parsed, because only framewire-bench knows its options.
void run_bench_where_named(int argc, char** argv) {
    const auto is = [&](int at, const char* word) { return at < argc && std::string_view(argv[at]) == word; };
    const bool help = is(1, "help") && is(2, bench_name) && argc == 3;
    if (!help && !is(1, bench_name)) return;
    const auto here = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const auto program = bench_program(here);
    if (program.empty() && help) return;  // the help declared below is printed instead
    if (program.empty())
        fail(ErrorCode::config,
             "the benchmarks are not built: framewire-bench is neither in {0} nor in {0}/bench; configure with "
             "-DFRAMEWIRE_BENCHES=ON and run 'ninja framewire-bench' in the build folder",
             here.native());
    std::vector<char*> arguments{argv[0]};
    std::string help_flag = "--help";
    if (help)
        arguments.push_back(help_flag.data());
    else
        arguments.insert(arguments.end(), argv + 2, argv + argc);
    arguments.push_back(nullptr);
    ::execv(program.c_str(), arguments.data());
    fail(ErrorCode::config, "cannot run {}: {}", program.native(), std::strerror(errno));
}

// Declares the subcommand for the help only; run_bench_where_named() executes it.
void add_bench(CommandLine& program, Action&) {
    auto command = program.subcommand(
        bench_name,
        "Benchmarks this machine: operations, the reports' experiments, other libraries, whole jobs, limits");
    const auto arguments = std::make_shared<std::vector<std::string>>();
    command.option("arguments", *arguments, "groups, suites and options: see 'framewire bench --help'")
        .type_name("ARGUMENT");
    command.when_chosen([arguments] {});  // keeps the arguments alive
}

}  // namespace framewire::app
