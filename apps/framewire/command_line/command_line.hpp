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

/// An option of a command. It is configured while the command line is declared and queried after parsing. Refers to the
/// command, which must outlive it.
class Option {
public:
    /// Sets the placeholder of the value in the help; the placeholder also selects the shell completion
    /// (value_words()).
    Option& type_name(const std::string& name);
    /// Sets the default that the help shows instead of the target's value.
    Option& shown_default(const std::string& text);
    /// Makes the option mandatory.
    Option& required(bool wanted = true);
    /// Sets the number of values that the option takes.
    Option& expected(int values);
    /// Lets a repeatable option take one value each time, so that positional arguments can follow it.
    Option& one_at_a_time();
    /// Makes the value optional: `--name` without a value gives an empty text.
    Option& optional_value();

    // Constraints on the value, which the help shows. Other values are rejected with a message that quotes the text.
    /// Restricts the value to one of `values`, which also become the placeholder.
    Option& one_of(const std::vector<std::string>& values);
    /// Restricts the number to the range from `least` to `most`.
    Option& within(int least, int most);
    Option& within(std::int64_t least, std::int64_t most);
    Option& within(double least, double most);
    /// Restricts the number to whole numbers of at least 1.
    Option& positive();
    /// Adds a custom check. `problem` returns an error message for a text, or an empty string.
    Option& check(const std::function<std::string(const std::string&)>& problem);

    /// Omits the option from help, descriptions and suggestions.
    Option& hidden();

    /// Rejects the option unless `other` is given too.
    Option& needs(const Option& other);
    /// Rejects the option if `other` is given.
    Option& excludes(const Option& other);

    /// Returns true if the option is on the command line.
    bool given() const;
    /// Returns the name used in messages: "--input".
    std::string name() const;

private:
    friend class Command;
    explicit Option(CLI::Option& option) : option_(&option) {}

    CLI::Option* option_;
};

/// A subcommand, or a group of its options. Targets must live as long as the command line; the help shows a target's
/// initial value as the default.
class Command {
public:
    /// Declares an option that stores its value in `target`. `names` has the form "-i,--input".
    Option option(const std::string& names, std::string& target, const std::string& help);
    Option option(const std::string& names, int& target, const std::string& help);
    Option option(const std::string& names, std::int64_t& target, const std::string& help);
    Option option(const std::string& names, double& target, const std::string& help);
    /// Declares an option for a number without a default; `target` stays empty if the option is not given.
    Option option(const std::string& names, std::optional<int>& target, const std::string& help);
    Option option(const std::string& names, std::optional<std::int64_t>& target, const std::string& help);
    /// Declares an option that may be repeated; its values are appended to `target`.
    Option option(const std::string& names, std::vector<std::string>& target, const std::string& help);
    /// Declares an option that calls `take` with each text given.
    Option option(const std::string& names, const std::function<void(const std::string&)>& take,
                  const std::string& help);
    /// Declares an option without a value that sets `target`.
    Option flag(const std::string& names, bool& target, const std::string& help);
    /// Declares an option without a value that calls `take`.
    Option flag(const std::string& names, const std::function<void()>& take, const std::string& help);

    /// Returns an option that was declared before.
    Option operator[](const std::string& name) const;
    /// Adds a group of options with its own heading in the help.
    Command group(const std::string& heading) const;
    /// Returns the options given on the command line, including those of groups, sorted: one "--name=value" per value.
    std::vector<std::string> given() const;
    /// Sets the function that is called if the command line names this subcommand.
    void when_chosen(const std::function<void()>& action) const;

private:
    friend class CommandLine;
    explicit Command(CLI::App& app) : app_(&app) {}

    CLI::App* app_;
};

/// Parser for the program's command line, which names at most one subcommand. No other class uses the CLI11 library.
class CommandLine {
public:
    /// Starts the declaration of the command line. `version` returns the text that --version prints.
    CommandLine(const std::string& description, const std::string& name, const std::function<std::string()>& version);
    ~CommandLine();

    /// Sets the text below the options on every help page. Call it before subcommand().
    void set_footer(const std::string& text);
    /// Declares a subcommand.
    Command subcommand(const std::string& name, const std::string& description);

    /// Parses the arguments. Returns false if help or version was printed, so that nothing else is to be done. Throws
    /// Error{usage} for invalid arguments; the message suggests the closest name for a misspelt one.
    bool read(int argc, const char* const* argv);

    /// Returns the text that `--help` prints for a subcommand, or for the program if `subcommand` is empty. Throws
    /// Error{usage} if the subcommand does not exist.
    std::string help(const std::string& subcommand) const;
    /// Returns all declared options as data.
    ProgramInfo describe() const;

private:
    std::unique_ptr<CLI::App> program_;
};

}  // namespace framewire::app
