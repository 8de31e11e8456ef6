// The command line, based on CLI11. Exceptions of CLI11 become Error{usage} with messages that name the option, state
// what is allowed and suggest the closest name, which CLI11's own messages rarely do.

#include "command_line/command_line.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

namespace framewire::app {
namespace {

// Returns the range of numbers that an option for this type accepts by default.
template <class Number>
ParameterInfo any_number() {
    constexpr auto most = std::is_floating_point_v<Number> ? std::numeric_limits<double>::infinity()
                          : sizeof(Number) < 8             ? static_cast<double>(std::numeric_limits<Number>::max())
                                                           : 0x1p62;
    return {.name = "",
            .help = "",
            .type = std::is_floating_point_v<Number> ? ParameterInfo::Type::real : ParameterInfo::Type::integer,
            .minimum = -most,
            .maximum = most};
}

// Rejects numbers outside a range. Added as a transform, so that it runs before the checks declared so far, whose
// messages are less specific.
void hold_to(CLI::Option& option, const ParameterInfo& numbers, const std::string& allowed) {
    const auto problem = [numbers, allowed](std::string& text) {
        const auto what = problem_with(numbers, text);
        return what.empty() ? std::string() : fmt::format("{} {}; allowed: {}", in_quotes(text), what, allowed);
    };
    option.transform(CLI::Validator(problem, ""));
    option.description(fmt::format("{}; {}", option.get_description(), allowed));
}

// Restricts a number option to the range from `least` to `most`.
template <class Number>
void hold_to(CLI::Option& option, Number least, Number most) {
    auto numbers = any_number<Number>();
    numbers.minimum = static_cast<double>(least);
    numbers.maximum = static_cast<double>(most);
    hold_to(option, numbers, allowed_values(numbers));
}

// Declares an option for a number. It is parsed like all numbers of the program, because CLI11 would read 010 as octal
// 8.
template <class Number, class Target>
CLI::Option& add_number(CLI::App& app, const std::string& names, Target& target, const std::string& help) {
    const auto take = [&target](const std::string& text) { target = number_in<Number>(text).value(); };
    auto& option = *app.add_option_function<std::string>(names, take, help);
    option.type_name(std::is_floating_point_v<Number> ? "NUMBER" : "N");
    option.check([](const std::string& text) {
        const auto what = problem_with(any_number<Number>(), text);
        return what.empty() ? std::string() : fmt::format("{} {}", in_quotes(text), what);
    });
    if constexpr (std::is_same_v<Number, Target>) option.default_str(fmt::format("{}", target));
    return option;
}

// Returns true for an option group, which CLI11 represents as a nameless subcommand.
bool is_group(const CLI::App& app) { return app.get_name().empty(); }

// Returns the subcommands without option groups.
std::vector<const CLI::App*> named_subcommands(const CLI::App& program) {
    return program.get_subcommands([](const CLI::App* app) { return !is_group(*app); });
}

// Returns the subcommand given on the command line, or the program if there is none.
const CLI::App& chosen_of(const CLI::App& program) {
    const auto chosen = program.get_subcommands();
    return chosen.empty() ? program : *chosen.front();
}

// Returns the command that prints the help of `app`.
std::string help_of(const CLI::App& app) {
    return app.get_parent() ? fmt::format("framewire {} --help", app.get_name()) : "framewire --help";
}

// Joins names for a message: "run, serve and view".
std::string listed(const std::vector<std::string_view>& names) {
    if (names.size() < 2) return fmt::format("{}", fmt::join(names, ""));
    return fmt::format("{} and {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

// Returns true if the help does not list the option.
bool is_hidden(const CLI::Option& option) { return option.get_group().empty(); }

// Collects the long option names of a command and its groups, without hidden ones.
void add_long_names(const CLI::App& app, std::vector<std::string>& names) {
    for (const auto* option : app.get_options())
        if (!is_hidden(*option)) names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
    for (const auto* group : app.get_subcommands([](const CLI::App* sub) { return is_group(*sub); }))
        add_long_names(*group, names);
}

// Returns the option's name without its value: "--input" for "--input=x".
std::string_view option_name(std::string_view argument) { return argument.substr(0, argument.find('=')); }

// Returns the equivalent of one of FFmpeg's options or, for one of its encoder options, an example with output
// parameters. Empty if there is no equivalent.
std::string_view like_ffmpegs(const CLI::App& command, std::string_view name) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> options{{{"-vf", "--filters"},
                                                                                           {"-filter:v", "--filters"},
                                                                                           {"-ss", "--start"},
                                                                                           {"-t", "--duration"},
                                                                                           {"-an", "--no-audio"},
                                                                                           {"-r", "--rate"},
                                                                                           {"-frames:v", "--frames"},
                                                                                           {"-vframes", "--frames"}}};
    static constexpr std::array<std::string_view, 6> of_encoders{"-c:v",    "-vcodec", "-crf",
                                                                 "-preset", "-b:v",    "-pix_fmt"};
    const auto found = std::ranges::find(options, name, [](const auto& each) { return each.first; });
    if (found != options.end())
        return command.get_option_no_throw(std::string(found->second)) ? found->second : std::string_view();
    const bool is_of_encoder = std::ranges::find(of_encoders, name) != of_encoders.end();
    return is_of_encoder && command.get_option_no_throw("--output")
               ? "-o out.mp4:codec=libx264:crf=20:preset=slow:bitrate=4000000:pixels=yuv420p"
               : "";
}

// Returns the message for an option that the command does not have. It names the subcommands that have it, the
// equivalent of an FFmpeg option, or the closest name.
std::string unknown_option(const CLI::App& program, const CLI::App& command, std::string_view argument) {
    const std::string name(option_name(argument));
    std::string message = fmt::format("{} has no option {}", command.get_name(), in_quotes(name));
    std::vector<std::string_view> having;
    for (const auto* other : named_subcommands(program))
        if (other->get_option_no_throw(name)) having.push_back(other->get_name());
    if (!having.empty())
        return fmt::format("{}; {} {} it", message, listed(having), having.size() == 1 ? "has" : "have");
    std::vector<std::string> names;
    add_long_names(command, names);
    const std::vector<std::string_view> candidates(names.begin(), names.end());
    // Very short names have no meaningful closest name.
    const auto word = std::string_view(name).substr(std::min(name.find_first_not_of('-'), name.size()));
    const auto nearest = word.size() < 2 ? std::string_view() : nearest_name(word, candidates);
    message += fmt::format("; '{}' lists them", help_of(command));
    if (const auto like = like_ffmpegs(command, name); !like.empty())
        return fmt::format("{}; did you mean '{}'?", message, like);
    return nearest.empty() ? message : fmt::format("{}; did you mean '--{}'?", message, nearest);
}

// Returns the message for an unknown subcommand.
std::string unknown_subcommand(const CLI::App& program, std::string_view name) {
    std::vector<std::string_view> names;
    for (const auto* command : named_subcommands(program)) names.push_back(command->get_name());
    return fmt::format("unknown subcommand {}; subcommands: {}{}", in_quotes(name), listed(names),
                       did_you_mean(name, names));
}

// Returns the message for the first argument that was not consumed; empty if all were.
std::string unknown_argument(const CLI::App& program) {
    const auto& command = chosen_of(program);
    for (const auto* app : {&program, &command})
        for (const auto& argument : app->remaining()) {
            if (argument == "--") continue;  // ends the options; CLI11 leaves it in place
            if (argument.size() > 1 && argument.front() == '-') return unknown_option(program, *app, argument);
            if (app == &program) return unknown_subcommand(program, argument);
            return fmt::format("{} does not accept the argument {}; see '{}'", app->get_name(), in_quotes(argument),
                               help_of(*app));
        }
    return {};
}

// Returns the message for a wrong number of values: either the command line ended too early, or the option was
// repeated.
std::string wrong_count(const CLI::App& command, const CLI::ArgumentMismatch& error) {
    const std::string words = error.what();
    const auto* option = command.get_option_no_throw(words.substr(0, words.find(':')));
    if (!option) return words;
    const auto expected = static_cast<std::size_t>(option->get_items_expected_max());
    if (option->count() > expected)
        return fmt::format("{} is given {} times; it may be given only once", option->get_name(),
                           option->count() / expected);
    return fmt::format("{} needs {}", option->get_name(), option->get_type_name());
}

// Returns the message for a missing option or positional argument; the latter is named by its placeholder.
std::string missing(const CLI::App& command, const CLI::RequiredError& error) {
    const std::string words = error.what();
    const auto* option = command.get_option_no_throw(words.substr(0, words.find(' ')));
    return option && option->get_positional() ? option->get_type_name() + " is required" : words;
}

// Returns the message for a parse error, followed by a pointer to the help.
std::string explained(const CLI::App& program, const CLI::ParseError& error) {
    const auto& command = chosen_of(program);
    if (const auto unknown = unknown_argument(program); !unknown.empty()) return unknown;
    std::string words = error.what();
    if (const auto* count = dynamic_cast<const CLI::ArgumentMismatch*>(&error)) words = wrong_count(command, *count);
    if (const auto* required = dynamic_cast<const CLI::RequiredError*>(&error)) words = missing(command, *required);
    return words.ends_with('?') ? words : fmt::format("{}; see '{}'", words, help_of(command));
}

// Returns the long names of options in alphabetical order.
std::vector<std::string> long_names(const std::set<CLI::Option*>& options) {
    std::vector<std::string> names;
    for (const auto* option : options) names.push_back(option->get_name());
    std::sort(names.begin(), names.end());  // the set is ordered by address
    return names;
}

// Describes an option as data.
OptionInfo described(const CLI::Option& option, const std::string& heading) {
    OptionInfo info;
    if (!option.get_snames().empty()) info.short_name = "-" + option.get_snames().front();
    if (!option.get_lnames().empty()) info.long_name = "--" + option.get_lnames().front();
    const bool takes_value = option.get_items_expected_max() > 0;
    if (takes_value) info.value = option.get_type_name();
    info.repeatable = option.get_expected_max() == CLI::detail::expected_max_vector_size;
    if (takes_value && !info.repeatable) info.values = option.get_items_expected_max();
    info.required = option.get_required();
    if (takes_value) info.default_value = option.get_default_str();
    info.help = option.get_description();
    info.heading = heading;
    info.needs = long_names(option.get_needs());
    info.excludes = long_names(option.get_excludes());
    return info;
}

// Appends the options of a command and its groups, in the order of the help.
void describe_options(const CLI::App& app, const std::string& heading, std::vector<OptionInfo>& options) {
    for (const auto* option : app.get_options())
        if (!is_hidden(*option)) options.push_back(described(*option, heading));
    for (const auto* group : app.get_subcommands([](const CLI::App* sub) { return is_group(*sub); }))
        describe_options(*group, group->get_group(), options);
}

// Describes a command as data.
CommandInfo described(const CLI::App& app) {
    CommandInfo info{app.get_name(), app.get_description(), {}};
    describe_options(app, "", info.options);
    return info;
}

// Appends "--name=value" for each value given to the command or its groups.
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
Option& Option::one_at_a_time() { return option_->allow_extra_args(false), *this; }
Option& Option::optional_value() { return option_->expected(0, 1), *this; }
Option& Option::one_of(const std::vector<std::string>& values) {
    type_name(fmt::format("{}", fmt::join(values, "|")));
    return check([values](const std::string& text) {
        if (std::find(values.begin(), values.end(), text) != values.end()) return std::string();
        const std::vector<std::string_view> names(values.begin(), values.end());
        return fmt::format("{} is not allowed; allowed: one of {}{}", in_quotes(text), fmt::join(values, ", "),
                           did_you_mean(text, names));
    });
}
Option& Option::within(int least, int most) { return hold_to(*option_, least, most), *this; }
Option& Option::within(std::int64_t least, std::int64_t most) { return hold_to(*option_, least, most), *this; }
Option& Option::within(double least, double most) { return hold_to(*option_, least, most), *this; }
Option& Option::positive() {
    auto numbers = any_number<std::int64_t>();
    numbers.minimum = 1;
    return hold_to(*option_, numbers, "a whole number of at least 1"), *this;
}
Option& Option::check(const std::function<std::string(const std::string&)>& problem) {
    return option_->check(problem), *this;
}
Option& Option::needs(const Option& other) { return option_->needs(other.option_), *this; }
Option& Option::excludes(const Option& other) { return option_->excludes(other.option_), *this; }
Option& Option::hidden() { return option_->group(""), *this; }
bool Option::given() const { return option_->count() > 0; }
std::string Option::name() const {
    return is_hidden(*option_) ? "--" + option_->get_lnames().front() : option_->get_name();  // empty if hidden
}

Option Command::option(const std::string& names, std::string& target, const std::string& help) {
    return Option(*app_->add_option(names, target, help)->type_name("TEXT")->capture_default_str());
}
Option Command::option(const std::string& names, int& target, const std::string& help) {
    return Option(add_number<int>(*app_, names, target, help));
}
Option Command::option(const std::string& names, std::int64_t& target, const std::string& help) {
    return Option(add_number<std::int64_t>(*app_, names, target, help));
}
Option Command::option(const std::string& names, double& target, const std::string& help) {
    return Option(add_number<double>(*app_, names, target, help));
}
Option Command::option(const std::string& names, std::optional<int>& target, const std::string& help) {
    return Option(add_number<int>(*app_, names, target, help));
}
Option Command::option(const std::string& names, std::optional<std::int64_t>& target, const std::string& help) {
    return Option(add_number<std::int64_t>(*app_, names, target, help));
}
Option Command::option(const std::string& names, std::vector<std::string>& target, const std::string& help) {
    return Option(*app_->add_option(names, target, help)->type_name("TEXT"));
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

CommandLine::CommandLine(const std::string& description, const std::string& name,
                         const std::function<std::string()>& version)
    : program_(std::make_unique<CLI::App>(description, name)) {
    program_->set_help_flag("-h,--help", "print help and exit");
    program_->set_version_flag("--version", version, "print the version and build configuration and exit");
    // A missing subcommand is reported by the caller, because CLI11's report would hide a mistyped subcommand.
    program_->require_subcommand(0, 1);
}

CommandLine::~CommandLine() = default;

void CommandLine::set_footer(const std::string& text) { program_->footer(text); }

Command CommandLine::subcommand(const std::string& name, const std::string& description) {
    return Command(*program_->add_subcommand(name, description));
}

// If help is requested, it is printed even if the command line has errors.
bool CommandLine::read(int argc, const char* const* argv) {
    try {
        program_->parse(argc, argv);
        return true;
    } catch (const CLI::CallForVersion& version) {
        fmt::print("{}\n", version.what());
    } catch (const CLI::CallForHelp&) {
        fmt::print("{}", program_->help());
    } catch (const CLI::ParseError& error) {
        const auto& command = chosen_of(*program_);
        if (command.get_help_ptr()->count() == 0) fail(ErrorCode::usage, "{}", explained(*program_, error));
        fmt::print("{}", program_->help());
    }
    return false;
}

std::string CommandLine::help(const std::string& subcommand) const {
    const auto mode = CLI::AppFormatMode::Normal;  // App::help() would print the help of the chosen subcommand
    const auto& name = program_->get_name();
    if (subcommand.empty()) return program_->get_formatter()->make_help(program_.get(), name, mode);
    for (const auto* command : named_subcommands(*program_))
        if (command->get_name() == subcommand)
            return command->get_formatter()->make_help(command, fmt::format("{} {}", name, subcommand), mode);
    fail(ErrorCode::usage, "{}", unknown_subcommand(*program_, subcommand));
}

ProgramInfo CommandLine::describe() const {
    ProgramInfo info;
    info.program = {program_->get_name(), program_->get_description(), {}};
    for (const auto* option : program_->get_options()) info.program.options.push_back(described(*option, ""));
    for (const auto* command : named_subcommands(*program_)) info.subcommands.push_back(described(*command));
    return info;
}

}  // namespace framewire::app
