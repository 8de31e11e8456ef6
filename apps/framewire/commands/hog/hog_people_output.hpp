#pragma once

#include "commands/hog/hog_people.hpp"
#include "commands/hog/score_labels.hpp"

#include "framewire/core/frame.hpp"
#include "framewire/detect/labelling/components.hpp"
#include "framewire/hog/people/people_detector.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/pipeline/statistics/statistics.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::app {

/// Who was found in one frame, best first.
struct FoundPeople {
    /// Room for all that a frame can have.
    explicit FoundPeople(const PeopleParameters& parameters);

    void clear();
    /// Those that were waited for, of a detector that looks at `capacity` windows.
    void take(const DetectedPeople& people, int capacity);
    /// Their boxes and scores into the frame they are of.
    void draw(const ScoreLabels& labels, HostView<std::uint8_t> frame) const;

    std::vector<Component> boxes;
    std::vector<float> scores;   ///< of each box
    bool some_left_out = false;  ///< more windows were above the threshold than are looked at
};

/// The records of `-o`, and what `--json`, `--stats` and the log say of all people found.
class PeopleOutput {
public:
    /// Opens `-o`. Throws Error{io}.
    PeopleOutput(const HogOptions& options, const PeopleParameters& parameters, OutputFileOptions file)
        : options_(options), parameters_(parameters), file_(options.output, std::move(file)) {}

    /// The next frame's record; `source` is an image's name, where frames have one. Throws Error{io}.
    void write(const FoundPeople& people, const Shape& frame, const FrameTime& time, std::string_view source = {});
    /// Lets the file appear, unless it has nothing or is not whole. Throws Error{io}.
    void finish(Ending ending);

    std::int64_t frames() const { return frames_; }
    std::int64_t bytes() const { return file_.bytes(); }
    /// How many, for the statistics.
    ChainFigures figures() const;
    /// The log's lines, and the summary of `--json`; `detector` where all frames have one.
    void report(const StatisticsSnapshot& figures, const RunDescription& run, const WindowModel& model,
                const PeopleDetector* detector) const;

private:
    void print_summary(const StatisticsSnapshot& figures, const RunDescription& run, const WindowModel& model,
                       const PeopleDetector* detector) const;

    const HogOptions& options_;
    const PeopleParameters& parameters_;
    OutputFile file_;
    std::int64_t frames_ = 0, found_ = 0, frames_left_out_ = 0;
    std::optional<float> best_;
    bool failed_ = false;
};

}  // namespace framewire::app
