#include "framewire/session/hog/describe_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/pipeline/circle/circle.hpp"
#include "framewire/session/hog/steps/step_pictures.hpp"
#include "framewire/session/outputs/folders.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>

namespace framewire::session {

const ParameterFields<DescribeOptions>& describe_fields() {
    static const ParameterFields<DescribeOptions> fields = {parameter_field(
        &DescribeOptions::under_way,
        {.name = "streams",
         .help = "frames under way at once on a GPU, where 3 suit: one goes up, one is computed, one comes down",
         .minimum = 1,
         .maximum = 8,
         .unit = "N"})};
    return fields;
}

std::string steps_folder_of(const DescribeOptions& options, std::int64_t frame, const std::string& image) {
    if (options.steps_folder.empty()) return {};
    if (options.steps_of.empty()) return frame == 0 ? options.steps_folder : "";
    if (!options.steps_of.contains(frame)) return {};
    const auto name = image.empty() ? fmt::format("{:06}", frame) : std::filesystem::path(image).stem().string();
    return std::filesystem::path(options.steps_folder) / name;
}

// The CPU has no streams: its threads work on a frame together, or each on a frame of its own.
int DescribeOptions::frames_under_way_on(Backend backend) const {
    if (!under_way) return frames_under_way(backend);
    describe_fields().check(*this, "hog");
    if (backend == Backend::cpu && *under_way > 1)
        fail(ErrorCode::usage, "hog on {} streams of the cpu backend, which has threads in their place: it has 1",
             *under_way);
    return *under_way;
}

JobFiles files_of(const DescribeOptions& options) {
    JobFiles files;
    files.source(options.input.source);
    if (is_output_folder(options.output))
        files.outputs("-o", options.output, options.input.source, ".npy");
    else
        files.bytes("-o", options.output, npy_format);
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
    return files.statistics(options.job.statistics_path);
}

std::vector<std::int64_t> array_shape(const HogShape& shape) { return {shape.rows, shape.columns, shape.values}; }

}  // namespace framewire::session
