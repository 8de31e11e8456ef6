#include "commands/commands.hpp"
#include "commands/hog/hog_folder.hpp"
#include "commands/hog/hog_output.hpp"
#include "commands/hog/hog_people.hpp"
#include "commands/hog/hog_train.hpp"
#include "jobs/filtered_input.hpp"
#include "jobs/folder_walk.hpp"
#include "options/common.hpp"
#include "options/hog_options.hpp"
#include "options/output_check.hpp"
#include "options/parameter_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/hog/steps/pictures.hpp"
#include "framewire/media/formats/npy.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/pipeline/circle/circle.hpp"
#include "framewire/pipeline/frames/frame_hog.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <vector>

namespace framewire::app {
namespace {

struct AllOptions : DescribeOptions {
    PeopleOptions people;
    TrainOptions train;
};

// One place of the circle: a frame as captured and as filtered, and its descriptors.
struct Slot {
    InputFrame frame;
    FrameDescriptors descriptors;
};

// From source to descriptors. What fails on the way is thrown after what was computed before was written.
class Describe {
public:
    Describe(const DescribeOptions& options, const std::stop_source& stop)
        : options_(options),
          stop_(stop),
          statistics_file_(options.common),
          input_(options.input, options.common, stop.get_token()),
          streams_(options.streams_on(input_.backend())),
          hog_(options.hog, input_.shape(), input_.executor()),
          output_(options.output, array_shape(hog_.output_shape()),
                  input_.info().frames != 1 || is_folder(options.input.source),
                  sink_options(options.common, input_.info(), stop).file_options()) {}

    void operator()() {
        FirstFailure failure;
        failure.attempt([&] { pump(); });
        const auto ending = ending_of(failure, stop_, input_.info().live);
        if (frames_ > 0 && !output_failed_) failure.attempt([&] { output_.finish(ending); });
        const auto figures = statistics_.snapshot();
        failure.attempt([&] { statistics_file_.write(figures, input_.description()); });
        failure.rethrow();
        if (frames_ == 0 && !stop_.stop_requested()) fail(ErrorCode::no_input, "{} has no frames", input_.info().name);
        if (options_.json && frames_ > 0) summary_.print(options_, figures, input_.description(), &hog_.output_shape());
        const auto& shape = hog_.output_shape();
        log_info("{} frames in {:.2f} s, {:.1f} fps, {} dropped; {} x {} x {} values a frame", figures.frames,
                 figures.seconds, figures.fps, figures.drops, shape.rows, shape.columns, shape.values);
    }

private:
    void pump() {
        const Progress progress(options_.common.progress_mode(), statistics_,
                                expected_frames(input_.info(), options_.common.frames));
        auto circle = circle_options(options_.common, input_.info(), input_.shape(), stop_, input_.backend());
        circle.let_wait(streams_);
        std::vector<Slot> slots;
        for (int slot = 0; slot < circle.slots; ++slot)
            slots.push_back({input_.make_frame(), {hog_.output_shape(), input_.executor()}});
        const auto at = [&](int slot) -> Slot& { return slots[static_cast<std::size_t>(slot)]; };
        run_circle({.capture = [&](int slot, FrameTime& time) { return input_.capture(at(slot).frame, time); },
                    .process = [&](int slot, const FrameTime& time) { describe(at(slot), time); },
                    .wait = [&](int slot) { wait(at(slot)); },
                    .send = [&](int slot, const FrameTime&) { send(at(slot)); }},
                   circle, statistics_);
    }

    void describe(Slot& slot, const FrameTime& time) {
        input_.filter(slot.frame, time, statistics_, {.on_host = with_steps(), .by_stages = true});
        hog_.start(slot.frame.result(), slot.descriptors);
    }

    bool with_steps() const { return !options_.steps_folder.empty(); }

    void wait(Slot& slot) {
        slot.descriptors.wait();
        slot.frame.wait();
    }

    void send(Slot& slot) {
        if (frames_ == 0 && with_steps()) write_steps(options_, slot.frame.result().host(), input_.executor());
        const auto* values = slot.descriptors.values().data();
        const auto count = hog_.output_shape().count();
        output_failed_ = true;  // until it has not
        output_.write(values, static_cast<std::size_t>(count));
        output_failed_ = false;
        ++frames_;
        statistics_.set_sent_bytes(output_.bytes());
        if (options_.json) summary_.add(values, count);
    }

    const DescribeOptions& options_;
    std::stop_source stop_;
    // In this order, so that what is cheap to refuse is refused first and the output is touched last.
    StatisticsFile statistics_file_;
    FilteredInput input_;
    int streams_;
    FrameHog hog_;
    NpyFile output_;

    Statistics statistics_;
    HogSummary summary_;
    std::int64_t frames_ = 0;
    bool output_failed_ = false;
};

// The outputs in a folder for the images of the input's.
void add_images(RunFiles& files, const char* option, const std::string& folder, const std::string& source,
                std::string_view ending) {
    for (const auto& path : outputs_of(image_paths(source), folder, ending)) files.output(option, path);
}

RunFiles files_of(const TrainOptions& train, const HogOptions& options) {
    RunFiles files;
    for (const auto& folder : train.folders) files.source(folder);
    return files.output("-o", options.output).output("--curve", train.curve);
}

RunFiles files_of(const PeopleOptions& people, const HogOptions& options) {
    RunFiles files;
    files.source(options.input.source).input("--people", people.model).output("-o", options.output);
    if (!is_folder(options.input.source)) {
        files.sink("--annotate", people.annotate);
    } else if (!people.annotate.empty() && is_output_folder(people.annotate) &&
               !is_same_folder(people.annotate, options.input.source)) {
        add_images(files, "--annotate", people.annotate, options.input.source, ".png");
    }
    return files.output("--stats", options.common.statistics_path);
}

RunFiles files_of(const DescribeOptions& options) {
    RunFiles files;
    files.source(options.input.source);
    if (is_output_folder(options.output))
        add_images(files, "-o", options.output, options.input.source, ".npy");
    else
        files.output("-o", options.output);
    if (const std::filesystem::path folder = options.steps_folder; !folder.empty())
        for (const auto* name : hog_step_names) files.output("--steps", folder / fmt::format("{}.png", name));
    return files.output("--stats", options.common.statistics_path);
}

}  // namespace

void add_hog(CLI::App& program, Action& chosen) {
    auto* command = program.add_subcommand(
        "hog",
        "Histograms of oriented gradients of images and video, for NumPy; people found by them; models of people");
    const auto options = std::make_shared<AllOptions>();
    add_input_options(*command, options->input);
    auto* input = command->get_option("--input")->required(false);
    command
        ->add_option(
            "-o,--output", options->output,
            "where the descriptors go: a .npy of float32, rows x columns x values, a video's or a folder's with frames "
            "first; or for a folder's images of any sizes a folder, a .npy each")
        ->type_name("FILE.npy|DIR/");
    for (const auto& parameter : hog_fields().infos()) add_parameter(*command, parameter, options->given);
    auto* norm = command->get_option("--norm")->default_str("none; l2hys for people and models");
    auto* block = command->get_option("--block");
    auto* steps =
        command
            ->add_option("--steps", options->steps_folder,
                         "also put pictures of the first frame's steps there: gray gamma gx gy magnitude direction hog")
            ->type_name("DIR");
    auto* streams =
        command
            ->add_option("--streams", options->streams,
                         "frames under way at once on a GPU, 1 to 8 (3): one goes up, one is computed, one comes down")
            ->type_name("N");
    command->add_flag("--json", options->json, "print a summary as JSON when done");
    add_people_options(*command, options->people);
    add_train_options(*command, options->train);
    auto* window = add_parameter(*command, window_parameter(), options->given);
    add_common_options(*command, options->common);
    set_work(*command, chosen, options->common, [=](const std::stop_source& stop) {
        options->input.one_size = true;  // a scaled picture has other gradients, and boxes of its own
        options->hog = hog_fields().from(options->given);
        options->people.parameters = people_fields().from(options->people.given);
        options->train.parameters = training_fields().from(options->train.given);
        const bool people = !options->people.model.empty();
        const bool train = !options->train.folders.empty();
        if ((people || train) && norm->count() == 0) options->hog.norm = HogNorm::l2hys;
        if (block->count() > 0 && options->hog.norm == HogNorm::none)
            fail(ErrorCode::usage, "--block {} goes with --norm l2 or l2hys", options->hog.block);
        if (train) {
            if (people || steps->count() > 0 || streams->count() > 0 || input->count() > 0)
                fail(ErrorCode::usage,
                     "--train makes a model of its folders; -i, --people, --steps and --streams do not go with it");
            if (files_of(options->train, *options).may_write(options->common, stop.get_token()))
                train_model(*options, options->train, stop);
            return;
        }
        if (input->count() == 0) fail(ErrorCode::usage, "-i is missing: where frames come from");
        if (people) {
            if (steps->count() > 0) fail(ErrorCode::usage, "--steps draws descriptors; it does not go with --people");
            if (streams->count() > 0)
                fail(ErrorCode::usage, "--streams is of descriptors; it does not go with --people");
            if (options->output.empty()) options->output = "-";
            if (files_of(options->people, *options).may_write(options->common, stop.get_token()))
                find_people(*options, options->people, stop);
            return;
        }
        if (window->count() > 0) fail(ErrorCode::usage, "--window goes with --people and --train");
        if (options->output.empty()) fail(ErrorCode::usage, "-o is missing: the .npy that the descriptors go to");
        if (options->json && options->output == "-")
            fail(ErrorCode::usage, "-o and --json both go to standard output; one of them can");
        if (!files_of(*options).may_write(options->common, stop.get_token())) return;
        if (is_output_folder(options->output)) return describe_folder(*options, stop);
        Describe(*options, stop)();
    });
}

}  // namespace framewire::app
