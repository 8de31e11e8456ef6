// hog without --people and --train: writes descriptors as NumPy arrays.

#include "commands/hog/hog_describe.hpp"

#include "commands/json.hpp"
#include "commands/work.hpp"

#include "framewire/core/log.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/jobs/hog.hpp"
#include "framewire/jobs/outputs.hpp"

#include <fmt/format.h>

namespace framewire::app {
namespace {

// Prints the result as JSON.
void print_summary(const HogFlags& flags, const jobs::DescribeResult& result) {
    const auto& parameters = flags.hog;
    Json summary{
        {"source", result.description.source}, {"output", flags.output}, {"frames", result.descriptors.frames()}};
    if (result.shape) summary.add("shape", jobs::array_shape(*result.shape));
    add_descriptor(summary, parameters);
    summary.add("cell", parameters.cell);
    summary.add("bins", parameters.bins);
    summary.add("signed", parameters.signed_gradients);
    summary.add("norm", name_of(hog_norm_names, parameters.norm));
    if (parameters.norm != HogNorm::none) summary.add("block", parameters.block);
    summary.add("largest", result.descriptors.largest());
    summary.add("mean", result.descriptors.mean());
    summary.add("backend", result.description.backend);
    summary.add("seconds", result.figures.seconds);
    summary.add("fps", result.figures.fps);
    fmt::print("{}\n", summary.text());
}

}  // namespace

void describe(HogFlags& flags, const DescribeFlags& describe, const std::stop_token& stop) {
    auto options = jobs::describe_fields().from(describe.given);
    options.job = flags.common.job(stop);
    options.input = flags.input;
    options.hog = flags.hog;
    options.output = flags.output;
    options.steps_folder = describe.steps_folder;
    if (!describe.steps_frames.empty()) options.steps_of = jobs::StepFrames(describe.steps_frames);
    if (!may_write(files_of(options), flags.common, stop)) return;
    options.job = flags.common.job(stop);
    options.job.gpus = flags.common.fleet();
    const bool of_folder = jobs::is_output_folder(flags.output);
    const auto result = of_folder ? jobs::DescribeFolderJob(options).run() : jobs::DescribeJob(options).run();
    const auto& figures = result.figures;
    if (flags.json && figures.frames > 0) print_summary(flags, result);
    if (of_folder)
        log_info("{} images in {:.2f} s, {:.1f} per second", figures.frames, figures.seconds, figures.fps);
    else
        log_info("{} frames in {:.2f} s, {:.1f} fps, {} dropped; {} x {} x {} values per frame", figures.frames,
                 figures.seconds, figures.fps, figures.drops, result.shape->rows, result.shape->columns,
                 result.shape->values);
    show_times(flags.common, figures);
}

void describe_many(const Command& command, HogFlags& flags, const DescribeFlags& describe,
                   const std::stop_token& stop) {
    const auto item = [&](const ItemRequest& request) {
        const auto name = request.input.name + ".npy";
        auto options = jobs::describe_fields().from(describe.given);
        options.job = request.job;
        options.input = flags.input;
        options.hog = flags.hog;
        options.output = request.in_folder("-o", flags.output, name);
        request.take(options.input);
        return request.item<jobs::DescribeJob>(name, options);
    };
    make_many(command, flags.many, flags.common, flags.output, {.input = flags.input, .item = item}, stop);
}

}  // namespace framewire::app
