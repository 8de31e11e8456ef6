#pragma once

#include "framewire/core/view.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/training.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/plan/statistics.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire::jobs {

/// Largest value and mean of all descriptors of a run.
class DescriptorSummary {
public:
    /// Adds the values of one frame, which must not be negative.
    void add(std::span<const float> values);

    /// Returns the number of frames added.
    std::int64_t frames() const { return frames_; }
    /// Returns the largest value; 0 if there are no frames.
    float largest() const { return largest_; }
    /// Returns the mean of all values; 0 if there are no frames.
    double mean() const { return values_ > 0 ? sum_ / static_cast<double>(values_) : 0; }

private:
    std::int64_t frames_ = 0, values_ = 0;
    // starts at 0, because no value is negative
    float largest_ = 0;
    double sum_ = 0;
};

/// Set of frames whose steps are drawn. The empty set selects the first frame, whose pictures are written without a
/// subfolder.
class StepFrames {
public:
    /// Maximum number of frames.
    static constexpr std::int64_t most = 10'000;

    /// Makes the empty set.
    StepFrames() = default;
    /// Parses frame numbers, counted from 0, and ranges of them: "0,10,20-29". Throws Error{usage} if the text is
    /// malformed, repeats a frame, or names more than `most` frames.
    explicit StepFrames(std::string_view text);

    /// Returns true if the set is empty.
    bool empty() const { return ranges_.empty(); }
    /// Returns true if the set contains this frame.
    bool contains(std::int64_t frame) const;
    /// Calls take(frame) for each frame, in ascending order.
    template <class Take>
    void for_each(Take&& take) const {
        for (const auto& [first, last] : ranges_)
            for (auto frame = first; frame <= last; ++frame) take(frame);
    }

private:
    // first and last frame of each range, sorted and without overlaps
    std::vector<std::pair<std::int64_t, std::int64_t>> ranges_;
};

}  // namespace framewire::jobs

namespace framewire {
template <class Aggregate>
class ParameterFields;
}

namespace framewire::jobs {

/// Options of a DescribeJob or DescribeFolderJob.
struct DescribeOptions {
    JobOptions job{};
    InputOptions input{};
    HogParameters hog{};
    /// Path of a .npy file, or the output folder of a DescribeFolderJob.
    std::string output{};
    /// Optional. Folder for pictures of the algorithm's steps.
    std::string steps_folder{};
    /// Frames whose steps are drawn, each in its own subfolder. Empty: only the first frame, without a subfolder.
    StepFrames steps_of{};
    /// Optional. Number of frames in flight. Default: the number that suits the backend.
    std::optional<int> under_way{};

    /// Returns the number of frames in flight. Throws Error{usage} if the requested number is more than the backend
    /// supports.
    int frames_under_way_on(Backend backend) const;
};

/// Returns range and help text of `under_way`, which is called `streams` on the command line.
const ParameterFields<DescribeOptions>& describe_fields();

/// Returns the files that these options read and write. If the output is a folder, these include one output file per
/// image.
JobFiles files_of(const DescribeOptions& options);

/// Returns the folder for the step pictures of a frame: a subfolder named after the frame's number or, for a folder of
/// images, after `image`. Returns an empty path if no pictures are written for this frame.
std::string steps_folder_of(const DescribeOptions& options, std::int64_t frame, const std::string& image = {});

/// Outcome of a DescribeJob or DescribeFolderJob.
struct DescribeResult : JobResult {
    DescriptorSummary descriptors{};
    /// Shape of the descriptors; empty if frames have different shapes.
    std::optional<HogShape> shape{};
};

/// Returns the shape of one frame's array: rows x columns x values. The array of a video has an additional leading axis
/// of frames.
std::vector<std::int64_t> array_shape(const HogShape& shape);

/// Computes HOG descriptors (Dalal and Triggs 2005) of the filtered frames of a source and writes them as one .npy file
/// of float32. The array of a video or folder has a leading axis of frames. A job runs once.
class DescribeJob {
public:
    /// Opens the source first and then everything else, cheap checks first and the output last. Throws as FrameJob,
    /// FrameHog and NpyFile do.
    explicit DescribeJob(const DescribeOptions& options);
    ~DescribeJob();

    /// Runs the job; may be called once. If a stage fails, the descriptors computed so far are written, and the first
    /// error is thrown. Throws Error{no_input} if the source has no frames.
    const DescribeResult& run();
    /// Returns the result of run(), which is valid even if run() threw.
    const DescribeResult& result() const;
    /// Returns the statistics of the run in progress. Callable from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Computes HOG descriptors of the images in a folder, whose sizes may differ. Image NAME.png becomes NAME.npy in the
/// output folder, which is created if necessary. Each file appears only once it is complete. An image that fails is
/// logged and skipped. A job runs once.
class DescribeFolderJob {
public:
    /// Opens the folder. Throws as FrameJob does, and Error{usage} if the source is not a folder or if the names of two
    /// images differ only in their extensions.
    explicit DescribeFolderJob(const DescribeOptions& options);
    ~DescribeFolderJob();

    /// Runs the job; may be called once. Throws at the end if an image failed or if the run ended early.
    const DescribeResult& run();
    /// Returns the result of run(), which is valid even if run() threw.
    const DescribeResult& result() const;
    /// Returns the statistics of the run in progress. Callable from any thread.
    const Statistics& statistics() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Writes one .png picture per step in hog_step_names to `folder`, which is created if necessary. The pictures show
/// cells without normalisation, whatever the descriptor's norm. Throws Error{io}.
void write_step_pictures(const std::string& folder, const HogParameters& parameters, HostView<const std::uint8_t> frame,
                         Executor& executor, bool replace);

/// Adds the files that write_step_pictures() writes to the outputs. Does nothing if `folder` is empty.
void add_step_pictures(JobFiles& files, const std::string& folder);

}  // namespace framewire::jobs

namespace framewire {
template <class Aggregate>
class ParameterFields;
}

namespace framewire::jobs {

/// Options of a TrainJob, which runs on the CPU.
struct TrainOptions {
    /// Folders of images that show the object to be detected, and of images that do not.
    std::string positives{}, negatives{};
    /// Window size and descriptor of the model; its weights are not used.
    WindowModel window{};
    TrainingParameters training{};
    /// Optional. Number of folds of a cross-validation before the training.
    std::optional<int> folds{};
    /// Path of the model file.
    std::string output{};
    /// Optional. Path of the file for the cross-validation curve.
    std::string curve{};
    /// Number of threads; 0 uses all processors.
    int threads = 0;
    /// If true, existing output files are replaced; otherwise they are an error.
    bool replace = false;
    /// Token that ends the job early; no model is written then.
    std::stop_token stop{};

    /// Optional. Called to report the progress of the cross-validation.
    FoldProgress on_fold{};
    /// Optional. Called when all folds are done.
    std::function<void(const DetectionCurve& curve)> on_curve{};
    /// Optional. Called to report the progress of the training.
    TrainingProgress on_training{};
};

/// Returns range and help text of `folds`.
const ParameterFields<TrainOptions>& train_fields();

/// Returns the files that these options read and write.
JobFiles files_of(const TrainOptions& options);

/// Trains a linear window detector from two folders of images, and writes the model and the curve of its
/// cross-validation. A job runs once.
class TrainJob {
public:
    /// Lists the images and checks that the outputs are writable. Throws as images_in(), Executor, window_shape() and
    /// OutputFile do.
    explicit TrainJob(const TrainOptions& options);
    ~TrainJob();

    /// Returns the images that show the object. They are read when the training needs them.
    const TrainingImages& positives() const;
    /// Returns the images that do not show the object.
    const TrainingImages& negatives() const;

    /// Trains and writes the model; may be called once. Returns nothing if the job was stopped. Throws as
    /// cross_validate() and train_window_model() do, and Error{io}.
    std::optional<TrainedModel> run();
    /// Returns the cross-validation curve; empty if none was requested or the job was stopped.
    const std::optional<DetectionCurve>& curve() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace framewire::jobs
