#pragma once

#include "options/hog_options.hpp"

#include "framewire/core/parameters/values.hpp"
#include "framewire/hog/people/people_detector.hpp"

#include <stop_token>
#include <string>

namespace framewire::app {

struct PeopleOptions {
    std::string model;  ///< the file of `--people`; empty: no people wanted
    std::string annotate;
    ParameterValues given;        ///< those of people_fields() on the command line
    PeopleParameters parameters;  ///< made of them
};

/// `--people` and what goes with it only.
void add_people_options(CLI::App& command, PeopleOptions& options);

/// From source to records of people, and a video of them. Throws after what was found before was written.
void find_people(const HogOptions& options, const PeopleOptions& people, const std::stop_source& stop);

}  // namespace framewire::app
