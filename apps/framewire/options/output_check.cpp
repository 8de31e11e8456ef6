#include "options/output_check.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/media.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>

namespace framewire::app {
namespace {

// Blocks until there is a line or the end of standard input; false also when told to stop.
bool answers_yes(const std::string& question, const std::stop_token& stop) {
    fmt::print(stderr, "{} [y/N] ", question);
    std::fflush(stderr);
    pollfd waiting{STDIN_FILENO, POLLIN, 0};
    while (::poll(&waiting, 1, 100) <= 0)
        if (stop.stop_requested()) return false;
    char answer[16] = {};
    return ::read(STDIN_FILENO, answer, sizeof answer - 1) > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

}  // namespace

RunFiles& RunFiles::source(const std::string& text) {
    for (auto& path : files_read_by(text)) inputs_.push_back({"-i", std::move(path)});
    for (auto& path : files_written_by(text)) outputs_.push_back({"truth", std::move(path)});
    return *this;
}

RunFiles& RunFiles::input(const std::string& option, const std::string& path) {
    if (!path.empty()) inputs_.push_back({option, path});
    return *this;
}

RunFiles& RunFiles::sink(const std::string& option, const std::string& text) {
    for (auto& path : files_of_sink(text)) outputs_.push_back({option, std::move(path)});
    return *this;
}

RunFiles& RunFiles::output(const std::string& option, const std::string& path) {
    if (!path.empty()) outputs_.push_back({option, path});
    return *this;
}

bool RunFiles::may_write(CommonOptions& common, const std::stop_token& stop) const {
    require_different_files(inputs_, outputs_);
    const auto there = files_there(outputs_);
    if (there.empty() || common.replace) return true;
    const auto what = there.size() == 1
                          ? fmt::format("{} is", there.front().path)
                          : fmt::format("{} and {} more outputs are", there.front().path, there.size() - 1);
    if (common.keep) {
        log_info("{} there already and kept (-n); nothing is done", what);
        return false;
    }
    const bool reads_standard_input =
        std::ranges::any_of(inputs_, [](const RunFile& file) { return file.path == "-"; });
    if (!reads_standard_input && ::isatty(STDIN_FILENO) && ::isatty(STDERR_FILENO)) {
        common.replace = answers_yes(what + " there already; replace it?", stop);
        if (common.replace) return true;
    }
    fail(ErrorCode::io, "{} there already; -y replaces what is there, -n keeps it and does nothing", what);
}

}  // namespace framewire::app
