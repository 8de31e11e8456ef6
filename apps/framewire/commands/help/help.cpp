#include "commands/commands.hpp"
#include "commands/help/pages.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

namespace framewire::app {
namespace {

// Flags of the subcommand help.
struct HelpFlags {
    std::string subcommand, shell;
    bool man = false;
};

// Returns the requested text.
std::string text_of(const CommandLine& program, const HelpFlags& flags) {
    if (flags.man) return man_page(program.describe());
    if (flags.shell == "bash") return bash_completion(program.describe());
    if (flags.shell == "zsh") return zsh_completion(program.describe());
    if (flags.shell == "fish") return fish_completion(program.describe());
    return program.help(flags.subcommand);
}

}  // namespace

void add_help(CommandLine& program, Action& chosen) {
    auto command = program.subcommand("help", "Shows help for the program or a subcommand");
    const auto flags = std::make_shared<HelpFlags>();
    auto subcommand = command.option("subcommand", flags->subcommand, "only this one").type_name("SUBCOMMAND");
    auto man = command.flag("--man", flags->man, "print the manual page framewire(1)").excludes(subcommand);
    command.option("--completion", flags->shell, "print the completion script for this shell")
        .one_of({"bash", "zsh", "fish"})
        .excludes(subcommand)
        .excludes(man);
    command.when_chosen([&program, &chosen, flags] {
        chosen = [&program, flags] {
            fmt::print("{}", text_of(program, *flags));
            return 0;
        };
    });
}

}  // namespace framewire::app
