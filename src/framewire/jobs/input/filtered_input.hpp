#pragma once

#include "framewire/core/time.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/jobs/options.hpp"
#include "framewire/plan/chain.hpp"
#include "framewire/plan/frame_plan.hpp"
#include "framewire/plan/privacy_masks.hpp"
#include "framewire/plan/source.hpp"
#include "framewire/service/control.hpp"
#include "framewire/service/live_camera.hpp"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace framewire::jobs {

/// Start of every job with one source: the source, the filters that its frames pass, and the executor of both.
/// capture() and filter() may run at the same time on two different frames.
///
///     source -> [filters before a change of the rate] -> [new rate] -> filters -> InputFrame::result()
///
/// Control requests come from any thread and are counted; filter() applies them between two frames, so no frame is made
/// half with a request.
class FilteredInput {
public:
    /// Opens the source and plans the filters. Throws as parse_chain(), open_source(), Executor and FramePlan do, in
    /// this order.
    FilteredInput(const InputOptions& input, const JobOptions& job, std::stop_token stop);
    FilteredInput(const FilteredInput&) = delete;
    FilteredInput& operator=(const FilteredInput&) = delete;

    /// Description of the source. shape() describes the filtered frames.
    const SourceInfo& info() const { return info_; }
    /// Executor of the filters, also for the job's own stages.
    Executor& executor() { return executor_; }
    /// The same, read-only.
    const Executor& executor() const { return executor_; }
    /// Backend of the executor.
    Backend backend() const { return executor_.backend(); }
    /// Returns where the source's video is decoded; from any thread.
    const std::shared_ptr<DecodeMonitor>& decode_monitor() const { return opened_->decode_monitor(); }
    /// Shape of filtered frames.
    const Shape& shape() const { return shape_; }
    /// Returns the plan of the filters: the steps before a change of the rate, and those after it. Empty if frames are
    /// not filtered. From any thread.
    std::vector<PlannedStep> planned_steps() const;
    /// Returns the format in which the plan takes the source's frames.
    FrameFormat source_format() const;
    /// Returns the format of the plan's results.
    const FrameFormat& result_format() const { return plan_->result(); }
    /// Maps positions in captured frames to positions in filtered frames.
    PlaneMap placement() const {
        const std::lock_guard lock(plan_mutex_);
        return before_ ? before_->plan.placement().then(plan_->placement()) : plan_->placement();
    }
    /// Frames per second: the requested rate or the source's own.
    Rational rate() const;
    /// For a time range: see whole_seconds_before().
    const std::optional<double>& segment_begin_seconds() const { return segment_begin_seconds_; }
    /// Expected number of frames, if it is known. `limit` is the job's own limit.
    std::optional<std::int64_t> expected_frames(std::optional<std::int64_t> limit) const;

    /// From now on frames may have their source's native frame instead of their image if there are no filters, and
    /// planes as the sink takes them, `planes`, if filters end with such. Before the first frame.
    void give_planes(const std::optional<YuvInfo>& planes);

    /// From now on frames may have their source's native frame instead of their image if there are no filters. For
    /// stages that begin by start_on(). Before the first frame.
    void give_unfiltered_pictures();

    /// Declares that captured frames are not read on the host after filtering, so that results may be downloaded into
    /// their memory. Call it before make_frame().
    void let_results_replace() { results_replace_ = true; }

    /// Makes a frame for one slot of the frame ring.
    InputFrame make_frame();
    /// Reads the next frame. Returns false if there is none. Throws as Source::capture() does.
    bool capture(InputFrame& frame, FrameTime& time);
    /// Filters the frame. Its result is planes or an image. `statistics` are values that filters may display.
    void filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted);

    /// Seeks the source, see Source::seek(). Not while a frame is being captured.
    bool seek(double seconds);
    /// Resets the filters, so that they forget earlier frames. Not while a frame is being filtered.
    void begin_again();

    /// Picture controls; from any thread.
    CameraControls& camera_controls() { return camera_controls_; }
    /// State of picture controls and filter switches; from any thread.
    service::Controls controls() const;
    /// Number of control requests accepted so far. Empty before the first frame was filtered, because that frame is
    /// made with all of them. From any thread.
    std::optional<std::uint64_t> requests_to_await() const {
        const std::lock_guard lock(plan_mutex_);
        return has_filtered_ ? std::optional(requests_) : std::nullopt;
    }
    /// Counts a request that another object carries out. From any thread.
    void count_request() {
        const std::lock_guard lock(plan_mutex_);
        ++requests_;
    }

    /// Applies a control request from the next frame on; from any thread. Throws Error{usage} if all or part of it is
    /// not supported, and Error{config} if a camera rejects a value.
    void control(const service::ControlRequest& request);

    /// Replaces the chain from the next frame on; from any thread. The adjustment is kept unless the new chain sets
    /// another one. Returns false and changes nothing if the chain needs another input: if frames would have another
    /// shape or rate, or if filters cannot be switched here. Throws as parse_chain(), check_limits() and FramePlan do,
    /// and then changes nothing.
    bool take_chain(const std::string& text);

    /// Masks these zones, except detection areas, in all later frames before anything else is done with them.
    /// Coordinates are pixels of the source's frame and must be inside it. From any thread.
    void hide(const std::vector<service::LiveZone>& zones);

    /// Ends the input after the frames captured so far, but not before the first one. From any thread.
    void end_here() { is_to_end_ = true; }
    /// Returns true if end_here() ended the input.
    bool ended_here() const { return ended_here_; }

    /// Returns true if the input ended before frames of another size; opened() is the source for a job that continues
    /// with them.
    bool is_at_new_size() const { return source_->is_at_new_size(); }
    /// The open source, for a job that continues with it.
    const std::shared_ptr<OpenedSource>& opened() const { return opened_; }

    /// See Source::require_whole().
    void require_whole() const { source_->require_whole(); }

    /// Describes the run for the statistics, with what the filters found in the last frame.
    RunDescription description() const;

    /// Calls `body`. Errors need no image name here, unlike in FolderInput.
    template <class Body>
    void naming_errors(InputFrame&, const FrameTime&, Body&& body) const {
        std::forward<Body>(body)();
    }
    /// Does nothing; see FolderInput::count_sent().
    void count_sent(InputFrame&, Statistics&) const {}

private:
    // Filters before a change of the rate; they see every frame of the source.
    struct BeforeRate {
        FramePlan plan;
        // result for the frame that was filtered last
        WorkPicture result;
        // number of that frame
        std::int64_t reading = -1;
    };

    template <class ReadOne>
    bool read_next(FrameTime& time, ReadOne&& read_one);
    void go_to_segment();
    bool capture_next(InputFrame& frame, FrameTime& time);
    bool capture_at_rate(InputFrame& frame, FrameTime& time);
    // Shows the current values in filters that display them.
    void show_values(FramePlan& plan, const FrameTime& time, const Statistics& statistics) const;
    // Reads a frame. If there is a native frame that is needed, the image may be left out.
    bool read(HostView<std::uint8_t> image, FrameTime& time, std::shared_ptr<const NativeFrame>& own);
    // Runs the plans on a frame.
    template <MemorySpace space>
    void run_plans(InputFrame& frame, const FrameTime& time, const Statistics& statistics);
    // Sets the frame's time by the requested rate, if there is one, and counts the frame.
    void set_time(FrameTime& time);
    // Checks the memory and pixel limits of the input.
    FrameLimits checked_limits(const InputOptions& input) const;
    // Plans all filters that are on, without memory of earlier frames.
    void make_plans();
    // Plans the last conversion, for the sink.
    void deliver();
    // Returns the filters with the settings of the panel in their first `adjust`.
    Chain with_settings(Chain chain) const;
    // Plans the filters before a change of the rate; empty if there are none.
    std::optional<BeforeRate> make_before();
    // The chain in force: filters that are on, and the panel's own `adjust`.
    Chain chain_now() const;
    // Setting of the chain's first `adjust`.
    static std::optional<Adjustment> first_adjust(const Chain& chain);
    // Callback of the panel: stores a setting for the chain's `adjust`.
    bool set_in_chain(const Adjustment& settings);
    // Passes a setting to the plans.
    bool tell_plans(const Adjustment& settings);
    // Applies the requests taken so far before a frame is filtered; returns the masks in force.
    std::shared_ptr<const PrivacyMasks> follow_requests(InputFrame& frame);
    // Counts a request that changes what may be seen.
    void count_change();
    // Progress of the reading of a time range.
    enum class Reading { not_begun, first_frame, segment };

    RateSplit chain_;
    std::stop_token stop_;
    double fps_;
    bool loop_;
    std::shared_ptr<SoundTap> sound_;  // null unless the sound is wanted
    std::shared_ptr<OpenedSource> opened_;
    std::stop_callback<std::function<void()>> on_stop_;
    // opened_'s source
    Source* source_;
    SourceInfo info_;
    // checked before anything below is planned
    FrameLimits limits_;
    std::string shown_name_;
    Executor executor_;
    std::optional<BeforeRate> before_;
    std::unique_ptr<FramePlan> plan_;
    // format of planes that the sink takes
    std::optional<YuvInfo> sink_planes_;
    // the last conversion of plan_ is planned
    bool is_delivered_ = false;
    // no filter is on, so that results are the captured frames
    bool is_unfiltered_ = false;
    // the plans begin with planes; read by the thread that captures
    std::atomic<bool> takes_planes_ = false;
    // consumers take native frames if there are no filters
    bool gives_own_ = false;
    bool results_replace_ = false;
    std::optional<FrameResampler> resampler_;
    // shape of the results
    Shape shape_;
    bool may_switch_;
    // the panel is enabled, and the chain has no `adjust`
    bool adjusts_of_own_;
    ChainSwitches switches_;
    // guards plans and the members below, because control requests come from other threads
    mutable std::mutex plan_mutex_;
    // setting of the first `adjust`
    std::optional<Adjustment> in_chain_;
    // adjustment as requested
    Adjustment adjustment_;
    bool plans_are_old_ = false, adjustment_is_new_ = false;
    // control requests accepted
    std::uint64_t requests_ = 0;
    // one of them changes pictures, and no frame has been made with it yet
    bool replaces_next_ = false;
    bool has_filtered_ = false;
    std::vector<service::LiveZone> hidden_zones_;
    // null: no privacy masks
    std::shared_ptr<const PrivacyMasks> hidden_;
    CameraControls camera_controls_;
    std::int64_t captured_frames_ = 0;
    std::atomic<bool> is_to_end_ = false, ended_here_ = false;
    std::optional<SegmentPosition> segment_;
    std::optional<double> segment_begin_seconds_;
    Reading reading_ = Reading::not_begun;
    // position of the frame that was read last
    SegmentPosition::Is place_ = SegmentPosition::Is::within;
};

/// Returns the smaller of `limit` and the source's number of frames, as far as they are known.
std::optional<std::int64_t> expected_frames(const SourceInfo& source, std::optional<std::int64_t> limit);

}  // namespace framewire::jobs
