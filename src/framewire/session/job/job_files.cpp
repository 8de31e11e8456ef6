#include "framewire/session/job/job_files.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/files/paths.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/names.hpp"
#include "framewire/session/outputs/folders.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace framewire::session {
namespace {

// Returns true for standard output and for existing paths that are neither a file nor a folder: their name says nothing
// about the format.
bool is_special_file(const std::string& path) {
    std::error_code unknown;
    return is_standard_output(path) || std::filesystem::is_other(path, unknown);
}

}  // namespace

JobFiles& JobFiles::source(const std::string& text) {
    for (auto& path : files_read_by(text)) inputs_.push_back({"-i", std::move(path)});
    for (auto& path : files_written_by(text)) output("truth", path, json_lines_format);
    return *this;
}

JobFiles& JobFiles::input(const std::string& option, const std::string& path) {
    if (!path.empty()) inputs_.push_back({option, path});
    return *this;
}

JobFiles& JobFiles::sink(const std::string& option, const std::string& text) {
    for (auto& path : files_of_sink(text)) {
        if (path == "-") bytes_to_standard_output_ = option;
        outputs_.push_back({option, std::move(path)});
    }
    return *this;
}

JobFiles& JobFiles::bytes(const std::string& option, const std::string& path, const FileFormat& format) {
    if (path == "-") bytes_to_standard_output_ = option;
    return output(option, path, format);
}

JobFiles& JobFiles::output(const std::string& option, const std::string& path, const FileFormat& format) {
    const auto lower = lower_case(path);
    const auto has_ending = [&](std::string_view ending) { return lower.ends_with(ending); };
    if (ending_problem_.empty() && !path.empty() && !is_special_file(path) &&
        std::ranges::none_of(format.endings, has_ending))
        ending_problem_ = fmt::format("{} {}: {} go into a file whose name ends in {}", option, path, format.name,
                                      fmt::join(format.endings, " or "));
    add_output(option, path);
    return *this;
}

JobFiles& JobFiles::statistics(const std::string& path) { return output("--stats", path, {"figures", {".json"}}); }

void JobFiles::add_output(const std::string& option, const std::string& path) {
    if (!path.empty()) outputs_.push_back({option, path});
}

JobFiles& JobFiles::outputs(const std::string& option, const std::string& folder, const std::string& source,
                            std::string_view ending) {
    for (const auto& path : outputs_of(image_paths(source), folder, ending)) add_output(option, path);
    return *this;
}

JobFiles& JobFiles::add(const JobFiles& others) {
    inputs_.insert(inputs_.end(), others.inputs_.begin(), others.inputs_.end());
    outputs_.insert(outputs_.end(), others.outputs_.begin(), others.outputs_.end());
    if (ending_problem_.empty()) ending_problem_ = others.ending_problem_;
    return *this;
}

void require_one_standard_output(std::initializer_list<std::string_view> outputs, std::string_view names) {
    const auto count =
        std::ranges::count_if(outputs, [](std::string_view text) { return text == "-" || text.starts_with("-:"); });
    if (count > 1) fail(ErrorCode::usage, "{} of {} go to standard output; one of them can", count, names);
}

void JobFiles::require_different() const {
    require_different_files(inputs_, outputs_);
    if (!ending_problem_.empty()) fail(ErrorCode::usage, "{}", ending_problem_);
}

bool JobFiles::reads_standard_input() const {
    return std::ranges::any_of(inputs_, [](const RunFile& file) { return file.path == "-"; });
}

}  // namespace framewire::session
