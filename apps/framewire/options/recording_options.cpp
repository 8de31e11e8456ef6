// Options for recordings in segments.

#include "options/recording_options.hpp"

#include "framewire/core/parameters.hpp"

#include <string>

namespace framewire::app {
namespace {

// Returns the error message for a duration; empty if it is valid.
std::string problem_with_time(const std::string& text) {
    return seconds_of(text) ? "" : "'" + text + "' is not a time; allowed: 90s, 10m, 1.5h, 7d and similar";
}

// Returns the error message for a limit; empty if it is valid.
std::string problem_with_limit(const std::string& text) {
    return seconds_of(text) || bytes_of(text)
               ? ""
               : "'" + text + "' is neither a time (12h, 7d, 4w) nor a size (500M, 200G, 2T)";
}

}  // namespace

void add_recording_options(Command& command, SegmentOptions& segments) {
    auto time = command.option(
        "--segment-time", [&segments](const std::string& text) { segments.seconds = seconds_of(text).value_or(0); },
        "write segments of this length, each to a file named after its start time: -o 'cam-%Y%m%d-%H%M%S.mp4'");
    time.check(problem_with_time).type_name("TIME");
    auto keep = command.option(
        "--keep",
        [&segments](const std::string& text) {
            segments.keep_seconds = seconds_of(text);
            if (!segments.keep_seconds) segments.keep_bytes = bytes_of(text);
        },
        "delete the oldest segments: those older than 7d, or those beyond a total of 200G");
    keep.check(problem_with_limit).type_name("TIME|SIZE").needs(time);
}

Option add_no_audio(Command& command, bool& no_audio) {
    return command.flag("--no-audio", no_audio, "do not copy the source's sound");
}

}  // namespace framewire::app
