// The manual page in man(7) macros: fixed sections, and options, sources and filters as the program declares them.

#include "commands/help/pages.hpp"

#include "framewire/core/parameters.hpp"
#include "framewire/media/sources.hpp"
#include "framewire/plan/chain.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <ctime>
#include <iterator>
#include <string_view>
#include <vector>

namespace framewire::app {
namespace {

// Parts of the manual page that are not generated.
constexpr std::string_view man_description =
    R"(framewire takes video from a camera, a file or the network, filters and analyses it on a GPU or the CPU, and writes it to files
or streams only what changed to viewers.
Every byte that a viewer sees is within a threshold of the camera\(aqs.
The CPU and CUDA give the same bytes.
.PP
Data goes to standard output, words to standard error.
An output that is there already is asked about on a terminal and refused elsewhere; files appear under their name only when
they are whole.
)";

constexpr std::string_view man_ending = R"(.SH EXIT STATUS
.TP
.B 0
done
.TP
.B 2
usage: the command line, a chain of filters or a parameter is wrong
.TP
.B 66
no such input
.TP
.B 69
the source was lost; what could be read is written
.TP
.B 70
an internal error
.TP
.B 74
an error of input or output
.TP
.B 78
not possible here: no GPU, not enough memory, or not built in
.TP
.BI 128+ N
ended by signal
.IR N .
Signals within one second of the first belong to the same stop; a later one ends the program at once.
.SH EXAMPLES
A file through a filter into a file:
.PP
.in +4n
.nf
framewire run \-i clip.mp4 \-f gray \-o gray.mp4
.fi
.in
.PP
A camera to whoever knows the token, and one who does:
.PP
.in +4n
.nf
framewire serve \-i /dev/video0 \-\-listen 0.0.0.0:7878
framewire view tcp://camera.local:7878 \-\-token\-file token
.fi
.in
.PP
What moves, as JSON lines:
.PP
.in +4n
.nf
framewire detect \-i clip.mp4 \-o boxes.jsonl
.fi
.in
.SH SEE ALSO
.BR ffmpeg (1),
.BR v4l2\-ctl (1)
)";

// Escapes text for roff, so that no character is taken for a request or an escape.
std::string as_roff(std::string_view text) {
    std::string roff;
    if (text.starts_with('.') || text.starts_with('\'')) roff += "\\&";
    for (const char letter : text) switch (letter) {
            case '\\': roff += "\\e"; break;
            case '-': roff += "\\-"; break;
            case '\'': roff += "\\(aq"; break;
            case '`': roff += "\\(ga"; break;
            case '^': roff += "\\(ha"; break;
            case '~': roff += "\\(ti"; break;
            case '"': roff += "\\(dq"; break;
            case '\n': roff += ' '; break;
            default: roff += letter;
        }
    return roff;
}

// Return escaped text in bold or italics.
std::string bold(std::string_view text) { return fmt::format("\\fB{}\\fR", as_roff(text)); }
std::string italic(std::string_view text) { return fmt::format("\\fI{}\\fR", as_roff(text)); }

// Returns the date of the page. SOURCE_DATE_EPOCH overrides it, for reproducible builds.
std::string day() {
    auto seconds = static_cast<std::int64_t>(std::time(nullptr));
    if (const char* epoch = std::getenv("SOURCE_DATE_EPOCH")) read_number(epoch, seconds);
    return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

// Returns the names and the placeholder of an option.
std::string option_words(const OptionInfo& option) {
    if (option.is_argument()) return italic(option.value);
    std::vector<std::string> names;
    for (const auto& name : {option.short_name, option.long_name})
        if (!name.empty()) names.push_back(bold(name));
    auto text = fmt::format("{}", fmt::join(names, ", "));
    return option.value.empty() ? text : fmt::format("{} {}", text, italic(option.value));
}

// Returns the conditions that follow the help text: "; default 0; only with --people".
std::string conditions(const OptionInfo& option) {
    std::string text;
    auto out = std::back_inserter(text);
    if (option.required) fmt::format_to(out, "; must be given");
    if (!option.default_value.empty()) fmt::format_to(out, "; default {}", option.default_value);
    if (!option.needs.empty()) fmt::format_to(out, "; only with {}", fmt::join(option.needs, " and "));
    if (!option.excludes.empty()) fmt::format_to(out, "; not with {}", fmt::join(option.excludes, " or "));
    return text;
}

// Appends the options of a command with their headings.
void add_options(const CommandInfo& command, std::string& page) {
    std::string heading;
    for (const auto& option : command.options) {
        if (option.heading != heading)
            fmt::format_to(std::back_inserter(page), ".PP\n{}:\n", as_roff(heading = option.heading));
        fmt::format_to(std::back_inserter(page), ".TP\n{}\n{}\n", option_words(option),
                       as_roff(option.help + conditions(option)));
    }
}

// Returns a line of the synopsis. Required options and arguments are listed; others are summarised.
std::string usage(const CommandInfo& command) {
    auto line = fmt::format("{} {}", bold("framewire"), bold(command.name));
    bool optional = false;
    for (const auto& option : command.options) {
        if (!option.required && !option.is_argument()) {
            optional = true;
            continue;
        }
        const auto names =
            option.is_argument()
                ? italic(option.value)
                : fmt::format("{} {}", bold(option.short_name.empty() ? option.long_name : option.short_name),
                              italic(option.value));
        line += option.required ? " " + names : " [" + names + "]";
    }
    if (optional) fmt::format_to(std::back_inserter(line), " [{}]", italic("OPTIONS"));
    return line;
}

// Appends the parameters of a source or filter as a nested list.
void add_parameters(const std::vector<ParameterInfo>& parameters, std::string& page) {
    if (parameters.empty()) return;
    page += ".RS\n";
    for (const auto& parameter : parameters)
        fmt::format_to(
            std::back_inserter(page), ".TP\n{}\n{}\n", bold(parameter.name),
            as_roff(fmt::format(
                "{}; {}{}", parameter.help, allowed_values(parameter),
                parameter.default_value.empty() ? "" : fmt::format("; default {}", parameter.default_value))));
    page += ".RE\n";
}

}  // namespace

// Sections: name, synopsis, description, subcommands, sources, filters, exit status, examples, see also.
std::string man_page(const ProgramInfo& program) {
    std::string page = fmt::format(
        ".\\\" Written by 'framewire help --man'.\n"
        ".TH FRAMEWIRE 1 {} \"framewire {}\" \"User Commands\"\n"
        ".SH NAME\nframewire \\- {}\n.SH SYNOPSIS\n",
        day(), FRAMEWIRE_VERSION, as_roff("real-time video on the GPU and the CPU"));
    auto out = std::back_inserter(page);
    for (const auto& command : program.subcommands) fmt::format_to(out, "{}\n.br\n", usage(command));
    fmt::format_to(out, ".B framewire \\-\\-version\n.SH DESCRIPTION\n{}.SH SUBCOMMANDS\n", man_description);
    for (const auto& command : program.subcommands) {
        fmt::format_to(out, ".SS {}\n{}.\n", as_roff(command.name), as_roff(command.description));
        add_options(command, page);
    }
    page +=
        ".SH SOURCES\nWhat \\fB\\-i\\fR takes.\nParameters follow, separated by colons: \\fIkey\\fR=\\fIvalue\\fR.\n";
    for (const auto& source : source_registry()) {
        fmt::format_to(out, ".TP\n{}\n{}\n", bold(source.form), as_roff(source.summary));
        add_parameters(source.parameters, page);
    }
    page +=
        ".SH FILTERS\nWhat \\fB\\-f\\fR takes: "
        "\\fIname\\fR=\\fIvalue\\fR:\\fIkey\\fR=\\fIvalue\\fR,\\fIname\\fR=...\n"
        "A first value without a key sets the first parameter.\n";
    for (const auto& filter : filter_registry()) {
        fmt::format_to(out, ".TP\n{}\n{}\n", bold(filter.name), as_roff(filter.summary));
        add_parameters(filter.parameters, page);
    }
    page += man_ending;
    return page;
}

}  // namespace framewire::app
