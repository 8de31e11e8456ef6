#include "commands/hog/hog_train.hpp"

#include "commands/hog/hog_output.hpp"
#include "options/parameter_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/hog/training/detection_curve.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/formats/window_model_file.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/media/media.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <map>
#include <utility>

namespace framewire::app {
namespace {

// At which rates of false alarms a summary says how many are found.
constexpr std::array false_alarm_rates{1e-1, 1e-2, 1e-3, 1e-4};

TrainingImages images_of(const std::string& folder, const std::stop_token& stop) {
    return {images_in(folder), [stop](const std::string& path) {
                const auto source = open_source(path, {.stop = stop});
                HostImage image(source->info().shape);
                FrameTime time;
                if (!source->read(image.view(), time)) fail(ErrorCode::source_lost, "{} has no image", path);
                return image;
            }};
}

nlohmann::ordered_json as_json(const DetectionCurve& curve, int folds) {
    nlohmann::ordered_json rates;
    for (const double rate : false_alarm_rates) rates[fmt::format("{}", rate)] = curve.detection_rate_at(rate);
    return {{"folds", folds},
            {"positives", curve.positives},
            {"windows", curve.negatives},
            {"detection_rate_at_false_alarms_per_window", rates}};
}

class Train {
public:
    Train(const HogOptions& options, const TrainOptions& train, const std::stop_source& stop)
        : options_(options),
          train_(train),
          stop_(stop.get_token()),
          window_(window_of(options)),
          positives_(images_of(train.folders.at(0), stop_)),
          negatives_(images_of(train.folders.at(1), stop_)),
          executor_(BackendChoice::cpu, options.common.threads) {
        window_shape(window_);
        const OutputFile can_be_written(options.output, files());
        if (!train.curve.empty()) curve_file_.emplace(train.curve, files());
    }

    void operator()() {
        if (train_.folds && !validate()) return;
        const auto trained = train_window_model(
            window_, positives_, negatives_, train_.parameters, executor_,
            [this](const TrainingFigures& figures) { log(figures); }, stop_);
        if (!trained) return;
        if (!trained->figures.svm.converged)
            log_warning("after {} passes the cost may still be {:.2g} above the least one, {:.4g}",
                        trained->figures.svm.passes, trained->figures.svm.excess, trained->figures.svm.cost);
        if (curve_file_) curve_file_->finish();
        write_window_model(options_.output, trained->model, files());
        log_info("{}: a window of {}x{} pixels, {} weights and a bias, margin {:.3g}", options_.output,
                 window_.width_px, window_.height_px, trained->model.weights.size(), trained->figures.margin);
        if (options_.json) print_summary(trained->figures);
    }

private:
    OutputFileOptions files() const { return {stop_, options_.common.replace}; }

    // False when it was stopped.
    bool validate() {
        curve_ = cross_validate(
            window_, positives_, negatives_, train_.parameters, *train_.folds, executor_,
            [this](int fold) { log_info("fold {} of {} done", fold, *train_.folds); }, stop_);
        if (!curve_) return false;
        for (const double rate : false_alarm_rates)
            log_info("held out: {:.1f} % found at {} false alarms a window", 100 * curve_->detection_rate_at(rate),
                     rate);
        if (curve_file_) {
            const auto text = to_csv(*curve_);
            curve_file_->write(text.data(), text.size());
        }
        return true;
    }

    void log(const TrainingFigures& figures) const {
        log_info(
            "{}: {} positives, {} of them missed; {} negatives, {} of them false alarms; {} passes",
            figures.hard_negatives.empty() ? "first training" : fmt::format("round {}", figures.hard_negatives.size()),
            figures.positives, figures.missed, figures.negatives, figures.false_alarms, figures.svm.passes);
    }

    void print_summary(const TrainingFigures& figures) const {
        const auto& parameters = train_.parameters;
        nlohmann::ordered_json summary{{"output", options_.output},
                                       {"window", {window_.width_px, window_.height_px}},
                                       {"cell", window_.hog.cell},
                                       {"bins", window_.hog.bins},
                                       {"signed", window_.hog.signed_gradients},
                                       {"norm", name_of(hog_norm_names, window_.hog.norm)},
                                       {"positive_images", positives_.size()},
                                       {"negative_images", negatives_.size()},
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
        if (window_.hog.norm != HogNorm::none) summary["block"] = window_.hog.block;
        if (curve_) summary["held_out"] = as_json(*curve_, *train_.folds);
        fmt::print("{}\n", summary.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    }

    const HogOptions& options_;
    const TrainOptions& train_;
    std::stop_token stop_;
    // In this order, so that what is cheap to refuse is refused first and the outputs are touched last.
    WindowModel window_;
    TrainingImages positives_, negatives_;
    Executor executor_;
    std::optional<OutputFile> curve_file_;
    std::optional<DetectionCurve> curve_;
};

}  // namespace

void add_train_options(CLI::App& command, TrainOptions& options) {
    auto* train = command
                      .add_option("--train", options.folders,
                                  "make a model for --people instead, -o, from folders of images with and without what "
                                  "it is to find in them")
                      ->expected(2)
                      ->type_name("POSITIVES NEGATIVES");
    for (const auto& parameter : training_fields().infos())
        add_parameter(command, parameter, options.given, {.before = "with --train: ", .needs = train});
    auto* folds = command
                      .add_option("--folds", options.folds,
                                  "with --train: also say what models of the other images find in each of N parts")
                      ->needs(train)
                      ->type_name("N");
    command
        .add_option("--curve", options.curve,
                    "with --folds: detection rate against false alarms, threshold by threshold")
        ->needs(folds)
        ->type_name("FILE.csv");
}

void train_model(const HogOptions& options, const TrainOptions& train, const std::stop_source& stop) {
    if (!options.input.filters.empty() || options.common.frames || !options.common.statistics_path.empty())
        fail(ErrorCode::usage, "-f, --frames and --stats do not go with --train");
    if (options.common.backend == "cuda")
        fail(ErrorCode::config, "--train runs on the CPU; there is no --backend cuda for it");
    if (options.json && train.curve == "-")
        fail(ErrorCode::usage, "--curve and --json both go to standard output; one of them can");
    if (options.output.empty() || options.output == "-")
        fail(ErrorCode::usage, "--train needs -o, the file that the model goes to");
    Train(options, train, stop)();
}

}  // namespace framewire::app
