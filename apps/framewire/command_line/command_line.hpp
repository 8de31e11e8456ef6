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

/// Option of a command: configured while it is declared, queried after the command line was parsed. Refers to the
/// command, which must outlive it.
class Option {
public:
    /// Sets the placeholder of the value in the help, which also selects its shell completion (value_words()).
    Option& type_name(const std::string& name);
    /// Sets the default shown in the help, instead of the target's value.
    Option& shown_default(const std::string& text);
    /// Makes the option mandatory.
    Option& required(bool wanted = true);
    /// Sets the number of values that the option takes.
    Option& expected(int values);

    // Constraints on the value. The help shows them; other values are rejected with a message that quotes the text.
    /// The value must be one of `values`, which also become the placeholder.
    Option& one_of(const std::vector<std::string>& values);
    /// The number must be in least .. most.
    Option& within(int least, int most);
    Option& within(std::int64_t least, std::int64_t most);
    Option& within(double least, double most);
    /// The number must be a whole number of at least 1.
    Option& positive();
    /// Adds a custom check: `problem` returns what is wrong with a text, or an empty string.
    Option& check(const std::function<std::string(const std::string&)>& problem);

    /// Leaves the option out of help, descriptions and suggestions.
    Option& hidden();

    /// The option is rejected unless the other one is given, too.
    Option& needs(const Option& other);
    /// The option is rejected if the other one is given.
    Option& excludes(const Option& other);

    /// True if the option is on the command line.
    bool given() const;
    /// Name as used in messages: "--input".
    std::string name() const;

private:
    friend class Command;
    explicit Option(CLI::Option& option) : option_(&option) {}

    CLI::Option* option_;
};

/// Subcommand, or a group of its options. Targets must live as long as the command line; a target's value is shown as
/// the default.
class Command {
public:
    /// Declares an option that stores its value in `target`. `names` is "-i,--input".
    Option option(const std::string& names, std::string& target, const std::string& help);
    Option option(const std::string& names, int& target, const std::string& help);
    Option option(const std::string& names, std::int64_t& target, const std::string& help);
    Option option(const std::string& names, double& target, const std::string& help);
    /// Optional numbers have no default; without the option the target stays empty.
    Option option(const std::string& names, std::optional<int>& target, const std::string& help);
    Option option(const std::string& names, std::optional<std::int64_t>& target, const std::string& help);
    /// The option may be repeated; its values are appended.
    Option option(const std::string& names, std::vector<std::string>& target, const std::string& help);
    /// Declares an option that calls `take` for each text given.
    Option option(const std::string& names, const std::function<void(const std::string&)>& take,
                  const std::string& help);
    /// Declares an option without a value that sets `target`.
    Option flag(const std::string& names, bool& target, const std::string& help);
    /// Declares an option without a value that calls `take`.
    Option flag(const std::string& names, const std::function<void()>& take, const std::string& help);

    /// An option that was declared before.
    Option operator[](const std::string& name) const;
    /// A group of options with its own heading in the help.
    Command group(const std::string& heading) const;
    /// The options given on the command line, with those of the groups, sorted: one "--name=value" per value.
    std::vector<std::string> given() const;
    /// Sets the function that is called if the command line names this subcommand.
    void when_chosen(const std::function<void()>& action) const;

private:
    friend class CommandLine;
    explicit Command(CLI::App& app) : app_(&app) {}

    CLI::App* app_;
};

/// Parser of the program's command line, which names at most one subcommand. Only this class uses the CLI11 library.
class CommandLine {
public:
    /// `version` returns the text that --version prints.
    CommandLine(const std::string& description, const std::string& name, const std::function<std::string()>& version);
    ~CommandLine();

    /// Sets the text below all options in every help page. Call it before subcommand().
    void set_footer(const std::string& text);
    /// Declares a subcommand.
    Command subcommand(const std::string& name, const std::string& description);

    /// Parses the arguments. Returns false if the program is done because help or version was printed. Throws
    /// Error{usage} on invalid arguments; the message suggests the nearest name for a misspelt one.
    bool read(int argc, const char* const* argv);

    /// Text that `--help` prints for the program (empty name) or a subcommand. Throws Error{usage} if there is no such
    /// subcommand.
    std::string help(const std::string& subcommand) const;
    /// All declared options as data.
    ProgramInfo describe() const;

private:
    std::unique_ptr<CLI::App> program_;
};

}  // namespace framewire::app
