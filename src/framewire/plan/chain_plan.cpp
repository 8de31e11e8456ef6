#include "framewire/plan/chain_plan.hpp"
#include "framewire/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

// A plan turns a chain into steps. A step is one filter, or several pointwise filters joined into one pass:
//
//     chain:  gray, binarize, median, adjust, noise
//     steps:  [gray+binarize] -> [median] -> [adjust+noise]
//     images: in -> between_[0] -> between_[1] -> out
//
// Once all filters have settled, CUDA runs are recorded, and replayed from then on.

namespace framewire {
namespace {

// Returns the pointwise filters from `begin` on that fit into one pass.
std::vector<PointwiseOp> pass_from(const std::vector<std::optional<PointwiseOp>>& ops, std::size_t begin) {
    std::vector<PointwiseOp> pass;
    std::size_t states = 0;
    for (auto index = begin; index < ops.size() && ops[index] && pass.size() < PointwisePass::max_ops; ++index) {
        states += ops[index]->needs_previous ? 1 : 0;
        if (states > PointwisePass::max_states) break;
        pass.push_back(*ops[index]);
    }
    return pass;
}

}  // namespace

// The constructor allocates all memory; runs allocate nothing.
ChainPlan::ChainPlan(const Chain& chain, const Shape& frame, Executor& executor, const std::optional<Shape>& original)
    : executor_(&executor), input_shape_(frame), original_shape_(original.value_or(frame)), output_shape_(frame) {
    validate(frame, "the chain's image");
    validate(original_shape_, "the chain's original");
    plan_steps(chain);
    allocate();
}

// Computes all shapes, then joins pointwise filters and makes the plans.
void ChainPlan::plan_steps(const Chain& chain) {
    // All shapes are computed before the first plan, so that an invalid chain fails before anything is allocated.
    std::vector<Shape> shapes{input_shape_};
    std::vector<std::optional<PointwiseOp>> ops;
    for (const auto& call : chain.calls)
        naming_place(chain, call, [&] {
            const auto from = shapes.back();
            const auto& join = call.filter->original;
            shapes.push_back(join ? join->output_shape(call.values, from, original_shape_)
                                  : call.filter->output_shape(call.values, from));
            if (call.filter->placement) placement_ = placement_.then(call.filter->placement(call.values, from));
            ops.push_back(call.filter->pointwise ? call.filter->pointwise(call.values) : std::nullopt);
        });
    output_shape_ = shapes.back();

    for (std::size_t begin = 0, end = 0; begin < chain.calls.size(); begin = end) {
        const auto& call = chain.calls[begin];
        auto pass = pass_from(ops, begin);
        // A pass with a single filter is worthwhile if it saves copying the previous frame, or if it can process rows.
        const bool pays = pass.size() > 1 ||
                          (pass.size() == 1 && (pass.front().needs_previous || executor_->backend() == Backend::cpu));
        end = begin + (pays ? pass.size() : 1);
        Step step;
        for (auto index = begin; index < end; ++index) step.names.emplace_back(chain.calls[index].filter->name);
        step.name = fmt::format("{}", fmt::join(step.names, "+"));
        step.input = shapes[begin];
        step.output = shapes[end];
        if (pays) {
            step.filter = std::make_unique<PointwisePass>(std::move(pass), step.input, *executor_);
        } else {
            const auto& join = call.filter->original;
            step.filter = naming_place(chain, call, [&] {
                return join ? join->make(call.values, step.input, original_shape_, *executor_)
                            : call.filter->make(call.values, step.input, *executor_);
            });
            step.joins_original = join.has_value();
            step.needs_previous = call.filter->needs_previous;
        }
        steps_.push_back(std::move(step));
    }
}

// Images between filters use two buffers in turn, each as large as the largest image that it holds.
void ChainPlan::allocate() {
    std::array<std::int64_t, 2> largest_bytes{};
    for (std::size_t index = 0; index < steps_.size(); ++index) {
        auto& step = steps_[index];
        if (step.needs_previous) step.previous = BackendImage(step.input, *executor_);
        if (index + 1 < steps_.size())
            largest_bytes[index % 2] = std::max(largest_bytes[index % 2], step.output.bytes());
    }
    for (std::size_t turn = 0; turn < between_.size(); ++turn)
        if (largest_bytes[turn] > 0)
            between_[turn] = BackendBuffer(static_cast<std::size_t>(largest_bytes[turn]), *executor_);
}

bool ChainPlan::shows_frame_values() const {
    return std::any_of(steps_.begin(), steps_.end(),
                       [](const auto& step) { return step.filter->shows_frame_values(); });
}

void ChainPlan::set_frame_values(const FrameValues& values) {
    for (const auto& step : steps_) step.filter->set_frame_values(values);
}

// A recorded run contains the settings at that time, so every change of settings invalidates it.
bool ChainPlan::set_adjustment(const Adjustment& adjustment) {
    // The settings apply to the first step that has an `adjust`.
    const bool taken = std::any_of(steps_.begin(), steps_.end(),
                                   [&](const auto& step) { return step.filter->set_adjustment(adjustment); });
    ++*settings_;
    return taken;
}

// A pass reports the results of its filters one after the other.
std::vector<ChainFigures> ChainPlan::figures() const {
    std::vector<ChainFigures> all;
    for (const auto& step : steps_) {
        if (!step.has_run) continue;
        std::optional<std::size_t> last;
        for (const auto& figure : step.filter->figures()) {
            if (figure.filter != last) all.push_back({step.names[figure.filter], {}});
            all.back().figures.push_back(figure);
            last = figure.filter;
        }
    }
    return all;
}

void ChainPlan::run(Frame& in, Frame& original, Frame& out) {
    executor_->in_its_space([&]<MemorySpace space>() {
        run(View<const std::uint8_t, space>(in.in<space>()), View<const std::uint8_t, space>(original.in<space>()),
            out.in<space>());
    });
}

void ChainPlan::run(HostView<const std::uint8_t> in, HostView<const std::uint8_t> original,
                    HostView<std::uint8_t> out) {
    executor_->require_space<MemorySpace::host>("a chain");
    validate(in, input_shape_, "the chain's input");
    validate(original, original_shape_, "the chain's original");
    validate(out, output_shape_, "the chain's output");
    run_in(in, original, out);
}

// The chain is not recorded while a filter has not settled yet, while steps are timed, or if the caller records.
void ChainPlan::run(DeviceView<const std::uint8_t> in, DeviceView<const std::uint8_t> original,
                    DeviceView<std::uint8_t> out) {
    executor_->require_space<MemorySpace::device>("a chain");
    validate(in, input_shape_, "the chain's input");
    validate(original, original_shape_, "the chain's original");
    validate(out, output_shape_, "the chain's output");
    if (cuda::is_recording(executor_->stream())) return run_in(in, original, out);
    const std::uint64_t settings = *settings_;
    const bool can_record = is_settled() && !executor_->times_steps();
    if (!can_record || std::exchange(recorded_settings_, settings) != settings) recorded_.clear();
    if (!can_record) return run_in(in, original, out);
    PictureAddresses addresses;
    addresses.add(in);
    addresses.add(original);
    addresses.add(out);
    recorded_.run(*executor_, addresses, [&] { run_in(in, original, out); });
}

bool ChainPlan::is_settled() const {
    return std::all_of(steps_.begin(), steps_.end(), [](const auto& step) {
        return step.has_previous == step.needs_previous && step.filter->is_settled();
    });
}

// Results alternate between two buffers; the last step writes to the output.
template <MemorySpace space>
void ChainPlan::run_in(View<const std::uint8_t, space> in, View<const std::uint8_t, space> original,
                       View<std::uint8_t, space> out) {
    if (empty()) return copy_image(in, out);
    auto from = in;
    for (std::size_t index = 0; index < steps_.size(); ++index) {
        const bool last = index + 1 == steps_.size();
        const auto to = last ? out : View<std::uint8_t, space>(between_[index % 2].data(), steps_[index].output);
        auto& step = steps_[index];
        executor_->step(step.name, [&] { run_step(step, from, original, to); });
        from = to;
    }
}

// As long as there is no previous frame, filters that need one get the current frame instead.
template <MemorySpace space>
void ChainPlan::run_step(Step& step, View<const std::uint8_t, space> from, View<const std::uint8_t, space> original,
                         View<std::uint8_t, space> to) {
    const auto previous = step.previous.view<space>();
    FilterImages<space> images{from, {}, to};
    if (step.joins_original) images.original = original;
    if (step.needs_previous) images.previous = step.has_previous ? previous : from;
    step.filter->run(images);
    if (step.needs_previous) copy_image(from, previous);
    step.has_previous = step.needs_previous;
    step.has_run = true;
}

std::vector<bool> ChainPlan::joined_filters() const {
    std::vector<bool> joined;
    for (const auto& step : steps_)
        for (std::size_t index = 0; index < step.names.size(); ++index) joined.push_back(index > 0);
    return joined;
}

// Running by rows requires the CPU backend, single frames, and support by every filter.
std::vector<ChainPlan::RowStep> ChainPlan::by_rows() {
    std::vector<RowStep> steps;
    if (executor_->backend() != Backend::cpu || input_shape_.frames != 1) return steps;
    for (const auto& step : steps_) {
        if (step.joins_original || !step.filter->works_by_rows()) return {};
        steps.push_back({step.name, step.filter.get(), step.input, step.output});
    }
    // A filter that computes several rows together and collects statistics must see each row only once.
    for (std::size_t index = 0; index < steps.size(); ++index)
        if (steps[index].filter->rows_together() > 1 && index + 1 < steps.size()) return {};
    return steps;
}

void ChainPlan::begin_rows() {
    for (auto& step : steps_) {
        step.filter->begin_rows();
        step.has_run = true;
    }
}

void ChainPlan::copy_image(HostView<const std::uint8_t> from, HostView<std::uint8_t> to) const { copy(from, to); }

void ChainPlan::copy_image(DeviceView<const std::uint8_t> from, DeviceView<std::uint8_t> to) const {
    cuda::copy(from, to, executor_->stream());
}

namespace {

// `median=255`, the slowest filter, takes 56 ns per pixel on one core (measured 2026-11-28 at 1920x1080 with AVX2).
constexpr double slowest_seconds_per_pixel = 60e-9;

// Returns an upper bound for the memory that a filter's plan keeps in addition to its images and the previous frame, in
// bytes per pixel of the larger of its input and its result. `boxes` keeps a background model. A test checks this bound
// for all filters.
std::int64_t scratch_bytes_per_pixel(const FilterInfo& filter) { return filter.name == "boxes" ? 64 : 12; }

std::int64_t pixels_of(const Shape& shape) { return std::int64_t{shape.frames} * shape.height * shape.width; }

// Returns the shape of a filter's result. Errors contain the position in the text of the chain.
Shape output_of(const Chain& chain, const FilterCall& call, const Shape& image, const Shape& original) {
    const auto& filter = *call.filter;
    try {
        const auto shape = filter.original ? filter.original->output_shape(call.values, image, original)
                                           : filter.output_shape(call.values, image);
        validate(shape, "its result");
        return shape;
    } catch (const Error& error) {
        if (error.code() != ErrorCode::usage) throw;
        fail_in_chain(chain.text, call.offset, fmt::format("filter '{}': {}", filter.name, error.what()));
    }
}

}  // namespace

// Follows the shapes from filter to filter.
ChainCost cost_of(const Chain& chain, const Shape& frame) {
    ChainCost cost{.output = frame, .largest = frame, .largest_at = 0};
    for (const auto& call : chain.calls) {
        const auto input = cost.output;
        cost.output = output_of(chain, call, input, frame);
        const auto larger = std::max(pixels_of(input), pixels_of(cost.output));
        cost.bytes += cost.output.bytes() + scratch_bytes_per_pixel(*call.filter) * larger;
        // The previous image is kept in addition to the images between filters.
        if (call.filter->needs_previous) cost.bytes += input.bytes();
        cost.frame_seconds += slowest_seconds_per_pixel * static_cast<double>(larger);
        if (pixels_of(cost.output) > pixels_of(cost.largest)) {
            cost.largest = cost.output;
            cost.largest_at = call.offset;
        }
    }
    return cost;
}

}  // namespace framewire
