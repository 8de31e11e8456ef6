#pragma once

#include "framewire/cuda/executor.hpp"
#include "framewire/media/files.hpp"
#include "framewire/pipeline/progress.hpp"
#include "framewire/pipeline/statistics.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

namespace CLI {
class App;
}

namespace framewire::app {

/// The flags that run, serve and view share.
struct CommonOptions {
    std::string backend = "auto";
    std::optional<std::int64_t> frames;  ///< none: all there are
    int threads = 0;
    std::string statistics_path;  ///< empty: none wanted
    std::string progress = "auto";
    std::string log_level = "info";

    ProgressMode progress_mode() const { return parse_progress(progress); }
    BackendChoice backend_choice() const { return parse_backend(backend); }
};

void add_common_options(CLI::App& command, CommonOptions& options);

/// Sends log lines of `level` and above to standard error.
void start_logging(const std::string& level);

/// Runs `work` with SIGINT and SIGTERM turned into a stop of the source it is given; a second signal ends the program
/// at once. Gives the exit code: 0, or 128+n after signal n, when what `work` throws is logged only. To be called
/// before any thread is started.
int run_stoppable(const std::function<void(const std::stop_source& stop)>& work);

/// The file of `--stats`, opened before the work so that a place where nothing can be written shows early; whole or not
/// there at all.
class StatisticsFile {
public:
    /// An empty path is no file. Throws Error{io}.
    explicit StatisticsFile(const std::string& path);
    void write(const StatisticsSnapshot& figures, const RunDescription& run);

private:
    std::optional<OutputFile> file_;
};

}  // namespace framewire::app
