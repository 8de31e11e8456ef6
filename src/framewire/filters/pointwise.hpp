#pragma once

#include "framewire/cuda/buffer.hpp"
#include "framewire/filters/filter.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace framewire {

/// Adjacent pointwise filters of a chain fused into one pass: each pixel is read once, goes through all filters and is
/// written once. The result equals running the filters one by one.
///
/// A filter that needs the previous frame needs its own previous input. The caller keeps that as a state image; the
/// pass compares with it and updates it.
///
/// `in`, `out` and states: frames x height x width, any strides and alignment, no overlap.
class PointwisePass final : public RowFilter {
public:
    /// Maximum number of operations, and of operations that need the previous frame.
    static constexpr std::size_t max_ops = 8,  ///< operations in one pass
        max_states = 4;                        ///< operations that need the previous frame

    /// Takes 1 to max_ops operations, of which at most max_states need the previous frame. Throws Error{usage} on a
    /// shape that is not allowed, Error{internal} on too many operations.
    PointwisePass(std::vector<PointwiseOp> ops, const Shape& shape, Executor& executor);

    /// Shape of the result.
    Shape output_shape() const { return shapes_.back(); }
    /// Shapes of the state images, one for each operation that needs the previous frame, in order.
    std::vector<Shape> state_shapes() const;

    /// Applies other settings to the first `adjust` from the next run on; callable from any thread. Returns false if
    /// there is none. Throws Error{usage} on a setting that is not allowed and then changes nothing.
    bool set_adjustment(const Adjustment& adjustment);

    /// Statistics of the operation with this index, as its filter would report them after a run: a fixed binarize
    /// reports the `threshold` of each frame.
    std::vector<FilterFigure> figures(std::size_t index) const;

    /// Runs the pass on one batch. `first`: there is no previous frame, so each frame is compared with itself and the
    /// states' content is ignored. Returns when done.
    void run(HostView<const std::uint8_t> in, HostView<std::uint8_t> out,
             std::span<const HostView<std::uint8_t>> states, bool first) const;
    /// As above on the GPU; one launch, queued on the executor's stream.
    void run(DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out,
             std::span<const DeviceView<std::uint8_t>> states, bool first) const;

    /// Returns true if the pass runs by rows: on the CPU backend, one frame at a time, if no operation needs the
    /// previous frame.
    bool goes_by_rows() const;
    void begin_rows() override;
    bool gives_equal_channels() const override;
    std::optional<GrayWeights> gray_needed() const override;
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) override;

private:
    // Throws Error if images or states do not have the plan's shapes.
    template <MemorySpace space>
    void validate_images(View<const std::uint8_t, space> in, View<std::uint8_t, space> out,
                         std::span<const View<std::uint8_t, space>> states) const;
    // One operation, or all of them, with the settings in force.
    PointwiseOp op_now(std::size_t index) const;
    std::array<PointwiseOp, max_ops> ops_now() const;
    // The first op from which on one channel stands for three equal ones; the number of ops if there is none.
    std::size_t first_equal_op() const;
    // Index of a filter's code in the kernel; -1 if there is none.
    static int number_on_device(std::string_view filter);

    std::vector<PointwiseOp> ops_;                  // as planned
    std::array<PointwiseOp, max_ops> ops_of_rows_;  // with the settings of the frame that is being made by rows
    std::vector<int> device_numbers_;               // CUDA: indices of the operations' code
    std::vector<Shape> shapes_;                     // before each operation, and after the last
    std::size_t first_adjust_;                      // index in ops_; their number if there is none
    std::atomic<AdjustTerms> adjusted_;             // terms of that adjust now in force
    Executor* executor_;
    cuda::DeviceBuffer heatmap_table_;  // CUDA only
};

}  // namespace framewire
