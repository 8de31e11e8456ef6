#include "framewire/core/error.hpp"
#include "framewire/filters/adjust.hpp"
#include "framewire/jobs/input/filtered_input.hpp"

#include <string_view>
#include <utility>
#include <variant>

// Control requests of a FilteredInput: adjustment, filter switches, chain and privacy masks.

namespace framewire::jobs {
namespace {

constexpr std::string_view adjust_name = "adjust";

}  // namespace

// Returns the setting of the chain's first `adjust`.
std::optional<Adjustment> FilteredInput::first_adjust(const Chain& chain) {
    for (const auto& call : chain.calls)
        if (call.filter->name == adjust_name) return adjustment_from(call.values);
    return std::nullopt;
}

// Returns the filters that are on; the panel's own `adjust` runs first if it changes anything.
Chain FilteredInput::chain_now() const {
    auto chain = split_at_rate(switches_.active()).after;
    if (adjusts_of_own_ && in_chain_ && *in_chain_ != Adjustment{}) {
        const auto adjust = parse_chain(adjust_name);
        chain.calls.insert(chain.calls.begin(), adjust.calls.front());
    }
    // The first `adjust` of the whole chain has the panel's settings.
    return before_ && first_adjust(chain_.before) ? chain : with_settings(std::move(chain));
}

Chain FilteredInput::with_settings(Chain chain) const {
    if (!in_chain_) return chain;
    for (auto& call : chain.calls)
        if (call.filter->name == adjust_name) {
            call.values = adjustment_values(*call.filter, *in_chain_);
            break;
        }
    return chain;
}

// Applies the requests accepted so far and returns the masks for this frame. Only the filtering thread changes its
// plans, so no frame is made half with a request.
std::shared_ptr<const PrivacyMasks> FilteredInput::follow_requests(InputFrame& frame) {
    const std::lock_guard lock(plan_mutex_);
    // Settings that planes cannot show, or can show again, need other plans.
    if (plans_are_old_ || (adjustment_is_new_ && !tell_plans(*in_chain_))) make_plans();
    adjustment_is_new_ = false;
    has_filtered_ = true;
    frame.requests = requests_;
    // A frame that is not sent leaves the change to the next frame that is.
    frame.replaces = frame.sent && std::exchange(replaces_next_, false);
    return hidden_;
}

// Counts a request that changes what may be seen; call it with plan_mutex_ locked. With privacy masks the first frame
// must be exact too, because a bounded stream begins with a picture that is only near the camera's.
void FilteredInput::count_change() {
    ++requests_;
    replaces_next_ = has_filtered_ || hidden_;
}

void FilteredInput::hide(const std::vector<service::LiveZone>& zones) {
    std::vector<service::LiveZone> hiding;
    std::vector<Zone> mosaic, black;
    for (const auto& zone : zones) {
        if (zone.kind == service::LiveZone::Kind::mosaic) mosaic.push_back(zone.area);
        if (zone.kind == service::LiveZone::Kind::privacy) black.push_back(zone.area);
        if (zone.kind != service::LiveZone::Kind::detect) hiding.push_back(zone);
    }
    auto hidden = std::make_shared<const PrivacyMasks>(std::move(mosaic), std::move(black), info_.shape);
    const std::lock_guard lock(plan_mutex_);
    const auto format = source_format();
    hidden_ = hidden->empty() ? nullptr : std::move(hidden);
    if (hidden_zones_ == hiding) {
        // only detection areas changed
        ++requests_;
        return;
    }
    hidden_zones_ = std::move(hiding);
    count_change();
    // Filters that compare frames must not show the previous frame, in which these areas were not masked. The first
    // mask and the removal of the last one change the format that the plans take.
    plans_are_old_ = plans_are_old_ || has_filtered_ || source_format() != format;
}

// Passes the settings to the plans. Returns false if they need others for it.
bool FilteredInput::tell_plans(const Adjustment& settings) {
    if (before_ && first_adjust(chain_.before)) return before_->plan.set_adjustment(settings);
    return !first_adjust(chain_now()) || plan_->set_adjustment(settings);
}

// Callback of the panel.
bool FilteredInput::set_in_chain(const Adjustment& settings) {
    const std::lock_guard lock(plan_mutex_);
    if (!adjusts_of_own_ && !first_adjust(chain_.whole)) return false;
    const auto before = std::exchange(in_chain_, settings).value_or(Adjustment{});
    // The panel's own `adjust` is part of the chain only while it changes something.
    if (adjusts_of_own_ && (before == Adjustment{}) != (settings == Adjustment{})) plans_are_old_ = true;
    adjustment_is_new_ = true;
    return true;
}

// The plans made here are discarded: they show whether the filtering thread will be able to make its own.
bool FilteredInput::take_chain(const std::string& text) {
    const auto chain = split_at_rate(parse_chain(text));
    check_limits(limits_, chain.whole, info_.shape);
    Executor host(BackendChoice::cpu, 1);
    const auto format = source_format();
    auto rated = format;
    if (chain.rate) rated = FramePlan(chain.before, format, host).result();
    const auto shape = FramePlan(chain.after, rated, host, format).result().shape();
    const auto adjustment = first_adjust(chain.whole).value_or(Adjustment{});
    {
        const std::lock_guard lock(plan_mutex_);
        if (!may_switch_ || gives_own_ || chain.rate || chain_.rate || shape != shape_) return false;
        switches_.take(chain.whole, info_.shape);
        const bool adjusts_as_before = first_adjust(chain_.whole).value_or(Adjustment{}) == adjustment;
        adjusts_of_own_ = !first_adjust(chain.whole);
        chain_ = chain;
        plans_are_old_ = true;
        count_change();
        if (adjusts_as_before) return true;
    }
    control(adjustment);
    return true;
}

service::Controls FilteredInput::controls() const {
    const std::lock_guard lock(plan_mutex_);
    service::Controls controls{.filters = switches_.all()};
    if (!may_switch_ && !first_adjust(chain_.whole)) controls.fixed_because = "picture adjustments are not enabled";
    if (!may_switch_)
        for (auto& filter : controls.filters) filter.fixed_because = "switching filters is not enabled";
    controls.adjustment = adjustment_;
    return controls;
}

void FilteredInput::control(const service::ControlRequest& request) {
    if (const auto* filter = std::get_if<service::FilterRequest>(&request)) {
        if (!may_switch_) fail(ErrorCode::usage, "switching filters is not enabled");
        switches_.set(filter->number, filter->on);
        const std::lock_guard lock(plan_mutex_);
        plans_are_old_ = true;
        count_change();
        return;
    }
    const auto& wanted = std::get<Adjustment>(request);
    if (camera_controls_.set(wanted) != Adjustment{})
        fail(ErrorCode::usage, "neither the camera nor the chain's adjust filter can apply all of '{}'",
             service::to_text(wanted));
    const std::lock_guard lock(plan_mutex_);
    adjustment_ = wanted;
    count_change();
}

}  // namespace framewire::jobs
