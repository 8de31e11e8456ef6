#include "hog_output.hpp"

#include "framewire/core/error.hpp"
#include "framewire/hog/pictures.hpp"
#include "framewire/media/png.hpp"

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

CircleOptions with_streams(CircleOptions circle, int streams) {
    circle.slots += streams - circle.waiting;
    circle.waiting = streams;
    return circle;
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
    std::vector<float> cells(static_cast<std::size_t>(hog.output_shape().count()));
    hog.process(frame, {cells.data(), hog.output_shape()});
    auto strokes = hog_strokes({cells.data(), hog.output_shape()}, parameters);
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
