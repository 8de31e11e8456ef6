#include "framewire/filters/pointwise.hpp"
#include "framewire/core/error.hpp"
#include "framewire/filters/adjust.hpp"
#include "framewire/filters/heatmap.hpp"
#include "framewire/filters/window.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

// Fused passes on the CPU. A block of pixels goes through all operations while it is in the L1 cache; blocks are
// processed in parallel. Every operation supplies its own vectorised function for a run of pixels (PointwiseOp::run).

namespace framewire {
namespace {

constexpr std::int64_t stretch_px = 2048;  // pixels whose values between two operations stay in the L1 cache

// Keeps a gray image as one channel if it is next used by an operation that takes one channel as well as three, such as
// the heat map. That leaves a third of the bytes to write, to compare and to keep for the next frame. Adjustments in
// between keep gray pixels gray.
void keep_gray_narrow(std::vector<PointwiseOp>& ops) {
    for (auto gray = ops.begin(); gray != ops.end(); ++gray) {
        if (!gray->gives_gray || gray->channels != 3) continue;
        const auto taker = std::find_if(gray + 1, ops.end(), [](const auto& op) { return !op.keeps_gray; });
        if (taker != ops.end() && taker->takes_gray) gray->channels = 1;
    }
}

// Returns true if the operation belongs to the named filter.
bool is(const PointwiseOp& op, std::string_view filter) { return op.filter == filter; }

}  // namespace

// Finds the first adjust, whose terms may change while running, and the shape before each operation.
PointwisePass::PointwisePass(std::vector<PointwiseOp> ops, const Shape& shape, Executor& executor)
    : ops_(std::move(ops)), adjusted_(AdjustTerms{}), executor_(&executor) {
    validate(shape, "the pass's image");
    const auto adjust = std::find_if(ops_.begin(), ops_.end(), [](const auto& op) { return is(op, "adjust"); });
    first_adjust_ = static_cast<std::size_t>(adjust - ops_.begin());
    if (adjust != ops_.end()) adjusted_ = adjust_terms_of(*adjust);
    const auto states = std::count_if(ops_.begin(), ops_.end(), [](const auto& op) { return op.needs_previous; });
    if (ops_.empty() || ops_.size() > max_ops || states > static_cast<std::ptrdiff_t>(max_states))
        fail(ErrorCode::internal, "a pass cannot run {} filters, {} of them with a previous frame", ops_.size(),
             states);
    if (executor.backend() == Backend::cpu) keep_gray_narrow(ops_);  // on CUDA, pixels stay in registers in any case
    shapes_.push_back(shape);
    for (const auto& op : ops_)
        shapes_.push_back(op.channels == 0 ? shapes_.back() : shapes_.back().with_channels(op.channels));
    for (const auto& state : state_shapes()) states_.emplace_back(state, executor);
    if (std::any_of(ops_.begin(), ops_.end(), [](const auto& op) { return is(op, "heatmap"); }))
        heatmap_table_ = heatmap_table_for(executor);
    if constexpr (cuda::compiled)
        if (executor.backend() == Backend::cuda)
            for (const auto& op : ops_) {
                device_numbers_.push_back(number_on_device(op.filter));
                if (device_numbers_.back() < 0) fail(ErrorCode::internal, "there is no GPU code for '{}'", op.filter);
            }
}

// A state holds the input of the operation that it belongs to.
std::vector<Shape> PointwisePass::state_shapes() const {
    std::vector<Shape> states;
    for (std::size_t index = 0; index < ops_.size(); ++index)
        if (ops_[index].needs_previous) states.push_back(shapes_[index]);
    return states;
}

// The terms are one atomic word, which each run reads once.
bool PointwisePass::set_adjustment(const Adjustment& adjustment) {
    const auto terms = adjust_terms(adjustment);
    if (first_adjust_ == ops_.size()) return false;
    adjusted_ = terms;
    return true;
}

// The reported values are constants of the operation, so nothing has to be read back from the GPU.
std::vector<FilterFigure> PointwisePass::figures() const {
    std::vector<FilterFigure> figures;
    for (std::size_t index = 0; index < ops_.size(); ++index)
        if (const auto& op = ops_[index]; !op.figure.empty())
            for (int frame = 0; frame < shapes_.front().frames; ++frame)
                figures.push_back({op.figure, frame, static_cast<double>(op.values[0]), index});
    return figures;
}

PointwiseOp PointwisePass::op_now(std::size_t index) const {
    return index == first_adjust_ ? adjust_op(adjusted_) : ops_[index];
}

std::array<PointwiseOp, PointwisePass::max_ops> PointwisePass::ops_now() const {
    std::array<PointwiseOp, max_ops> ops;
    for (std::size_t index = 0; index < ops_.size(); ++index) ops[index] = op_now(index);
    return ops;
}

// In each block, a comparing operation reads the state before its own input overwrites it.
void PointwisePass::run(const FilterImages<MemorySpace::host>& images) {
    const auto in = images.in;
    const auto out = images.out;
    validate(in, shapes_.front(), "the pass's image");
    validate(out, shapes_.back(), "the pass's result");
    const auto ops = ops_now();  // one setting for the whole batch
    const bool dense = in.dense() && out.dense(), first = !has_previous_;
    std::array<HostView<std::uint8_t>, max_states> states;
    for (std::size_t index = 0; index < states_.size(); ++index)
        states[index] = states_[index].view<MemorySpace::host>();
    // Takes a block of pixels through all operations. Intermediate values alternate between two buffers.
    const auto run_block = [&](const PixelRun& block) {
        // Values between two operations, in alternating buffers.
        std::uint8_t between[2][3 * stretch_px];
        const auto* from = block.in(in);
        std::size_t state = 0;
        for (std::size_t index = 0; index < ops_.size(); ++index) {
            const auto channels = shapes_[index].channels;
            auto* to = index + 1 == ops_.size() ? block.in(out) : between[index % 2];
            auto* before = ops[index].needs_previous ? block.in(states[state++]) : nullptr;
            ops[index].run(ops[index],
                           {from, first ? from : before, channels, block.pixels, to, shapes_[index + 1].channels});
            if (before) std::memcpy(before, from, static_cast<std::size_t>(block.pixels * channels));
            from = to;
        }
    };
    for_pixel_runs(executor_->pool(), in.shape(), dense, [&](const PixelRun& run) {
        for (std::int64_t begin = 0; begin < run.pixels; begin += stretch_px)
            run_block({run.row, run.first + begin, std::min(stretch_px, run.pixels - begin)});
    });
    has_previous_ = true;
}

void PointwisePass::run(const FilterImages<MemorySpace::device>& images) {
    if constexpr (cuda::compiled)
        run_on_device(images);
    else
        fail(ErrorCode::internal, "a device image in a build without CUDA");
}

bool PointwisePass::works_by_rows() const {
    return executor_->backend() == Backend::cpu && shapes_.front().frames == 1 &&
           std::none_of(ops_.begin(), ops_.end(), [](const auto& op) { return op.needs_previous; });
}

void PointwisePass::begin_rows() { ops_of_rows_ = ops_now(); }

std::size_t PointwisePass::first_equal_op() const {
    auto first = ops_.size();
    for (std::size_t index = 0; index < ops_.size(); ++index)
        if (ops_[index].gives_gray)
            first = index;
        else if (!ops_[index].keeps_gray)
            first = ops_.size();
    return first;
}

bool PointwisePass::gives_equal_channels() const {
    return shapes_.back().channels == 3 && first_equal_op() < ops_.size();
}

std::optional<GrayWeights> PointwisePass::gray_needed() const {
    const auto& method = ops_.front().needs_gray;
    if (!method || shapes_.front().channels != 3) return std::nullopt;
    return gray_weights(*method);
}

void PointwisePass::run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) {
    const bool gray = in.view.shape().channels == 1 && gray_needed();
    const int in_channels = gray ? 1 : shapes_.front().channels;
    validate_rows(in, shapes_.front().with_channels(in_channels), "the pass's input rows");
    const bool narrow = out.view.shape().channels == 1 && gives_equal_channels();
    validate_rows(out, shapes_.back().with_channels(narrow ? 1 : shapes_.back().channels), "the pass's output rows");
    const auto narrow_from = narrow ? first_equal_op() : ops_.size();
    std::uint8_t between[2][3 * stretch_px];
    for (int y = out.range().begin; y < out.range().end; ++y)
        for (std::int64_t x = 0; x < shapes_.front().width; x += stretch_px) {
            const auto pixels = std::min(stretch_px, shapes_.front().width - x);
            const auto* from = in.row(y) + x * in_channels;
            int channels = in_channels;
            for (std::size_t index = 0; index < ops_.size(); ++index) {
                const int to_channels = index >= narrow_from ? 1 : shapes_[index + 1].channels;
                auto* to = index + 1 == ops_.size() ? out.row(y) + x * to_channels : between[index % 2];
                ops_of_rows_[index].run(ops_of_rows_[index], {from, nullptr, channels, pixels, to, to_channels});
                from = to;
                channels = to_channels;
            }
        }
}

}  // namespace framewire
