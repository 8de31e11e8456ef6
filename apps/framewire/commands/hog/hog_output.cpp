#include "commands/hog/hog_output.hpp"

#include "framewire/core/error.hpp"
#include "framewire/hog/steps/pictures.hpp"
#include "framewire/media/images/png.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace framewire::app {

void make_folder(const std::string& folder) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) fail(ErrorCode::io, "cannot make the folder {}: {}", folder, failed.message());
}

std::int64_t write_png(const std::string& path, HostView<const std::uint8_t> image, OutputFileOptions options) {
    const auto png = encode_png(image);
    OutputFile file(path, std::move(options));
    file.write(png.data(), png.size());
    file.finish();
    return file.bytes();
}

std::vector<std::int64_t> array_shape(const HogShape& shape) { return {shape.rows, shape.columns, shape.values}; }

int DescribeOptions::streams_on(Backend backend) const {
    if (!streams) return frames_under_way(backend);
    if (*streams < 1 || *streams > most_streams)
        fail(ErrorCode::usage, "hog on {} streams; allowed are 1 to {}", *streams, most_streams);
    if (backend == Backend::cpu && *streams > 1)
        fail(ErrorCode::usage, "hog on {} streams of the cpu backend, whose threads share a frame: it has 1", *streams);
    return *streams;
}

void write_steps(const DescribeOptions& options, HostView<const std::uint8_t> frame, Executor& executor) {
    const std::filesystem::path folder = options.steps_folder;
    const OutputFileOptions files{.replace = options.common.replace};
    auto parameters = options.hog;
    make_folder(options.steps_folder);
    for (const auto& [name, image] :
         hog_step_pictures(hog_steps(frame, parameters.signed_gradients), parameters.signed_gradients))
        write_png(folder / fmt::format("{}.png", name), image.view(), files);
    parameters.norm = HogNorm::none;
    FrameHog hog(parameters, frame.shape(), executor);
    Frame twin(frame.shape(), executor);
    copy(frame, twin.host());
    twin.upload();
    FrameDescriptors cells(hog.output_shape(), executor);
    hog.start(twin, cells);
    cells.wait();
    auto strokes = hog_strokes({cells.values().data(), hog.output_shape()}, parameters);
    write_png(folder / fmt::format("{}.png", hog_step_names.back()), strokes.view(), files);
}

void HogSummary::add(const float* values, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
        largest_ = std::max(largest_, values[i]);
        sum_ += values[i];
    }
    values_ += count;
    ++frames_;
}

void HogSummary::print(const DescribeOptions& options, const StatisticsSnapshot& figures, const RunDescription& run,
                       const HogShape* shape) const {
    const auto& parameters = options.hog;
    nlohmann::ordered_json summary{{"source", run.source}, {"output", options.output}, {"frames", frames_}};
    if (shape) summary["shape"] = array_shape(*shape);
    summary["cell"] = parameters.cell;
    summary["bins"] = parameters.bins;
    summary["signed"] = parameters.signed_gradients;
    summary["norm"] = name_of(hog_norm_names, parameters.norm);
    if (parameters.norm != HogNorm::none) summary["block"] = parameters.block;
    summary["largest"] = largest_;
    summary["mean"] = sum_ / static_cast<double>(values_);
    summary["backend"] = run.backend;
    summary["seconds"] = figures.seconds;
    summary["fps"] = figures.fps;
    fmt::print("{}\n", summary.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

}  // namespace framewire::app
