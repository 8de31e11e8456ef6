#pragma once

#include "commands/hog/hog_flags.hpp"

#include "framewire/core/parameters.hpp"
#include "framewire/hog/people_detector.hpp"

#include <stop_token>
#include <string>

namespace framewire::app {

/// Flags of `--people`.
struct PeopleFlags {
    std::string model;  ///< model file; empty: people detection is off
    std::string annotate;
    bool no_audio = false;
    ParameterValues given;        ///< values of people_fields() from the command line
    PeopleParameters parameters;  ///< derived from `given`

    /// The parameters, with the grouping method implied if only `--overlap` is given. Throws Error{usage} on an option
    /// that another one makes ineffective.
    PeopleParameters parameters_given() const;
};

/// Adds `--people` and the options that require it.
void add_people_options(Command& command, PeopleFlags& flags);

/// Finds people in a source, or in a folder's images of any size; writes records and annotated pictures.
void find_people(HogFlags& flags, const PeopleFlags& people, const std::stop_token& stop);
/// Finds people in many files; writes records per file.
void find_people_of_many(const Command& command, HogFlags& flags, const PeopleFlags& people,
                         const std::stop_token& stop);

}  // namespace framewire::app
