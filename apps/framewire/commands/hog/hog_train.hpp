#pragma once

#include "commands/hog/hog_flags.hpp"

#include "framewire/core/parameters/values.hpp"
#include "framewire/hog/training/window_trainer.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace framewire::app {

/// The flags of `--train`.
struct TrainFlags {
    std::vector<std::string> folders;  ///< positives, negatives; empty: no training wanted
    ParameterValues given;             ///< those of training_fields() and session::train_fields() on the command line
    TrainingParameters parameters;     ///< made of them
    std::string curve;                 ///< file for the cross-validation's curve; empty: none wanted
};

/// `--train` and what goes with it only.
void add_train_options(Command& command, TrainFlags& flags);

/// From folders of images to a model's file, which appears when it is whole, and to the curve of its cross-validation.
void train_model(HogFlags& flags, const TrainFlags& train, const std::stop_token& stop);

}  // namespace framewire::app
