#pragma once

#include "command_line/program_info.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace framewire::app {

/// An option of a command, while it is declared and once the command line was read. Refers to the command.
class Option {
public:
    /// What stands for the value in the help, and says what completes it (values/completed_value.hpp).
    Option& type_name(const std::string& name);
    /// What the help has for the default, which is the target's value where nothing is said.
    Option& shown_default(const std::string& text);
    Option& required(bool wanted = true);
    /// It takes so many values.
    Option& expected(int values);

    // What a value may be; the help says it, and others are refused by what was typed.
    Option& one_of(const std::vector<std::string>& values);
    Option& within(int least, int most);
    Option& within(std::int64_t least, std::int64_t most);
    Option& within(double least, double most);
    Option& positive();
    /// `problem` gives what is wrong with a text; empty: nothing.
    Option& check(const std::function<std::string(const std::string&)>& problem);

    /// Is refused without, or beside, the other.
    Option& needs(const Option& other);
    Option& excludes(const Option& other);

    /// Whether the command line has it.
    bool given() const;
    /// As messages have it: "--input".
    std::string name() const;

private:
    friend class Command;
    explicit Option(CLI::Option& option) : option_(&option) {}

    CLI::Option* option_;
};

/// A subcommand, or a group of options of one. Targets live as long as the command line; those with a value show it as
/// the default.
class Command {
public:
    Option option(const std::string& names, std::string& target, const std::string& help);
    Option option(const std::string& names, int& target, const std::string& help);
    Option option(const std::string& names, std::int64_t& target, const std::string& help);
    Option option(const std::string& names, double& target, const std::string& help);
    Option option(const std::string& names, std::optional<int>& target, const std::string& help);
    Option option(const std::string& names, std::optional<std::int64_t>& target, const std::string& help);
    Option option(const std::string& names, std::vector<std::string>& target, const std::string& help);
    /// `take` gets each text that was given.
    Option option(const std::string& names, const std::function<void(const std::string&)>& take,
                  const std::string& help);
    Option flag(const std::string& names, bool& target, const std::string& help);
    /// `take` is called when it was given.
    Option flag(const std::string& names, const std::function<void()>& take, const std::string& help);

    /// One that was declared before.
    Option operator[](const std::string& name) const;
    /// Options under a heading of their own.
    Command group(const std::string& heading) const;
    /// What the command line has of its options and those of its groups, sorted: "--name=value", a value each.
    std::vector<std::string> given() const;
    /// Called when the command line names the command.
    void when_chosen(const std::function<void()>& action) const;

private:
    friend class CommandLine;
    explicit Command(CLI::App& app) : app_(&app) {}

    CLI::App* app_;
};

/// The program's command line: subcommands, of which it names one at most. The one place that knows the library that
/// reads it.
class CommandLine {
public:
    /// `version` gives what --version prints.
    CommandLine(const std::string& description, const std::string& name, const std::function<std::string()>& version);
    ~CommandLine();

    /// Text below all options in every help. To be called before subcommand().
    void set_footer(const std::string& text);
    Command subcommand(const std::string& name, const std::string& description);

    /// Reads the arguments; false where that was all: help or the version was printed. Throws Error{usage} that says
    /// what is wrong with them, with the nearest name where one is misspelt.
    bool read(int argc, const char* const* argv);

    /// What `--help` prints, of the program or of a subcommand. Throws Error{usage} where there is none of that name.
    std::string help(const std::string& subcommand) const;
    /// Everything that was declared, as data.
    ProgramInfo describe() const;

private:
    std::unique_ptr<CLI::App> program_;
};

}  // namespace framewire::app
