#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/time/clock.hpp"
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

/// What repeated timing of one thing gave, in microseconds per frame.
struct Timing {
    double median_us = 0;
    double low_us = 0;   ///< 10th percentile
    double high_us = 0;  ///< 90th percentile
    double least_us = 0;
    double mean_us = 0;
    double most_us = 0;
};

/// Of samples of one thing, in any order; at least one.
Timing summarize(std::vector<double> samples_us);

/// What a report measured of the same thing on its own machine.
struct Reported {
    std::string where;    ///< "streaming and filters 2022, table 4"
    std::string machine;  ///< "Jetson Nano"
    double us = 0;        ///< per frame; the mean where it tells the least and the most too
    double least_us = 0;  ///< 0 where it does not tell
    double most_us = 0;
};

/// One line of a table. A row is made only after its output was compared with the reference.
struct Row {
    std::string suite;      ///< "gray", "ladders/difference"
    std::string operation;  ///< "weighted, 3 to 1 channels"
    std::string runner;     ///< "framewire cpu", "OpenCV", ...
    Timing timing;
    double bytes = 0;                 ///< the fewest bytes a frame must move, read and written; 0 when not counted
    std::optional<double> to_peer{};  ///< times as fast as the peer of the same operation in the same run
    double cpu_us = 0;                ///< processor time of a frame on all threads; 0 where it was not measured
    std::optional<Reported> reported{};
    /// What tells this row from its neighbours in tables and plots: {"threads", "256"}, {"size", "1280x720"}.
    std::map<std::string, std::string> details{};
    /// What of this machine bounds the row: the name of a row of the suite limits ("cuda up"). Empty: a copy on the
    /// runner's backend, where `bytes` are counted.
    std::string limit{};
    /// What Session::add() knows: the row's group, and which share of its limit's speed it has.
    std::string group{};
    std::optional<double> of_limit{};
    std::string note{};  ///< one sentence: what limits it, or what of a report was put right
};

/// What a limit was measured to take.
struct MeasuredLimit {
    double bytes = 0;  ///< that a turn moves; 0 where only its time counts
    Timing timing;
};

/// The 1920x1080 BGR frame all benches use unless they say otherwise.
inline constexpr Shape bench_frame{1, 1080, 1920, 3};
inline constexpr int gpu_batch = 32;
/// Different batches in rotation on the GPU, together far larger than its L2.
inline constexpr int gpu_rotation = 6;

/// Of the suite stream: which frames it codes, and within what.
struct StreamChoices {
    int threshold = 20;
    int frames = 60;
    double noise = 0;  ///< other than 0: the first frame, still, under fresh noise of this sigma
};

/// What a run of benches is asked for.
struct SessionOptions {
    bool quick = false;        ///< repeats less
    bool check_only = false;   ///< outputs are checked, and nothing is timed: each thing runs once
    bool once = false;         ///< each kernel runs once at its usual size, for profilers; no times are told
    int threads = 2;           ///< of the CPU runs and of the peers
    std::string cdnet_folder;  ///< a scene to try background models on, or none
    std::string video;         ///< a file for the suite stream and for whole jobs beside another program's, or none
    std::string only;          ///< what the names of those have in them
    std::string pictures;      ///< the folder that pictures go to, or none
    StreamChoices stream;
    std::vector<std::string> groups;  ///< and suites that were asked for; for the record
};

/// One run of benches: the executors, this machine's measured copy speeds, and the rows so far.
class Session {
public:
    explicit Session(const SessionOptions& options);

    Executor& cpu() { return cpu_; }
    /// Null on a machine without a GPU.
    Executor* gpu() { return gpu_ ? &*gpu_ : nullptr; }
    bool has_gpu() const { return gpu_.has_value(); }
    bool quick() const { return options_.quick; }
    /// Outputs are checked, and nothing is timed: each thing runs once.
    bool check_only() const { return options_.check_only; }
    /// For a profiler of the GPU: each thing runs once, and ladders leave out what profilers learn nothing from.
    bool once() const { return options_.once; }
    /// Nothing is timed: each thing runs once, for its outputs or for a profiler.
    bool untimed() const { return options_.check_only || options_.once; }
    const std::string& cdnet_folder() const { return options_.cdnet_folder; }
    const std::string& video() const { return options_.video; }
    const StreamChoices& stream() const { return options_.stream; }
    /// The folder that pictures go to, which is there; empty where none are wanted.
    const std::string& pictures() const { return options_.pictures; }
    bool wants(std::string_view operation) const { return operation.find(options_.only) != operation.npos; }
    int threads() const { return cpu_.pool().threads(); }

    /// Times functions turn by turn, so that whatever disturbs the machine disturbs all alike. Each call is one frame.
    std::vector<Timing> time_cpu(const std::vector<std::function<void()>>& candidates);
    /// Times what `queue(turn)` puts on the GPU's stream: turns 0..gpu_rotation-1 are captured as one graph, each a
    /// batch of `frames` frames.
    Timing time_gpu(const std::function<void(int turn)>& queue, int frames = gpu_batch);
    /// Times what `queue(turn)` puts on the GPU's stream, each turn by itself and between two events: what a launch or
    /// a transfer takes alone, as profilers tell it. `before(turn)` goes before the first event. What is slow is
    /// repeated less, as in time_host().
    Timing time_launches(
        const std::function<void(int turn)>& queue, const std::function<void(int turn)>& before = [](int) {});
    /// Times what `run(turn)` does from its begin on the host to its end there: a frame with its transfers, waited for.
    Timing time_host(const std::function<void(int turn)>& run);

    /// Adds a row and prints it.
    void add(Row row);
    /// The group of the rows that follow.
    void set_group(std::string group) { group_ = std::move(group); }
    /// Runs `part`. What it throws as an Error, as that a variant's result is wrong, is printed under the name `what`
    /// and kept; all that follows still runs.
    void attempt(const std::string& what, const std::function<void()>& part);
    /// One line for each attempt that failed, and the first one's code; ErrorCode{} without any.
    const std::vector<std::string>& failures() const { return failures_; }
    ErrorCode first_failure() const { return first_failure_; }
    /// Throws Error{internal} naming the operation unless the two images are the same.
    static void require_equal(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want,
                              const std::string& operation);

    /// Throws Error{internal} naming the operation unless each value is within 1e-4 of the largest one wanted.
    static void require_near(std::span<const float> got, std::span<const double> want, const std::string& operation);

    /// What the limit of this name (limits/limits.hpp) takes here, measured when it is first asked for. Throws
    /// Error{internal} on a name that is none.
    const MeasuredLimit& measured_limit(const std::string& name);

    /// The machine, the build, the options, and all rows, as JSON.
    std::string json() const;

private:
    int repeats(int few, int usual) const;
    /// The name of what bounds a row, and the share of its speed that the row has; none where nothing does.
    void compare_with_limit(Row& row);
    void print_copy(const std::string& name);
    /// Of what is so slow that it has had its time after a few samples.
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

/// Fills an image with a smooth picture with texture and sensor noise of sigma about 3; `scene` chooses the picture.
void fill_scene(HostView<std::uint8_t> image, std::uint32_t scene);
/// `from` a moment later: fresh sensor noise everywhere and `share` of the bytes changed by far more, in blobs as
/// moving objects are
/// (`scattered` false) or each on its own.
void fill_later(HostView<const std::uint8_t> from, HostView<std::uint8_t> to, double share, bool scattered,
                std::uint32_t seed);

}  // namespace framewire::bench
