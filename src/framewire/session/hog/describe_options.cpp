#include "framewire/session/hog/describe_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/pipeline/circle/circle.hpp"
#include "framewire/session/hog/step_pictures.hpp"
#include "framewire/session/outputs/folders.hpp"

namespace framewire::session {

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
        files.bytes("-o", options.output);
    add_step_pictures(files, options.steps_folder);
    return files.output("--stats", options.job.statistics_path);
}

std::vector<std::int64_t> array_shape(const HogShape& shape) { return {shape.rows, shape.columns, shape.values}; }

}  // namespace framewire::session
