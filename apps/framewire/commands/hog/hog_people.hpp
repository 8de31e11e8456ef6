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

    /// Returns the parameters. The grouping method is implied if only `--overlap` is given. Throws Error{usage} if an
    /// option has no effect because of another one.
    PeopleParameters parameters_given() const;
};

/// Adds `--people` and the options that require it.
void add_people_options(Command& command, PeopleFlags& flags);

/// Finds people in a source, or in the images of a folder, whose sizes may differ. Writes records and annotated
/// pictures.
void find_people(HogFlags& flags, const PeopleFlags& people, const std::stop_token& stop);
/// Finds people in many files and writes one file of records for each.
void find_people_of_many(const Command& command, HogFlags& flags, const PeopleFlags& people,
                         const std::stop_token& stop);

}  // namespace framewire::app
