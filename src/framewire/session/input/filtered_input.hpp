#pragma once

#include "framewire/core/time/frame_time.hpp"
#include "framewire/core/time/rational.hpp"
#include "framewire/pipeline/chain/camera_panel.hpp"
#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/pipeline/chain/chain_plan.hpp"
#include "framewire/pipeline/chain/switches/chain_switches.hpp"
#include "framewire/pipeline/hidden/hidden_zones.hpp"
#include "framewire/pipeline/planes/linear_planes.hpp"
#include "framewire/pipeline/planes/planes_pass.hpp"
#include "framewire/pipeline/source.hpp"
#include "framewire/session/control/control.hpp"
#include "framewire/session/input/frame_limits.hpp"
#include "framewire/session/input/input_frame.hpp"
#include "framewire/session/input/opened_source.hpp"
#include "framewire/session/input/rate/frame_resampler.hpp"
#include "framewire/session/input/stretch/stretch_position.hpp"
#include "framewire/session/live/zones.hpp"
#include "framewire/session/options.hpp"

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

namespace framewire::session {

/// What a job of one source begins with: the source, the filters its frames go through, and what both run on. capture()
/// and filter() may run at the same time on two frames.
class FilteredInput {
public:
    /// Throws as parse_chain(), open_source(), Executor and ChainPlan do, in this order.
    FilteredInput(const InputOptions& input, const JobOptions& job, std::stop_token stop);
    FilteredInput(const FilteredInput&) = delete;
    FilteredInput& operator=(const FilteredInput&) = delete;

    const SourceInfo& info() const { return info_; }
    Executor& executor() { return executor_; }
    const Executor& executor() const { return executor_; }
    Backend backend() const { return executor_.backend(); }
    /// Of frames as filtered.
    const Shape& shape() const { return shape_; }
    /// Where what is in frames as captured is in those.
    PlaneMap placement() const {
        const std::lock_guard lock(plan_mutex_);
        return before_ ? before_->plan.placement().then(plan_.placement()) : plan_.placement();
    }
    /// Frames a second: as asked for, or the source's own.
    Rational rate() const;
    /// Of a stretch: see whole_seconds_before().
    const std::optional<double>& stretch_begin_seconds() const { return stretch_begin_seconds_; }
    /// How many frames there will be, where that is known.
    std::optional<std::int64_t> expected_frames(std::optional<std::int64_t> limit) const;

    /// From now on frames may have, in place of the result's image, their source's own picture where no filter does
    /// more than move pixels, and OwnPicture::to_image() gives the image then; or `planes`, where a sink takes such,
    /// that the filters gave. Before the first frame.
    void give_own_pictures(const std::optional<YuvInfo>& planes);

    /// From now on frames may have their source's own picture in place of their image, where there are no filters. For
    /// stages that begin by start_on(). Before the first frame.
    void give_unfiltered_pictures() {
        gives_own_ = (info_.has_own_pictures || info_.has_rows) && !before_ && moves_ && moves_->empty();
    }

    /// Nobody looks at captured frames on the host once they are filtered: results may come down where those were.
    /// Before make_frame().
    void let_results_replace() { results_replace_ = true; }

    InputFrame make_frame();
    /// False when there is no further frame.
    bool capture(InputFrame& frame, FrameTime& time);
    /// As filter_frame(). `statistics` are those that filters may show.
    void filter(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted);

    /// Goes to another time of the source; not while a frame is captured. See Source.
    bool seek(double seconds);
    /// Lets the filters forget the frames before; not while one is filtered.
    void begin_anew();

    /// Brightness and its like while frames flow; from any thread.
    CameraPanel& panel() { return panel_; }
    /// How that and the filters stand; from any thread.
    Controls controls() const;
    /// How many control requests were taken; none before the first frame was filtered, which is made with all of them.
    /// From any thread.
    std::optional<std::uint64_t> orders_to_await() const {
        const std::lock_guard lock(plan_mutex_);
        return has_filtered_ ? std::optional(orders_) : std::nullopt;
    }
    /// Counts a request that something else carries out.
    void count_order() {
        const std::lock_guard lock(plan_mutex_);
        ++orders_;
    }

    /// Takes an order from the next frame on, from any thread. Throws Error{usage} where it, or a part of it, cannot be
    /// taken, and Error{config} when a camera does not take a value.
    void control(const ControlOrder& order);

    /// Takes another chain from the next frame on, from any thread; the adjustment stays where the chain's own does not
    /// change. False, with nothing changed, where that takes another input: frames would be of another shape or rate,
    /// or filters are not switched here. Throws as parse_chain(), check_limits() and ChainPlan do, with nothing
    /// changed.
    bool take_chain(const std::string& text);

    /// Hides these zones of frames to come, those for detectors left aside, before anything else is done with them. Of
    /// the source's picture, which they lie in. From any thread.
    void hide(const std::vector<LiveZone>& zones);

    /// From any thread: there are no further frames but those captured so far, and one at least.
    void end_here() { is_to_end_ = true; }
    /// Whether it ended so.
    bool ended_here() const { return ended_here_; }

    /// Whether it ended before frames of another size; and for a job of those, the source.
    bool is_at_new_size() const { return source_->is_at_new_size(); }
    const std::shared_ptr<OpenedSource>& opened() const { return opened_; }

    /// See Source.
    void require_whole() const { source_->require_whole(); }

    /// For the statistics, with what the filters found in the last frame.
    RunDescription description() const;

    // As FolderInput's: here errors name no image, and the circle knows all frames' size.
    template <class Body>
    void naming_errors(InputFrame&, const FrameTime&, Body&& body) const {
        std::forward<Body>(body)();
    }
    void count_sent(InputFrame&, Statistics&) const {}

private:
    // Filters before a change of the rate, which see all frames that there are.
    struct BeforeRate {
        ChainPlan plan;
        Frame result;               // of the frame that was filtered last
        std::int64_t reading = -1;  // which one that was
    };

    template <class ReadOne>
    bool read_next(FrameTime& time, ReadOne&& read_one);
    void go_to_stretch();
    bool capture_next(InputFrame& frame, FrameTime& time);
    bool capture_at_rate(InputFrame& frame, FrameTime& time);
    std::optional<std::vector<PixelMove>> moves_of_chain() const;
    bool move_own(InputFrame& frame);
    Executor& on_host();
    bool filter_planes(InputFrame& frame, const FrameTime& time, const Statistics& statistics);
    bool move_planes(InputFrame& frame);
    std::optional<LinearPlanes> make_linear_planes(const YuvInfo& planes);
    std::optional<PlanesPass> make_planes_pass(const YuvInfo& planes);
    void show_values(ChainPlan& plan, const FrameTime& time, const Statistics& statistics) const;
    bool read(HostView<std::uint8_t> image, FrameTime& time, std::shared_ptr<const OwnPicture>& own);
    void set_time(FrameTime& time);
    FrameLimits checked_limits(const InputOptions& input) const;
    std::optional<BeforeRate> make_before();
    ChainPlan make_plan(const Chain& after);
    Chain chain_now() const;
    static std::optional<Adjustment> first_adjust(const Chain& chain);
    bool set_in_chain(const Adjustment& settings);
    bool tell_plans(const Adjustment& settings);
    void plan_anew();
    std::shared_ptr<const HiddenZones> follow_orders(InputFrame& frame);
    void count_change();
    const Shape& rated_shape() const { return before_ ? before_->plan.output_shape() : info_.shape; }
    void filter_at_rate(InputFrame& frame, const FrameTime& time, const Statistics& statistics, Wanted wanted);

    // Of a stretch: where its reading is.
    enum class Reading { not_begun, first_frame, stretch };

    RateSplit chain_;
    std::stop_token stop_;
    double fps_;
    bool loop_;
    std::shared_ptr<OpenedSource> opened_;
    std::stop_callback<std::function<void()>> on_stop_;
    Source* source_;  // that one
    SourceInfo info_;
    FrameLimits limits_;  // checked before anything below is planned
    std::string shown_name_;
    Executor executor_;
    std::optional<Executor> host_executor_;  // beside one of a GPU, where it is needed
    std::optional<BeforeRate> before_;
    ChainPlan plan_;
    std::optional<std::vector<PixelMove>> moves_;  // what all filters do, where they only move pixels
    // Where results are wanted as planes: of plan_, or on CUDA of a plan of the CPU's, where filters only draw on a
    // part.
    std::optional<ChainPlan> drawing_;
    std::optional<PlanesPass> planes_pass_;
    std::optional<LinearPlanes> linear_planes_;  // where they are taken as they are, for any backend
    bool gives_own_ = false, results_replace_ = false;
    std::optional<FrameResampler> resampler_;
    Shape shape_;  // of plan_'s results
    bool may_switch_;
    bool adjusts_of_own_;  // there is a panel, and no `adjust` in the chain
    ChainSwitches switches_;
    mutable std::mutex plan_mutex_;       // of plans and the following, for orders come from other threads
    std::optional<Adjustment> in_chain_;  // what the first `adjust` is set to
    Adjustment adjustment_;               // as it was ordered
    bool plans_are_old_ = false, adjustment_is_new_ = false;
    std::uint64_t orders_ = 0;    // control requests taken
    bool replaces_next_ = false;  // one of them changes pictures, and no frame was made with it yet
    bool has_filtered_ = false;
    std::vector<LiveZone> hidden_zones_;
    std::shared_ptr<const HiddenZones> hidden_;  // none: nothing is hidden
    CameraPanel panel_;
    std::int64_t captured_frames_ = 0;
    std::atomic<bool> is_to_end_ = false, ended_here_ = false;
    std::optional<StretchPosition> stretch_;
    std::optional<double> stretch_begin_seconds_;
    Reading reading_ = Reading::not_begun;
    StretchPosition::Is place_ = StretchPosition::Is::within;  // of the frame that was read last
};

/// The lesser of a limit and a source's frames, as far as there are such.
std::optional<std::int64_t> expected_frames(const SourceInfo& source, std::optional<std::int64_t> limit);

}  // namespace framewire::session
