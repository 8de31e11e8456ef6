#include "framewire/session/job/job_files.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/media/media.hpp"
#include "framewire/session/outputs/folders.hpp"

#include <algorithm>
#include <utility>

namespace framewire::session {

JobFiles& JobFiles::source(const std::string& text) {
    for (auto& path : files_read_by(text)) inputs_.push_back({"-i", std::move(path)});
    for (auto& path : files_written_by(text)) outputs_.push_back({"truth", std::move(path)});
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

JobFiles& JobFiles::bytes(const std::string& option, const std::string& path) {
    if (path == "-") bytes_to_standard_output_ = option;
    return output(option, path);
}

JobFiles& JobFiles::output(const std::string& option, const std::string& path) {
    if (!path.empty()) outputs_.push_back({option, path});
    return *this;
}

JobFiles& JobFiles::outputs(const std::string& option, const std::string& folder, const std::string& source,
                            std::string_view ending) {
    for (const auto& path : outputs_of(image_paths(source), folder, ending)) output(option, path);
    return *this;
}

JobFiles& JobFiles::add(const JobFiles& others) {
    inputs_.insert(inputs_.end(), others.inputs_.begin(), others.inputs_.end());
    outputs_.insert(outputs_.end(), others.outputs_.begin(), others.outputs_.end());
    return *this;
}

void require_one_standard_output(std::initializer_list<std::string_view> outputs, std::string_view names) {
    const auto count =
        std::ranges::count_if(outputs, [](std::string_view text) { return text == "-" || text.starts_with("-:"); });
    if (count > 1) fail(ErrorCode::usage, "{} of {} go to standard output; one of them can", count, names);
}

bool JobFiles::reads_standard_input() const {
    return std::ranges::any_of(inputs_, [](const RunFile& file) { return file.path == "-"; });
}

}  // namespace framewire::session
