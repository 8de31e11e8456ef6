#pragma once

#include "framewire/media/files/output_file.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"

#include <optional>
#include <string>

namespace framewire::session {

/// File for a run's statistics. It is opened before the work, so that an unwritable path is reported early, and appears
/// only when it is complete.
class StatisticsFile {
public:
    /// Opens the file; does nothing if `path` is empty. Throws Error{io}.
    StatisticsFile(const std::string& path, bool replace);
    /// True if there is a file; otherwise writing does nothing.
    explicit operator bool() const { return file_.has_value(); }
    /// Writes and completes the file. Throws Error{io}.
    void write(const std::string& json);
    /// Writes these statistics as JSON.
    void write(const StatisticsSnapshot& figures, const RunDescription& run);

private:
    std::optional<OutputFile> file_;
};

}  // namespace framewire::session
