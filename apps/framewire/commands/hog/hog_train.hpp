#pragma once

#include "options/hog_options.hpp"

#include "framewire/core/parameters/values.hpp"
#include "framewire/hog/training/window_trainer.hpp"

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire::app {

struct TrainOptions {
    std::vector<std::string> folders;  ///< of `--train`: positives, negatives; empty: no training wanted
    ParameterValues given;             ///< those of training_fields() on the command line
    TrainingParameters parameters;     ///< made of them
    std::optional<int> folds;          ///< none: no cross-validation
    std::string curve;                 ///< file for its curve; empty: none wanted
};

/// `--train` and what goes with it only.
void add_train_options(CLI::App& command, TrainOptions& options);

/// From folders of images to a model's file, which appears when it is whole, and to the curve of its cross-validation.
void train_model(const HogOptions& options, const TrainOptions& train, const std::stop_source& stop);

}  // namespace framewire::app
