// The subcommand hog (Dalal and Triggs 2005) in three modes: descriptors by default, detection with --people, training
// with --train. One set of options serves all modes; the dispatch below rejects those of another mode.

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

// True if the inputs are many files with separate outputs. A folder of images is instead a single job, which makes one
// plan per image size, unless options require separate outputs.
bool makes_many(HogFlags& flags, bool people) {
    const auto& inputs = flags.many.inputs;
    const bool is_one_job = inputs.size() == 1 && !image_paths(inputs.front()).empty() && !shares_work(flags.many) &&
                            flags.many.ending.empty() && !(people && session::is_output_folder(flags.output));
    if (is_one_job) flags.input.source = inputs.front();
    return !is_one_job && is_of_many(flags.many, flags.output, flags.input);
}

}  // namespace

void add_hog(CommandLine& program, Action& chosen) {
    auto command = program.subcommand(
        "hog",
        "Histograms of oriented gradients of images and video, for NumPy; people found by them; models of people");
    const auto flags = std::make_shared<AllFlags>();
    add_batch_options(command, flags->many, flags->input);
    const auto input = command["--input"].required(false);
    add_entry_options(command, flags->entry, "for a source that is a stream: ");
    add_rate_option(command, flags->common, flags->input);
    command
        .option(
            "-o,--output", flags->output,
            "where the descriptors go: a .npy of float32, rows x columns x values, a video's or a folder's with frames "
            "first; or of many files, as a folder's images of any sizes are, a folder, a .npy each")
        .type_name("FILE.npy|FOLDER/");
    for (const auto& parameter : hog_fields().infos()) add_parameter(command, parameter, flags->given);
    const auto norm = command["--norm"].shown_default("none; l2hys for people and models");
    const auto block = command["--block"];
    const auto steps =
        command
            .option("--steps", flags->describe.steps_folder,
                    "also put pictures of the first frame's steps there: gray gamma gx gy magnitude direction hog")
            .type_name("DIR");
    command
        .option("--steps-frames", flags->describe.steps_frames,
                "with --steps: of these frames, counted from 0, each in a folder there of its own: 0,10,20-29")
        .type_name("LIST")
        .needs(steps);
    for (const auto& parameter : session::describe_fields().infos())
        add_parameter(command, parameter, flags->describe.given);
    const auto streams = command["--streams"];
    command.flag("--json", flags->json, "print a summary as JSON when done");
    add_people_options(command, flags->people);
    add_train_options(command, flags->train);
    const auto window = add_parameter(command, window_parameter(), flags->given);
    add_common_options(command, flags->common);
    add_times_option(command, flags->common);
    // Decides between the modes (descriptors, people, training) and rejects options of another mode.
    set_work(command, chosen, flags->common, [=](const std::stop_source& stop) {
        flags->input.one_size = true;  // scaling would change gradients and boxes
        flags->hog = hog_fields().from(flags->given);
        flags->people.parameters = flags->people.parameters_given();
        flags->train.parameters = training_fields().from(flags->train.given);
        const bool people = !flags->people.model.empty();
        const bool train = !flags->train.folders.empty();
        if ((people || train) && !norm.given()) flags->hog.norm = HogNorm::l2hys;
        if (block.given() && flags->hog.norm == HogNorm::none)
            fail(ErrorCode::usage, "--block {} goes with --norm l2 or l2hys", flags->hog.block);
        // Training reads its folders, and no source.
        if (train) {
            if (people || steps.given() || streams.given() || input.given())
                fail(ErrorCode::usage,
                     "--train makes a model of its folders; -i, --people, --steps and --streams do not go with it");
            return train_model(*flags, flags->train, stop.get_token());
        }
        if (!input.given()) fail(ErrorCode::usage, "-i is missing: where frames come from");
        const bool many = makes_many(*flags, people);
        if (!many) flags->entry.apply(flags->input);
        if (many && flags->json)
            fail(ErrorCode::usage, "--json is a summary of one file; --stats FILE.json has the figures of many");
        // People detection writes records to standard output by default.
        if (people) {
            if (steps.given()) fail(ErrorCode::usage, "--steps draws descriptors; it does not go with --people");
            if (streams.given()) fail(ErrorCode::usage, "--streams is of descriptors; it does not go with --people");
            if (flags->output.empty()) flags->output = "-";
            if (many) return find_people_of_many(command, *flags, flags->people, stop.get_token());
            return find_people(*flags, flags->people, stop.get_token());
        }
        if (window.given()) fail(ErrorCode::usage, "--window goes with --people and --train");
        if (flags->output.empty()) fail(ErrorCode::usage, "-o is missing: the .npy that the descriptors go to");
        if (flags->json && flags->output == "-")
            fail(ErrorCode::usage, "-o and --json both go to standard output; one of them can");
        if (many && steps.given()) fail(ErrorCode::usage, "--steps draws one file's; it does not go with many");
        if (many) return describe_many(command, *flags, flags->describe, stop.get_token());
        describe(*flags, flags->describe, stop.get_token());
    });
}

}  // namespace framewire::app
