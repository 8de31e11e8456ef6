// hog --train: trains a linear model on folders of positive and negative images, optionally with cross-validation.

#include "commands/hog/hog_train.hpp"

#include "commands/json.hpp"
#include "commands/work.hpp"
#include "options/parameter_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/jobs/hog.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>

namespace framewire::app {
namespace {

// False-alarm rates per window for which the detection rate is reported.
constexpr std::array false_alarm_rates{1e-1, 1e-2, 1e-3, 1e-4};

// Returns the cross-validation curve as JSON.
Json as_json(const DetectionCurve& curve, std::int64_t folds) {
    Json rates;
    for (const double rate : false_alarm_rates) rates.add(fmt::format("{}", rate), curve.detection_rate_at(rate));
    return {{"folds", folds},
            {"positives", curve.positives},
            {"windows", curve.negatives},
            {"detection_rate_at_false_alarms_per_window", rates}};
}

// Logs the detection rates for held-out images.
void log_curve(const DetectionCurve& curve) {
    for (const double rate : false_alarm_rates)
        log_info("held-out images: {:.1f} % detected at {} false alarms per window",
                 100 * curve.detection_rate_at(rate), rate);
}

// Logs one round of training. Later rounds add hard negatives (Dalal and Triggs 2005).
void log_training(const TrainingStatistics& figures) {
    log_info("{}: {} positives, {} of them missed; {} negatives, {} of them false alarms; {} passes",
             figures.hard_negatives.empty() ? "first training" : fmt::format("round {}", figures.hard_negatives.size()),
             figures.positives, figures.missed, figures.negatives, figures.false_alarms, figures.svm.passes);
}

// Returns the job's options.
jobs::TrainOptions options_of(const HogFlags& flags, const TrainFlags& train, const std::stop_token& stop) {
    const auto folds = jobs::train_fields().from(train.given).folds;
    return {.positives = train.folders.at(0),
            .negatives = train.folders.at(1),
            .window = flags.window(),
            .training = train.parameters,
            .folds = folds,
            .output = flags.output,
            .curve = train.curve,
            .threads = flags.common.threads,
            .replace = flags.common.replace,
            .stop = stop,
            .on_fold = [folds](int fold) { log_info("fold {} of {} done", fold, *folds); },
            .on_curve = log_curve,
            .on_training = log_training};
}

// Prints the result as JSON.
void print_summary(const HogFlags& flags, const TrainFlags& train, const jobs::TrainJob& job,
                   const TrainingStatistics& figures) {
    const auto window = flags.window();
    const auto& parameters = train.parameters;
    Json summary{{"output", flags.output},
                 {"window", Json::array({window.width_px, window.height_px})},
                 {"cell", window.hog.cell},
                 {"bins", window.hog.bins},
                 {"signed", window.hog.signed_gradients},
                 {"norm", name_of(hog_norm_names, window.hog.norm)},
                 {"positive_images", job.positives().size()},
                 {"negative_images", job.negatives().size()},
                 {"positives", figures.positives},
                 {"negatives", figures.negatives},
                 {"hard_negatives", figures.hard_negatives},
                 {"missed", figures.missed},
                 {"false_alarms", figures.false_alarms},
                 {"c", parameters.svm.c},
                 {"seed", parameters.svm.seed},
                 {"margin", figures.margin},
                 {"cost", figures.svm.cost},
                 {"excess", figures.svm.excess},
                 {"passes", figures.svm.passes},
                 {"converged", figures.svm.converged}};
    add_descriptor(summary, window.hog);
    if (window.hog.norm != HogNorm::none) summary.add("block", window.hog.block);
    if (job.curve()) summary.add("held_out", as_json(*job.curve(), train.given.integer("folds")));
    fmt::print("{}\n", summary.text());
}

// Logs the result, and warns if the solver did not converge.
void report(const HogFlags& flags, const TrainFlags& train, const jobs::TrainJob& job, const TrainedModel& trained) {
    const auto& figures = trained.figures;
    const auto& model = trained.model;
    if (!figures.svm.converged)
        log_warning(
            "training did not converge in {} passes: the cost may be up to {:.2g} above the minimum; it is {:.4g}",
            figures.svm.passes, figures.svm.excess, figures.svm.cost);
    log_info("{}: a window of {}x{} pixels, {} weights and a bias, margin {:.3g}", flags.output, model.width_px,
             model.height_px, model.weights.size(), figures.margin);
    if (flags.json) print_summary(flags, train, job, figures);
}

}  // namespace

void add_train_options(Command& command, TrainFlags& flags) {
    const auto train =
        command
            .option("--train", flags.folders,
                    "train a model for --people from folders of images with and without the object and write it to -o")
            .expected(2)
            .type_name("POSITIVES NEGATIVES");
    for (const auto* infos : {&training_fields().infos(), &jobs::train_fields().infos()})
        for (const auto& parameter : *infos)
            add_parameter(command, parameter, flags.given, {.before = "with --train: ", .needs = train});
    command.option("--curve", flags.curve, "with --folds: write the detection rate and false alarms at each threshold")
        .needs(command["--folds"])
        .type_name("FILE.csv");
}

// Rejects options that have no effect on training.
void train_model(HogFlags& flags, const TrainFlags& train, const std::stop_token& stop) {
    if (!may_write(files_of(options_of(flags, train, stop)), flags.common, stop)) return;
    if (!flags.input.filters.empty() || flags.common.frames || !flags.common.statistics_path.empty())
        fail(ErrorCode::usage, "-f, --frames and --stats cannot be combined with --train");
    if (flags.common.backend == "cuda")
        fail(ErrorCode::config, "--train runs on the CPU and does not support --backend cuda");
    if (!flags.common.gpus.empty()) fail(ErrorCode::usage, "--train runs on the CPU and does not support --gpus");
    if (flags.json && train.curve == "-")
        fail(ErrorCode::usage, "--curve and --json both write to standard output; only one of them can");
    if (flags.output.empty() || flags.output == "-")
        fail(ErrorCode::usage, "--train requires -o, the file for the model");
    jobs::TrainJob job(options_of(flags, train, stop));
    if (const auto trained = job.run()) report(flags, train, job, *trained);
}

}  // namespace framewire::app
