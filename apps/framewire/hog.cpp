#include "commands.hpp"
#include "filtered_input.hpp"
#include "hog_options.hpp"
#include "hog_people.hpp"

#include "framewire/core/error.hpp"
#include "framewire/hog/pictures.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/npy.hpp"
#include "framewire/media/png.hpp"
#include "framewire/pipeline/circle.hpp"
#include "framewire/pipeline/frame_hog.hpp"

#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <vector>

namespace framewire::app {
namespace {

constexpr std::array<const char*, 3> norm_names{"none", "l2", "l2hys"};  // of HogNorm

struct AllOptions : HogOptions {
    std::string steps_folder;
    PeopleOptions people;
};

// One place of the circle: a frame as captured and as filtered, and its descriptors.
struct Slot {
    InputFrame frame;
    HostBuffer descriptors;
};

// An image's array is rows x columns x values, a video's has the frames before.
std::vector<std::int64_t> array_shape(const HogShape& shape) { return {shape.rows, shape.columns, shape.values}; }

void write_png(const std::filesystem::path& path, HostView<const std::uint8_t> image) {
    const auto png = encode_png(image);
    OutputFile file(path);
    file.write(png.data(), png.size());
    file.finish();
}

// The pictures of `--steps`: of a frame whatever its norm, into a folder that is made where it is missing.
void write_steps(const std::filesystem::path& folder, HogParameters parameters, HostView<const std::uint8_t> frame,
                 Executor& executor) {
    std::error_code failed;
    std::filesystem::create_directories(folder, failed);
    if (failed) fail(ErrorCode::io, "cannot make the folder {}: {}", folder.string(), failed.message());
    for (const auto& [name, image] :
         hog_step_pictures(hog_steps(frame, parameters.signed_gradients), parameters.signed_gradients))
        write_png(folder / fmt::format("{}.png", name), image.view());
    parameters.norm = HogNorm::none;
    FrameHog hog(parameters, frame.shape(), executor);
    std::vector<float> cells(static_cast<std::size_t>(hog.output_shape().count()));
    hog.process(frame, {cells.data(), hog.output_shape()});
    auto strokes = hog_strokes({cells.data(), hog.output_shape()}, parameters);
    write_png(folder / "hog.png", strokes.view());
}

// From source to descriptors. What fails on the way is thrown after what was computed before was written.
class Describe {
public:
    Describe(const AllOptions& options, const std::stop_source& stop)
        : options_(options),
          stop_(stop),
          statistics_file_(options.common.statistics_path),
          input_(options.input, options.common, stop.get_token()),
          hog_(options.hog, input_.shape(), input_.executor()),
          output_(options.output, array_shape(hog_.output_shape()), input_.info().frames != 1, stop.get_token()) {}

    void operator()() {
        FirstFailure failure;
        failure.attempt([&] { pump(); });
        if (frames_ > 0 && !output_failed_) failure.attempt([&] { output_.finish(); });
        const auto figures = statistics_.snapshot();
        failure.attempt([&] { statistics_file_.write(figures, input_.description()); });
        failure.rethrow();
        if (frames_ == 0 && !stop_.stop_requested()) fail(ErrorCode::no_input, "{} has no frames", input_.info().name);
        if (options_.json && frames_ > 0) print_summary(figures);
        const auto& shape = hog_.output_shape();
        spdlog::info("{} frames in {:.2f} s, {:.1f} fps, {} dropped; {} x {} x {} values a frame", figures.frames,
                     figures.seconds, figures.fps, figures.drops, shape.rows, shape.columns, shape.values);
    }

private:
    void pump() {
        const Progress progress(options_.common.progress_mode(), statistics_,
                                expected_frames(input_.info(), options_.common.frames));
        const auto& shape = input_.shape();
        const auto circle = circle_options(options_.common, input_.info(), shape, stop_);
        std::vector<Slot> slots(static_cast<std::size_t>(circle.slots));
        for (auto& slot : slots) {
            slot.frame = input_.make_frame();
            slot.descriptors = HostBuffer(hog_.output_shape().bytes(), input_.executor().frame_memory());
        }
        const auto at = [&](int slot) -> Slot& { return slots[static_cast<std::size_t>(slot)]; };
        run_circle({.capture = [&](int slot, FrameTime& time) { return input_.capture(at(slot).frame, time); },
                    .process = [&](int slot, const FrameTime& time) { describe(at(slot), time); },
                    .send = [&](int slot, const FrameTime&) { send(at(slot)); }},
                   circle, statistics_);
    }

    void describe(Slot& slot, const FrameTime& time) {
        input_.filter(slot.frame, time, statistics_);
        hog_.process(slot.frame.image().view(), {slot.descriptors.as<float>(), hog_.output_shape()});
    }

    void send(Slot& slot) {
        if (frames_ == 0 && !options_.steps_folder.empty())
            write_steps(options_.steps_folder, options_.hog, slot.frame.image().view(), input_.executor());
        output_failed_ = true;  // until it has not
        output_.write(slot.descriptors.as<float>(), static_cast<std::size_t>(hog_.output_shape().count()));
        output_failed_ = false;
        ++frames_;
        statistics_.set_sent_bytes(output_.bytes());
        if (options_.json) summarize(slot.descriptors.as<float>());
    }

    void summarize(const float* values) {
        for (std::int64_t i = 0; i < hog_.output_shape().count(); ++i) {
            largest_ = std::max(largest_, values[i]);
            sum_ += values[i];
        }
    }

    void print_summary(const StatisticsSnapshot& figures) const {
        const auto& parameters = options_.hog;
        const auto& shape = hog_.output_shape();
        nlohmann::ordered_json summary{{"source", input_.info().name},
                                       {"output", options_.output},
                                       {"frames", frames_},
                                       {"shape", {shape.rows, shape.columns, shape.values}},
                                       {"cell", parameters.cell},
                                       {"bins", parameters.bins},
                                       {"signed", parameters.signed_gradients},
                                       {"norm", norm_names.at(static_cast<std::size_t>(parameters.norm))}};
        if (parameters.norm != HogNorm::none) summary["block"] = parameters.block;
        summary["largest"] = largest_;
        summary["mean"] = sum_ / static_cast<double>(shape.count()) / static_cast<double>(frames_);
        summary["backend"] = input_.description().backend;
        summary["seconds"] = figures.seconds;
        summary["fps"] = figures.fps;
        fmt::print("{}\n", summary.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    }

    const AllOptions& options_;
    std::stop_source stop_;
    // In this order, so that what is cheap to refuse is refused first and the output is touched last.
    StatisticsFile statistics_file_;
    FilteredInput input_;
    FrameHog hog_;
    NpyFile output_;

    Statistics statistics_;
    std::int64_t frames_ = 0;
    float largest_ = 0;  // of all values, which are not negative
    double sum_ = 0;
    bool output_failed_ = false;
};

}  // namespace

void add_hog(CLI::App& program, Action& chosen) {
    auto* command = program.add_subcommand(
        "hog", "Histograms of oriented gradients of images and video, for NumPy; people found by them");
    const auto options = std::make_shared<AllOptions>();
    add_input_options(*command, options->input);
    command
        ->add_option(
            "-o,--output", options->output,
            "where the descriptors go: a .npy of float32, rows x columns x values, a video's with frames first")
        ->type_name("FILE.npy");
    command->add_option("--cell", options->hog.cell, "side of a cell in pixels, 4 to 64")
        ->type_name("PX")
        ->capture_default_str();
    command->add_option("--bins", options->hog.bins, "directions of a cell, 2 to 36")
        ->type_name("N")
        ->capture_default_str();
    command->add_flag("--signed", options->hog.signed_gradients,
                      "tell dark to bright from bright to dark: bins of the whole circle");
    auto* norm =
        command->add_option("--norm", options->hog.norm, "of each block of cells; l2hys is Dalal and Triggs's")
            ->transform(CLI::CheckedTransformer(std::map<std::string, HogNorm>{
                {norm_names[0], HogNorm::none}, {norm_names[1], HogNorm::l2}, {norm_names[2], HogNorm::l2hys}}))
            ->default_str("none; l2hys for people");
    auto* block = command->add_option("--block", options->hog.block, "side of a block in cells, 1 to 8; with --norm")
                      ->type_name("N")
                      ->capture_default_str();
    auto* steps =
        command
            ->add_option("--steps", options->steps_folder,
                         "also put pictures of the first frame's steps there: gray gamma gx gy magnitude direction hog")
            ->type_name("DIR");
    command->add_flag("--json", options->json, "print a summary as JSON when done");
    add_people_options(*command, options->people);
    auto* window = command->add_option("--window", options->window, "of a model, in pixels; whole cells")
                       ->type_name("WxH")
                       ->capture_default_str();
    add_common_options(*command, options->common);
    set_work(*command, chosen, options->common, [=](const std::stop_source& stop) {
        const bool people = !options->people.model.empty();
        if (people && norm->count() == 0) options->hog.norm = HogNorm::l2hys;
        if (block->count() > 0 && options->hog.norm == HogNorm::none)
            fail(ErrorCode::usage, "--block {} goes with --norm l2 or l2hys", options->hog.block);
        if (people) {
            if (steps->count() > 0) fail(ErrorCode::usage, "--steps draws descriptors; it does not go with --people");
            if (options->output.empty()) options->output = "-";
            return find_people(*options, options->people, stop);
        }
        if (window->count() > 0) fail(ErrorCode::usage, "--window goes with --people");
        if (options->output.empty()) fail(ErrorCode::usage, "-o is missing: the .npy that the descriptors go to");
        if (options->json && options->output == "-")
            fail(ErrorCode::usage, "-o and --json both go to standard output; one of them can");
        Describe(*options, stop)();
    });
}

}  // namespace framewire::app
