#pragma once

#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/detect/components.hpp"
#include "framewire/filters/text.hpp"
#include "framewire/hog/people_detector.hpp"
#include "framewire/hog/window_model.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/plan/statistics.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::jobs {

/// Draws scores into pictures. If this machine has no font, logs a warning and draws nothing.
class ScoreLabels {
public:
    /// Loads the glyphs of the digits.
    ScoreLabels();

    /// Draws `score` with two decimals in white on red. (x, y) is the label's upper left corner, which must be inside
    /// the picture; the label is clipped at the picture's borders. The picture has 1 or 3 channels.
    void draw(float score, int x, int y, HostView<std::uint8_t> picture) const;

private:
    std::optional<GlyphAtlas> atlas_;
};

/// People found in one frame, best score first.
struct FoundPeople {
    /// Allocates memory for the maximum number of people per frame.
    explicit FoundPeople(const PeopleParameters& parameters);

    /// Removes all people.
    void clear();
    /// Copies the results of a detector that examines up to `capacity` candidate windows. The caller must have waited
    /// for `people`.
    void take(const DetectedPeople& people, int capacity);
    /// Draws boxes and scores into the frame.
    void draw(const ScoreLabels& labels, HostView<std::uint8_t> frame) const;

    /// Bounding boxes.
    std::vector<Component> boxes;
    /// Score of each box.
    std::vector<float> scores;
    /// True if more windows scored above the threshold than the detector examines.
    bool some_left_out = false;
};

/// Options of a PeopleJob or PeopleFolderJob.
struct PeopleOptions {
    JobOptions job{};
    InputOptions input{};
    /// Path of the model file, see read_window_model().
    std::string model{};
    /// Window and descriptor for a model file that does not contain them; without weights.
    WindowModel window{};
    /// Window and descriptor parameters given by the user. A model file that contains its own must match them.
    ParameterValues asked{};
    PeopleParameters people{};
    /// Path of the file for the records, as JSON lines; - is standard output.
    std::string output{"-"};
    /// Optional. Sink for annotated frames, see open_sink(); a folder for a PeopleFolderJob.
    std::string annotate{};
    /// If true, the source's sound is copied to `annotate`, if that output can hold sound.
    bool audio = true;
};

/// Returns the files that these options read and write. Throws Error{usage} if both outputs are standard output.
JobFiles files_of(const PeopleOptions& options);

/// Outcome of a PeopleJob or PeopleFolderJob.
struct PeopleResult : JobResult {
    /// Number of people found, summed over all frames.
    std::int64_t people = 0;
    /// Best score over all frames; empty if nobody was found.
    std::optional<float> best_score{};
    /// Number of frames in which more windows scored above the threshold than the detector examines.
    std::int64_t frames_left_out = 0;
};

/// Finds people in the images of a folder, whose sizes may differ. Writes one record per image, including the image's
/// name, and optionally annotated images: NAME.jpg becomes NAME.png in a folder that is created if necessary. An image
/// smaller than the smallest window counts as having no people, and a warning is logged; an image that fails is logged
/// and skipped. A job runs once.
class PeopleFolderJob {
public:
    /// Reads the model and lists the images. Throws as read_window_model(), FrameJob and OutputFile do. Throws
    /// Error{usage} if the destination of annotated images is not a folder or is the source folder, or if two image
    /// names differ only in their extensions.
    explicit PeopleFolderJob(const PeopleOptions& options);
    ~PeopleFolderJob();

    /// Returns the model that the job uses.
    const WindowModel& model() const;

    /// Runs the job; may be called once. Records found before an error are written. Throws at the end if an image
    /// failed or if the run ended early.
    const PeopleResult& run();
    /// Returns the result of run(), which is valid even if run() threw.
    const PeopleResult& result() const;
    /// Returns the statistics of the run in progress. Callable from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Finds people in the filtered frames of a source with a window detector, and writes records and optionally an
/// annotated video. A job runs once.
class PeopleJob {
public:
    /// Opens the source first and then everything else, cheap checks first and outputs last. Throws as
    /// read_window_model(), files_of(), FrameJob, PeopleDetector, open_sink() and OutputFile do.
    explicit PeopleJob(const PeopleOptions& options);
    ~PeopleJob();

    /// Returns the model that the job uses.
    const WindowModel& model() const;
    /// Returns the detector, which knows its scales and windows.
    const PeopleDetector& detector() const;

    /// Runs the job; may be called once. If a stage fails, the outputs are completed with the results so far, and the
    /// first error is thrown. Throws Error{no_input} if the source has no frames.
    const PeopleResult& run();
    /// Returns the result of run(), which is valid even if run() threw.
    const PeopleResult& result() const;
    /// Returns the statistics of the run in progress. Callable from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// File for the records of people detection; it also updates the job's totals.
class PeopleRecords {
public:
    /// Opens the file and keeps a reference to `result`, whose totals it updates. Throws Error{io}.
    PeopleRecords(const std::string& path, OutputFileOptions options, PeopleResult& result)
        : file_(path, std::move(options)), result_(&result) {}

    /// Writes the record of one frame. `source` is the image's name if the frames are separate images. Throws
    /// Error{io}.
    void write(const FoundPeople& people, const Shape& frame, const FrameTime& time, std::string_view source = {});
    /// Completes the file, see RecordFile::finish().
    void finish(Ending ending) { file_.finish(ending); }

    /// Returns the number of bytes written so far.
    std::int64_t bytes() const { return file_.bytes(); }
    /// Adds the totals to the description of the run.
    void describe(RunDescription& run) const;

private:
    RecordFile file_;
    PeopleResult* result_;
};

}  // namespace framewire::jobs
