#pragma once

#include "commands/hog/hog_flags.hpp"

#include "framewire/core/parameters.hpp"
#include "framewire/hog/training.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace framewire::app {

/// Flags of `--train`.
struct TrainFlags {
    std::vector<std::string> folders;  ///< folders of positives and negatives; empty: training is off
    ParameterValues given;             ///< values of training_fields() and jobs::train_fields() from the command line
    TrainingParameters parameters;     ///< derived from `given`
    std::string curve;                 ///< file for the cross-validation curve; empty: not written
};

/// Adds `--train` and the options that require it.
void add_train_options(Command& command, TrainFlags& flags);

/// Trains a model on folders of images. Writes the model file, which appears only once it is complete, and the
/// cross-validation curve.
void train_model(HogFlags& flags, const TrainFlags& train, const std::stop_token& stop);

}  // namespace framewire::app
