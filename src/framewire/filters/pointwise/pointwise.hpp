#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/filters/pointwise/op.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace framewire {

/// Neighbouring pointwise filters of a chain as one pass: each pixel is read once, goes through all of them and is
/// written once. The result equals the filters' one by one. What a filter needs of the frame before it, its own input
/// then, the owner keeps as a state image; the pass compares with it and updates it on the way. In and out: any
/// strides, any alignment, no overlap; frames x height x width.
class PointwisePass final : public RowFilter {
public:
    static constexpr std::size_t max_ops = 8, max_states = 4;

    /// 1 to max_ops, with at most max_states that need the previous frame. Throws Error{usage} on a shape that is not
    /// allowed.
    PointwisePass(std::vector<PointwiseOp> ops, const Shape& shape, Executor& executor);

    Shape output_shape() const { return shapes_.back(); }
    /// The shapes of the state images, one for each op that needs the previous frame.
    std::vector<Shape> state_shapes() const;

    /// Takes other settings for the first adjust from the next run on, from any thread; false where there is none.
    /// Throws Error{usage} on a setting that is not allowed, with nothing changed.
    bool set_adjustment(const Adjustment& adjustment);

    /// What the filter with this number among the ops would tell of a run: a fixed binarize its `threshold` of each
    /// frame.
    std::vector<FilterFigure> figures(std::size_t index) const;

    /// `first`: there is no frame before, each is compared with itself; the states' content does not matter. Host: on
    /// the executor's threads, returns when done. Device: queued on the executor's stream, one launch.
    void run(HostView<const std::uint8_t> in, HostView<std::uint8_t> out,
             std::span<const HostView<std::uint8_t>> states, bool first) const;
    void run(DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out,
             std::span<const DeviceView<std::uint8_t>> states, bool first) const;

    /// Whether it goes by rows: on the CPU backend, without a frame before.
    bool goes_by_rows() const;
    void begin_rows() override;
    bool gives_equal_channels() const override;
    std::optional<GrayWeights> gray_needed() const override;
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) override;

private:
    template <MemorySpace space>
    void validate_images(View<const std::uint8_t, space> in, View<std::uint8_t, space> out,
                         std::span<const View<std::uint8_t, space>> states) const;
    // An op with the settings that hold now, and all of them.
    PointwiseOp op_now(std::size_t index) const;
    std::array<PointwiseOp, max_ops> ops_now() const;
    // The first op from which on one channel stands for three equal ones; their number where there is none.
    std::size_t first_equal_op() const;
    // The number of a filter's code among those of the kernel; -1 where there is none.
    static int number_on_device(std::string_view filter);

    std::vector<PointwiseOp> ops_;                  // as planned
    std::array<PointwiseOp, max_ops> ops_of_rows_;  // for the frame that is made by rows
    std::vector<int> device_numbers_;               // of their code, on the CUDA backend
    std::vector<Shape> shapes_;                     // before each op, and after the last
    std::size_t first_adjust_;                      // among ops_; their number where there is none
    std::atomic<AdjustTerms> adjusted_;             // its terms now
    Executor* executor_;
    cuda::DeviceBuffer heatmap_table_;  // on the CUDA backend
};

}  // namespace framewire
