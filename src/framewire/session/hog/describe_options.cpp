#include "framewire/session/hog/describe_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/pipeline/circle/circle.hpp"
#include "framewire/session/hog/step_pictures.hpp"
#include "framewire/session/outputs/folders.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>

namespace framewire::session {

std::string steps_folder_of(const DescribeOptions& options, std::int64_t frame, const std::string& image) {
    if (options.steps_folder.empty()) return {};
    if (options.steps_of.empty()) return frame == 0 ? options.steps_folder : "";
    if (!options.steps_of.contains(frame)) return {};
    const auto name = image.empty() ? fmt::format("{:06}", frame) : std::filesystem::path(image).stem().string();
    return std::filesystem::path(options.steps_folder) / name;
}

int DescribeOptions::frames_under_way_on(Backend backend) const {
    if (!under_way) return frames_under_way(backend);
    if (*under_way < 1 || *under_way > most_under_way)
        fail(ErrorCode::usage, "hog on {} streams; allowed are 1 to {}", *under_way, most_under_way);
    if (backend == Backend::cpu && *under_way > 1)
        fail(ErrorCode::usage, "hog on {} streams of the cpu backend, whose threads share a frame: it has 1",
             *under_way);
    return *under_way;
}

JobFiles files_of(const DescribeOptions& options) {
    JobFiles files;
    files.source(options.input.source);
    if (is_output_folder(options.output))
        files.outputs("-o", options.output, options.input.source, ".npy");
    else
        files.output("-o", options.output);
    const bool of_images = is_output_folder(options.output);
    const auto images =
        of_images && !options.steps_of.empty() ? image_paths(options.input.source) : std::vector<std::string>();
    if (options.steps_of.empty()) add_step_pictures(files, options.steps_folder);
    options.steps_of.for_each([&](std::int64_t frame) {
        if (!of_images)
            add_step_pictures(files, steps_folder_of(options, frame));
        else if (frame < std::ssize(images))
            add_step_pictures(files, steps_folder_of(options, frame, images[static_cast<std::size_t>(frame)]));
    });
    return files.output("--stats", options.job.statistics_path);
}

std::vector<std::int64_t> array_shape(const HogShape& shape) { return {shape.rows, shape.columns, shape.values}; }

}  // namespace framewire::session
