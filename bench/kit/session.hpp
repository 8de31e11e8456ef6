#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::bench {

/// Result of timing something repeatedly, in microseconds per frame.
struct Timing {
    double median_us = 0;
    double low_us = 0;   ///< 10th percentile
    double high_us = 0;  ///< 90th percentile
    double least_us = 0;
    double mean_us = 0;
    double most_us = 0;
};

/// Summarises samples, in any order; at least one is required.
Timing summarize(std::vector<double> samples_us);

/// Time per frame that a published report gives for the same operation, measured on the machine of the report.
struct Reported {
    std::string where;    ///< "streaming and filters 2022, table 4"
    std::string machine;  ///< "Jetson Nano"
    double us = 0;        ///< time per frame; the mean if the report also gives minimum and maximum
    double least_us = 0;  ///< 0 if the report does not give it
    double most_us = 0;
};

/// One line of a table. A row is created only after its output was compared with the reference.
struct Row {
    std::string suite;      ///< "gray", "ladders/difference"
    std::string operation;  ///< "weighted, 3 to 1 channels"
    std::string runner;     ///< "framewire cpu", "OpenCV", ...
    Timing timing;
    double bytes = 0;                 ///< minimum number of bytes read and written per frame; 0 if not counted
    std::optional<double> to_peer{};  ///< speed relative to the peer with the same operation in the same run
    double cpu_us = 0;                ///< CPU time per frame, all threads; 0 if not measured
    std::optional<Reported> reported{};
    /// Parameters that distinguish this row from its neighbours in tables and plots: {"threads", "256"}, {"size",
    /// "1280x720"}.
    std::map<std::string, std::string> details{};
    /// Name of the row of the suite limits that bounds this one ("cuda up"). If empty and `bytes` is set, the limit
    /// is a copy on the runner's backend.
    std::string limit{};
    /// Set by Session::add(): the row's group, and the row's speed as a share of the limit's speed.
    std::string group{};
    std::optional<double> of_limit{};
    std::string note{};  ///< one sentence: the bottleneck, or what was corrected in a report
};

/// Measured time of a limit.
struct MeasuredLimit {
    double bytes = 0;  ///< bytes moved per turn; 0 if only the time counts
    Timing timing;
};

/// The 1920x1080 BGR frame that benches use by default.
inline constexpr Shape bench_frame{1, 1080, 1920, 3};
inline constexpr int gpu_batch = 32;
/// Number of different batches used in turn on the GPU; together they are far larger than its L2.
inline constexpr int gpu_rotation = 6;

/// Options of the suite stream: the frames to code, and the threshold.
struct StreamChoices {
    int threshold = 20;
    int frames = 60;
    double noise = 0;  ///< if not 0, the frames are the first one under fresh noise of this sigma
};

/// Options of the suite capacity: the cameras, and what is done with them.
struct CapacityChoices {
    double fps = 0;                ///< rate of a camera; 0: that of the video
    double seconds = 20;           ///< time for which a number of cameras must hold its rate
    int cameras = 0;               ///< only this number is tried; 0: the number is searched for
    int viewers = 1;               ///< of each camera
    std::vector<std::string> job;  ///< options of `framewire serve`; empty: --detect
};

/// Options of a run of the benches.
struct SessionOptions {
    bool quick = false;        ///< fewer repetitions
    bool check_only = false;   ///< checks outputs without timing anything: everything runs once
    bool once = false;         ///< each kernel runs once at its usual size, for profilers; no times are reported
    int threads = 2;           ///< number of threads for CPU runs and peers
    std::string cdnet_folder;  ///< optional: a scene to evaluate background models on
    /// Optional: files for limits/decode, which reads all, and for other suites that read a video, which read the
    /// first.
    std::vector<std::string> videos;
    std::string only;      ///< selects operations whose names contain this
    std::string pictures;  ///< optional: a folder to write images to
    StreamChoices stream;
    CapacityChoices capacity;
    std::vector<std::string> groups;  ///< requested groups and suites, which the JSON repeats
};

/// One run of the benches: the executors, this machine's measured copy speeds, and the rows so far.
class Session {
public:
    explicit Session(const SessionOptions& options);

    Executor& cpu() { return cpu_; }
    /// Returns the executor of the GPU, or null on a machine without a GPU.
    Executor* gpu() { return gpu_ ? &*gpu_ : nullptr; }
    bool has_gpu() const { return gpu_.has_value(); }
    bool quick() const { return options_.quick; }
    /// Returns true if outputs are checked and nothing is timed: everything runs once.
    bool check_only() const { return options_.check_only; }
    /// Returns true for a run under a GPU profiler: everything runs once, and ladders skip what profilers cannot
    /// measure.
    bool once() const { return options_.once; }
    /// Returns true if nothing is timed: everything runs once, for its outputs or for a profiler.
    bool untimed() const { return options_.check_only || options_.once; }
    const std::string& cdnet_folder() const { return options_.cdnet_folder; }
    /// Returns the videos to read; empty if the suite makes its own.
    const std::vector<std::string>& videos() const { return options_.videos; }
    /// Returns the first of the videos to read; empty if the suite makes its own.
    std::string video() const { return options_.videos.empty() ? "" : options_.videos.front(); }
    const StreamChoices& stream() const { return options_.stream; }
    const CapacityChoices& capacity() const { return options_.capacity; }
    /// Returns the existing folder to write images to; empty if none are wanted.
    const std::string& pictures() const { return options_.pictures; }
    bool wants(std::string_view operation) const { return operation.find(options_.only) != operation.npos; }
    int threads() const { return cpu_.pool().threads(); }

    /// Times functions in turn, so that a disturbance of the machine affects all of them alike. Each call is one frame.
    std::vector<Timing> time_cpu(const std::vector<std::function<void()>>& candidates);
    /// Times the work that `queue(turn)` adds to the GPU's stream: turns 0..gpu_rotation-1 are captured as one graph,
    /// each a batch of `frames` frames.
    Timing time_gpu(const std::function<void(int turn)>& queue, int frames = gpu_batch);
    /// Times the work that `queue(turn)` adds to the GPU's stream, each turn by itself between two events: the duration
    /// of a launch or transfer alone, as profilers report it. `before(turn)` runs before the first event. Slow work is
    /// repeated less, as in time_host().
    Timing time_launches(
        const std::function<void(int turn)>& queue, const std::function<void(int turn)>& before = [](int) {});
    /// Times `run(turn)` from its start to its end on the host: a frame with its transfers, including the wait
    /// for them.
    Timing time_host(const std::function<void(int turn)>& run);

    /// Adds a row and prints it.
    void add(Row row);
    /// Sets the group of the rows that follow.
    void set_group(std::string group) { group_ = std::move(group); }
    /// Runs `part`. If it throws an Error, for example because a variant's result is wrong, the error is printed under
    /// the name `what` and recorded; the session continues.
    void attempt(const std::string& what, const std::function<void()>& part);
    /// Returns one line per failed attempt; first_failure() returns the code of the first, or ErrorCode{} if there is
    /// none.
    const std::vector<std::string>& failures() const { return failures_; }
    ErrorCode first_failure() const { return first_failure_; }
    /// Throws Error{internal} naming the operation unless the two images are equal.
    static void require_equal(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want,
                              const std::string& operation);

    /// Throws Error{internal} naming the operation unless each value is within 1e-4 of the largest expected one.
    static void require_near(std::span<const float> got, std::span<const double> want, const std::string& operation);

    /// Returns the measurement of the limit of this name (limits/limits.hpp), made on the first request. Throws
    /// Error{internal} if there is no such limit.
    const MeasuredLimit& measured_limit(const std::string& name);

    /// Returns the machine, the build, the options and all rows as JSON.
    std::string json() const;

private:
    int repeats(int few, int usual) const;
    /// Returns the time to spend on a candidate; least_samples() returns the fewest samples to take of it.
    double budget_ms() const;
    std::size_t least_samples() const;
    /// Sets the name of the row's limit and its speed as a share of it, if it has a limit.
    void compare_with_limit(Row& row);
    void print_copy(const std::string& name);
    /// Returns true if enough samples were taken; slow work uses up its time after a few.
    bool is_enough(std::size_t samples, Clock::time_point start) const;

    SessionOptions options_;
    Executor cpu_;
    std::optional<Executor> gpu_;
    std::map<std::string, MeasuredLimit> measured_limits_;
    std::vector<Row> rows_;
    std::string group_;
    std::vector<std::string> failures_;
    ErrorCode first_failure_{};
};

/// Fills an image with a smooth textured picture under sensor noise with a sigma of about 3; `scene` selects the
/// picture.
void fill_scene(HostView<std::uint8_t> image, std::uint32_t scene);
/// Writes `from` at a later moment: fresh sensor noise everywhere, and `share` of the bytes changed by far more, in
/// blobs like moving objects (`scattered` false) or individually.
void fill_later(HostView<const std::uint8_t> from, HostView<std::uint8_t> to, double share, bool scattered,
                std::uint32_t seed);

}  // namespace framewire::bench
