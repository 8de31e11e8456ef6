#include "commands/commands.hpp"
#include "commands/hog/hog_describe.hpp"
#include "commands/hog/hog_flags.hpp"
#include "commands/hog/hog_people.hpp"
#include "commands/hog/hog_train.hpp"
#include "commands/work.hpp"
#include "options/common.hpp"
#include "options/parameter_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"

#include <memory>

namespace framewire::app {
namespace {

struct AllFlags : HogFlags {
    DescribeFlags describe;
    PeopleFlags people;
    TrainFlags train;
};

}  // namespace

void add_hog(CommandLine& program, Action& chosen) {
    auto command = program.subcommand(
        "hog",
        "Histograms of oriented gradients of images and video, for NumPy; people found by them; models of people");
    const auto flags = std::make_shared<AllFlags>();
    add_input_options(command, flags->input);
    const auto input = command["--input"].required(false);
    command
        .option(
            "-o,--output", flags->output,
            "where the descriptors go: a .npy of float32, rows x columns x values, a video's or a folder's with frames "
            "first; or for a folder's images of any sizes a folder, a .npy each")
        .type_name("FILE.npy|DIR/");
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
    const auto streams =
        command
            .option("--streams", flags->describe.streams,
                    "frames under way at once on a GPU, 1 to 8 (3): one goes up, one is computed, one comes down")
            .type_name("N");
    command.flag("--json", flags->json, "print a summary as JSON when done");
    add_people_options(command, flags->people);
    add_train_options(command, flags->train);
    const auto window = add_parameter(command, window_parameter(), flags->given);
    add_common_options(command, flags->common);
    add_times_option(command, flags->common);
    set_work(command, chosen, flags->common, [=](const std::stop_source& stop) {
        flags->input.one_size = true;  // a scaled picture has other gradients, and boxes of its own
        flags->hog = hog_fields().from(flags->given);
        flags->people.parameters = people_fields().from(flags->people.given);
        flags->train.parameters = training_fields().from(flags->train.given);
        const bool people = !flags->people.model.empty();
        const bool train = !flags->train.folders.empty();
        if ((people || train) && !norm.given()) flags->hog.norm = HogNorm::l2hys;
        if (block.given() && flags->hog.norm == HogNorm::none)
            fail(ErrorCode::usage, "--block {} goes with --norm l2 or l2hys", flags->hog.block);
        if (train) {
            if (people || steps.given() || streams.given() || input.given())
                fail(ErrorCode::usage,
                     "--train makes a model of its folders; -i, --people, --steps and --streams do not go with it");
            return train_model(*flags, flags->train, stop.get_token());
        }
        if (!input.given()) fail(ErrorCode::usage, "-i is missing: where frames come from");
        if (people) {
            if (steps.given()) fail(ErrorCode::usage, "--steps draws descriptors; it does not go with --people");
            if (streams.given()) fail(ErrorCode::usage, "--streams is of descriptors; it does not go with --people");
            if (flags->output.empty()) flags->output = "-";
            return find_people(*flags, flags->people, stop.get_token());
        }
        if (window.given()) fail(ErrorCode::usage, "--window goes with --people and --train");
        if (flags->output.empty()) fail(ErrorCode::usage, "-o is missing: the .npy that the descriptors go to");
        if (flags->json && flags->output == "-")
            fail(ErrorCode::usage, "-o and --json both go to standard output; one of them can");
        describe(*flags, flags->describe, stop.get_token());
    });
}

}  // namespace framewire::app
