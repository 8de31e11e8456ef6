// The subcommand hog (Dalal and Triggs 2005) has three modes: descriptors by default, detection with --people, training
// with --train. All modes share one set of options; the dispatch below rejects options of another mode.

#include "commands/commands.hpp"
#include "commands/hog/hog_describe.hpp"
#include "commands/hog/hog_flags.hpp"
#include "commands/hog/hog_people.hpp"
#include "commands/hog/hog_train.hpp"
#include "commands/work.hpp"
#include "options/access_options.hpp"
#include "options/common.hpp"
#include "options/parameter_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/jobs/hog.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/media/image_sequence.hpp"

#include <memory>

namespace framewire::app {
namespace {

// Flags of all modes.
struct AllFlags : HogFlags {
    DescribeFlags describe;
    PeopleFlags people;
    TrainFlags train;
};

// Returns true if the inputs are many files with separate outputs. A folder of images, by contrast, is a single job,
// which makes one plan per image size, unless options require separate outputs.
bool makes_many(HogFlags& flags, bool people) {
    const auto& inputs = flags.many.inputs;
    const bool is_one_job = inputs.size() == 1 && !image_paths(inputs.front()).empty() && !shares_work(flags.many) &&
                            flags.many.ending.empty() && !(people && jobs::is_output_folder(flags.output));
    if (is_one_job) flags.input.source = inputs.front();
    return !is_one_job && is_of_many(flags.many, flags.output, flags.input);
}

}  // namespace

void add_hog(CommandLine& program, Action& chosen) {
    auto command = program.subcommand(
        "hog", "Computes histograms of oriented gradients for NumPy, detects people and trains models");
    const auto flags = std::make_shared<AllFlags>();
    add_batch_options(command, flags->many, flags->input);
    const auto input = command["--input"].required(false);
    add_entry_options(command, flags->entry, "if the source is a stream: ");
    add_rate_option(command, flags->common, flags->input);
    command
        .option("-o,--output", flags->output,
                "where to write the descriptors: a float32 .npy of rows x columns x values, with frames as the first "
                "dimension for a video or folder; for several files, such as images of different sizes, a folder with "
                "one .npy each")
        .type_name("FILE.npy|FOLDER/");
    const auto preset = add_parameter(command, hog_preset_parameter(), flags->given)
                            .shown_default("report; people with --train, unless --gradient is sobel");
    for (const auto& parameter : hog_fields().infos()) add_parameter(command, parameter, flags->given);
    command["--norm"].shown_default("none; l2hys with --people and --train");
    const auto block = command["--block"], votes = command["--votes"];
    const auto steps = command
                           .option("--steps", flags->describe.steps_folder,
                                   "also write an image of each step of the first frame to this folder: gray gamma gx "
                                   "gy magnitude direction hog")
                           .type_name("DIR");
    command
        .option("--steps-frames", flags->describe.steps_frames,
                "with --steps: frames to draw, counted from 0, each in its own subfolder: 0,10,20-29")
        .type_name("LIST")
        .needs(steps);
    for (const auto& parameter : jobs::describe_fields().infos())
        add_parameter(command, parameter, flags->describe.given);
    const auto streams = command["--streams"];
    command.flag("--json", flags->json, "print a summary as JSON at the end");
    add_people_options(command, flags->people);
    add_train_options(command, flags->train);
    const auto window = add_parameter(command, window_parameter(), flags->given);
    add_common_options(command, flags->common);
    add_gpus_option(command, flags->common);
    add_times_option(command, flags->common);
    // Chooses the mode (descriptors, people, training) and rejects options of another mode.
    set_work(command, chosen, flags->common, [=](const std::stop_source& stop) {
        flags->input.one_size = true;  // scaling would change gradients and boxes
        const bool people = !flags->people.model.empty();
        const bool train = !flags->train.folders.empty();
        if (preset.given())
            add_preset(*value_named(hog_preset_names, flags->given.text(hog_preset_parameter().name)), flags->given);
        else if (train && !(flags->given.is_given("gradient") && flags->given.text("gradient") == "sobel"))
            add_preset(HogPreset::people, flags->given);
        flags->hog = hog_fields().from(flags->given);
        flags->people.parameters = flags->people.parameters_given();
        flags->train.parameters = training_fields().from(flags->train.given);
        if ((people || train) && !flags->given.is_given("norm")) flags->hog.norm = HogNorm::l2hys;
        if (votes.given() && flags->hog.gradient == HogGradient::sobel)
            fail(ErrorCode::usage, "--votes {} requires --gradient central",
                 name_of(hog_votes_names, flags->hog.votes));
        if (block.given() && flags->hog.norm == HogNorm::none)
            fail(ErrorCode::usage, "--block {} requires --norm l2 or l2hys", flags->hog.block);
        // Training reads its own folders instead of a source.
        if (train) {
            if (people || steps.given() || streams.given() || input.given())
                fail(ErrorCode::usage,
                     "--train reads its own folders; it cannot be combined with -i, --people, --steps or --streams");
            return train_model(*flags, flags->train, stop.get_token());
        }
        if (!input.given()) fail(ErrorCode::usage, "-i, the source of the frames, is missing");
        const bool many = makes_many(*flags, people);
        if (!many) flags->entry.apply(flags->input);
        if (many && flags->json)
            fail(ErrorCode::usage, "--json summarizes a single file; use --stats FILE.json for several");
        // People detection writes records to standard output by default.
        if (people) {
            if (steps.given()) fail(ErrorCode::usage, "--steps draws descriptors; it cannot be combined with --people");
            if (streams.given())
                fail(ErrorCode::usage, "--streams applies to descriptors; it cannot be combined with --people");
            if (flags->output.empty()) flags->output = "-";
            if (many) return find_people_of_many(command, *flags, flags->people, stop.get_token());
            return find_people(*flags, flags->people, stop.get_token());
        }
        if (window.given()) fail(ErrorCode::usage, "--window requires --people or --train");
        if (flags->output.empty()) fail(ErrorCode::usage, "-o, the .npy file for the descriptors, is missing");
        if (flags->json && flags->output == "-")
            fail(ErrorCode::usage, "-o and --json both write to standard output; only one of them can");
        if (many && steps.given())
            fail(ErrorCode::usage, "--steps works on a single file; it cannot be used with several inputs");
        if (many) return describe_many(command, *flags, flags->describe, stop.get_token());
        describe(*flags, flags->describe, stop.get_token());
    });
}

}  // namespace framewire::app
