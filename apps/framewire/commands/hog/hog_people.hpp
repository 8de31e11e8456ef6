#pragma once

#include "commands/hog/hog_flags.hpp"

#include "framewire/core/parameters/values.hpp"
#include "framewire/hog/people/people_detector.hpp"

#include <stop_token>
#include <string>

namespace framewire::app {

/// The flags of `--people`.
struct PeopleFlags {
    std::string model;  ///< its file; empty: no people wanted
    std::string annotate;
    bool no_audio = false;
    ParameterValues given;        ///< those of people_fields() on the command line
    PeopleParameters parameters;  ///< made of them

    /// `--overlap` alone stands for its way of grouping. Throws Error{usage} on an option that another one makes void.
    PeopleParameters parameters_given() const;
};

/// `--people` and what goes with it only.
void add_people_options(Command& command, PeopleFlags& flags);

/// From a source, or a folder's images of any sizes, to records of people, and pictures of them.
void find_people(HogFlags& flags, const PeopleFlags& people, const std::stop_token& stop);
/// The same of many files, records of each.
void find_people_of_many(const Command& command, HogFlags& flags, const PeopleFlags& people,
                         const std::stop_token& stop);

}  // namespace framewire::app
