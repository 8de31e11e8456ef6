#include "commands/commands.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text.hpp"
#include "framewire/jobs/configuration.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace framewire::app {
namespace {

// Prints all problems of a configuration. Returns the exit code.
int check(const std::string& path) {
    const auto configuration = jobs::read_configuration(path);
    for (const auto& problem : configuration.problems) fmt::print("{}\n", printable(to_string(configuration, problem)));
    for (const auto& warning : configuration.warnings) log_warning("{}", to_string(configuration, warning));
    if (!configuration.problems.empty()) return static_cast<int>(ErrorCode::config);
    fmt::print("{}: valid; cameras at {}:\n", printable(path), to_string(configuration.listener.listen));
    for (const auto& camera : configuration.cameras) fmt::print("  {}\n", camera.server.stream);
    return 0;
}

}  // namespace

void add_check(CommandLine& program, Action& chosen) {
    auto command = program.subcommand(
        "check", "Reports all errors of a serve configuration file by line, without opening cameras");
    const auto path = std::make_shared<std::string>();
    command.option("file", *path, "configuration file, as for serve's --config").required().type_name("FILE");
    command.when_chosen([&chosen, path] { chosen = [path] { return check(*path); }; });
}

}  // namespace framewire::app
