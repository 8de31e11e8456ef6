#include "options/command_line.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/text/credentials.hpp"
#include "framewire/core/text/printable.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <sstream>

namespace framewire::app {
namespace {

// With its default, as far as it has one, for the help.
template <class Target>
CLI::Option& add(CLI::App& app, const std::string& names, Target& target, const std::string& help) {
    return *app.add_option(names, target, help)->capture_default_str();
}

// Nothing in the target is no default.
template <class Target>
CLI::Option& add_without_default(CLI::App& app, const std::string& names, Target& target, const std::string& help) {
    return *app.add_option(names, target, help);
}

void add_given(const CLI::App& app, std::vector<std::string>& given) {
    for (const auto* option : app.get_options())
        for (const auto& value : option->results()) given.push_back(option->get_name() + "=" + value);
    for (const auto* group : app.get_subcommands([](const CLI::App*) { return true; })) add_given(*group, given);
}

}  // namespace

Option& Option::type_name(const std::string& name) { return option_->type_name(name), *this; }
Option& Option::shown_default(const std::string& text) { return option_->default_str(text), *this; }
Option& Option::required(bool wanted) { return option_->required(wanted), *this; }
Option& Option::expected(int values) { return option_->expected(values), *this; }
Option& Option::one_of(const std::vector<std::string>& values) { return option_->check(CLI::IsMember(values)), *this; }
Option& Option::within(int least, int most) { return option_->check(CLI::Range(least, most)), *this; }
Option& Option::within(std::int64_t least, std::int64_t most) { return option_->check(CLI::Range(least, most)), *this; }
Option& Option::within(double least, double most) { return option_->check(CLI::Range(least, most)), *this; }
Option& Option::positive() { return option_->check(CLI::PositiveNumber), *this; }
Option& Option::check(const std::function<std::string(const std::string&)>& problem) {
    return option_->check(problem), *this;
}
Option& Option::needs(const Option& other) { return option_->needs(other.option_), *this; }
Option& Option::excludes(const Option& other) { return option_->excludes(other.option_), *this; }
bool Option::given() const { return option_->count() > 0; }

Option Command::option(const std::string& names, std::string& target, const std::string& help) {
    return Option(add(*app_, names, target, help));
}
Option Command::option(const std::string& names, int& target, const std::string& help) {
    return Option(add(*app_, names, target, help));
}
Option Command::option(const std::string& names, std::int64_t& target, const std::string& help) {
    return Option(add(*app_, names, target, help));
}
Option Command::option(const std::string& names, double& target, const std::string& help) {
    return Option(add(*app_, names, target, help));
}
Option Command::option(const std::string& names, std::optional<int>& target, const std::string& help) {
    return Option(add_without_default(*app_, names, target, help));
}
Option Command::option(const std::string& names, std::optional<std::int64_t>& target, const std::string& help) {
    return Option(add_without_default(*app_, names, target, help));
}
Option Command::option(const std::string& names, std::vector<std::string>& target, const std::string& help) {
    return Option(add_without_default(*app_, names, target, help));
}
Option Command::option(const std::string& names, const std::function<void(const std::string&)>& take,
                       const std::string& help) {
    return Option(*app_->add_option_function<std::string>(names, take, help));
}
Option Command::flag(const std::string& names, bool& target, const std::string& help) {
    return Option(*app_->add_flag(names, target, help));
}
Option Command::flag(const std::string& names, const std::function<void()>& take, const std::string& help) {
    return Option(*app_->add_flag_callback(names, take, help));
}

Option Command::operator[](const std::string& name) const { return Option(*app_->get_option(name)); }
Command Command::group(const std::string& heading) const { return Command(*app_->add_option_group(heading)); }
std::vector<std::string> Command::given() const {
    std::vector<std::string> all;
    add_given(*app_, all);
    std::ranges::stable_sort(all, {}, [](const std::string& each) { return each.substr(0, each.find('=')); });
    return all;
}
void Command::when_chosen(const std::function<void()>& action) const { app_->callback(action); }

CommandLine::CommandLine(const std::string& description, const std::string& name, const std::string& version)
    : program_(std::make_unique<CLI::App>(description, name)) {
    program_->set_version_flag("--version", version);
    program_->require_subcommand(0,
                                 1);  // that one is needed its caller says: CLI11 would hide a mistyped one behind it
}

CommandLine::~CommandLine() = default;

Command CommandLine::subcommand(const std::string& name, const std::string& description) {
    return Command(*program_->add_subcommand(name, description));
}

std::optional<int> CommandLine::read(int argc, const char* const* argv) {
    try {
        program_->parse(argc, argv);
        return std::nullopt;
    } catch (const CLI::ParseError& error) {
        std::ostringstream words;  // which quote the arguments
        const bool wrong = program_->exit(error, std::cout, words) != 0;
        std::fputs(printable_lines(without_credentials(words.str())).c_str(), stderr);
        return wrong ? static_cast<int>(ErrorCode::usage) : 0;
    }
}

}  // namespace framewire::app
