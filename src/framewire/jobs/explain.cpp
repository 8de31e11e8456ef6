#include "framewire/jobs/explain.hpp"
#include "framewire/core/error.hpp"
#include "framewire/jobs/input/filtered_input.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <random>
#include <string>
#include <system_error>

namespace framewire::jobs {
namespace {

// A new folder that is removed with everything in it.
class ScratchFolder {
public:
    ScratchFolder() {
        std::random_device random;
        path_ = std::filesystem::temp_directory_path() / fmt::format("framewire-{:08x}{:08x}", random(), random());
        std::error_code error;
        if (!std::filesystem::create_directory(path_, error))
            fail(ErrorCode::io, "{} cannot be created: {}", path_.string(), error.message());
    }
    ~ScratchFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

// Plans do not depend on where a video is decoded, and opening a decoder on a GPU holds up those of other programs.
InputOptions planned_input(InputOptions input) {
    if (input.decode == DecodeChoice::automatic) input.decode = DecodeChoice::cpu;
    return input;
}

// Returns the planes that the output takes. An output that would go elsewhere is opened in a scratch folder instead.
std::optional<YuvInfo> planes_of_output(const RunOptions& options, const FilteredInput& input) {
    if (options.output.empty() || is_network_sink(options.output)) return std::nullopt;
    const ScratchFolder folder;
    const auto name = options.output.starts_with("-") ? "explain.y4m" + options.output.substr(1)
                                                      : std::filesystem::path(options.output).filename().string();
    SinkOptions sink;
    sink.facts = input.info().facts;
    return open_sink((folder.path() / name).string(), input.shape(), input.rate(), sink)->planes();
}

}  // namespace

Explanation explain(const RunOptions& options) {
    FilteredInput input(planned_input(options.input), options.job, options.job.stop);
    const auto planes = planes_of_output(options, input);
    input.give_planes(planes);
    return {.source = input.info().name,
            .from = input.source_format(),
            .to = planes ? FrameFormat(*planes) : input.result_format(),
            .backend = std::string(to_string(input.backend())),
            .threads = input.executor().pool().threads(),
            .steps = input.planned_steps(),
            .memory_bytes = estimated_bytes(parse_chain(options.input.filters), input.info().shape, false)};
}

}  // namespace framewire::jobs
