#pragma once

#include "framewire/media/files/output_file.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"

#include <optional>
#include <string>

namespace framewire::session {

/// The file of a run's figures, opened before the work so that a place where nothing can be written shows early; whole
/// or not there at all.
class StatisticsFile {
public:
    /// None where `path` is empty. Throws Error{io}.
    StatisticsFile(const std::string& path, bool replace);
    /// Whether there is one; without, writing does nothing.
    explicit operator bool() const { return file_.has_value(); }
    void write(const std::string& json);
    void write(const StatisticsSnapshot& figures, const RunDescription& run);

private:
    std::optional<OutputFile> file_;
};

}  // namespace framewire::session
