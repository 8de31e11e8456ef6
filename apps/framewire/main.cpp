// The program framewire. Subcommands add themselves to the command line and set `chosen` if they are named. main() then
// runs `chosen` and maps errors to exit codes (the values of ErrorCode).

#include "commands/commands.hpp"
#include "commands/version.hpp"

#include "command_line/hidden_passwords.hpp"
#include "framewire/core/abandonable_call.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/text.hpp"
#include "view/shown_text.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <system_error>

namespace {

using framewire::ErrorCode;

// Prints the error that ends the program as one line, followed by the caret lines in `excerpt`, if any. Returns the
// exit code.
int report(std::string_view text, ErrorCode code, std::string_view excerpt = {}) {
    const auto lines = framewire::app::shown_text(text) + framewire::printable_lines(excerpt);
    std::fprintf(stderr, "framewire: error: %s\n", lines.c_str());
    return static_cast<int>(code);
}

// Ends the process without running destructors if a decoder is still in an abandoned call, because the decoder may use
// what std::exit() would destroy.
int ended(int code) {
    if (framewire::abandoned_calls() > 0) std::_Exit(code);
    return code;
}

// Opens standard descriptors that are closed. Otherwise the first file that the program opens would become standard
// input or output. Reads and writes on the replacements fail.
void take_standard_descriptors() {
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
        if (fcntl(descriptor, F_GETFD) < 0)  // open() returns the lowest free descriptor, which is this one
            static_cast<void>(open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

}  // namespace

int main(int argc, char** argv) try {
    take_standard_descriptors();
    framewire::app::run_bench_where_named(argc, argv);
    std::signal(SIGPIPE, SIG_IGN);  // a closed pipe makes write() fail instead
    std::signal(SIGXFSZ, SIG_IGN);  // a file size limit makes write() fail instead

    framewire::app::CommandLine program("Real-time video on the GPU and the CPU.", "framewire",
                                        framewire::app::version_text);
    program.set_footer(
        "On Ctrl-C, SIGTERM or SIGHUP, the program completes its outputs and exits. Signals within the next "
        "second\nare ignored; a later one ends it at once.");
    framewire::app::Action chosen;
    framewire::app::add_run(program, chosen);
    framewire::app::add_explain(program, chosen);
    framewire::app::add_serve(program, chosen);
    framewire::app::add_check(program, chosen);
    framewire::app::add_view(program, chosen);
    framewire::app::add_show(program, chosen);
    framewire::app::add_detect(program, chosen);
    framewire::app::add_find(program, chosen);
    framewire::app::add_hog(program, chosen);
    framewire::app::add_filters(program, chosen);
    framewire::app::add_sources(program, chosen);
    framewire::app::add_devices(program, chosen);
    framewire::app::add_bench(program, chosen);
    framewire::app::add_help(program, chosen);
    int code = 0;
    if (program.read(argc, argv)) {
        // The arguments are not needed from here on.
        framewire::app::hide_passwords(argc, argv);
        if (!chosen) return report("a subcommand is required; 'framewire help' lists them", ErrorCode::usage);
        code = chosen();
    }
    if (std::fflush(stdout) != 0) code = report("cannot write to standard output", ErrorCode::io);
    return ended(code);
} catch (const framewire::ExcerptError& error) {
    return ended(report(error.text(), error.code(), error.excerpt()));
} catch (const framewire::Error& error) {
    return ended(report(error.what(), error.code()));
} catch (const std::system_error& error) {  // thrown by writes to standard output
    return ended(report(error.what(), ErrorCode::io));
} catch (const std::bad_alloc&) {
    return ended(report("out of memory", ErrorCode::config));
} catch (const std::exception& error) {
    return ended(report(error.what(), ErrorCode::internal));
}
