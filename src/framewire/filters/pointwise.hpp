#pragma once

#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/filters/filter.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace framewire {

/// Adjacent pointwise filters of a chain fused into one pass: each pixel is read once, goes through all filters and is
/// written once. The result equals that of running the filters one by one.
///
/// A filter that needs the previous frame needs its own input from that frame. The pass keeps this input as a state
/// image, which it updates while it compares with it; FilterImages::previous is not used.
///
/// Images are frames x height x width, with any strides and alignment. They must not overlap.
class PointwisePass final : public Filter {
public:
    /// Limits of a pass.
    static constexpr std::size_t max_ops = 8,  ///< maximum number of operations
        max_states = 4;                        ///< maximum number of operations that need the previous frame

    /// Takes 1 to max_ops operations, of which at most max_states need the previous frame. Throws Error{usage} if the
    /// shape is not allowed, Error{internal} if there are too many operations.
    PointwisePass(std::vector<PointwiseOp> ops, const Shape& shape, Executor& executor);

    /// Returns the shape of the result.
    Shape output_shape() const override { return shapes_.back(); }
    /// Returns the shapes of the state images, one for each operation that needs the previous frame, in order.
    std::vector<Shape> state_shapes() const;

    /// Applies other settings to the first `adjust` from the next run on. May be called from any thread. Returns false
    /// if the pass has no `adjust`. If a setting is not allowed, throws Error{usage} and changes nothing.
    bool set_adjustment(const Adjustment& adjustment) override;

    /// Returns the statistics of the operations, as their filters would report them after a run: a fixed binarize
    /// reports the `threshold` of each frame.
    std::vector<FilterFigure> figures() const override;

    void run(const FilterImages<MemorySpace::host>& images) override;
    /// Runs the pass in one launch.
    void run(const FilterImages<MemorySpace::device>& images) override;
    bool is_settled() const override { return has_previous_ || states_.empty(); }

    /// Returns true on the CPU backend, one frame at a time, if no operation needs the previous frame.
    bool works_by_rows() const override;
    void begin_rows() override;
    bool gives_equal_channels() const override;
    std::optional<GrayWeights> gray_needed() const override;
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) override;

private:
    void run_on_device(const FilterImages<MemorySpace::device>& images);
    // Returns one operation, or all of them, with the settings in force.
    PointwiseOp op_now(std::size_t index) const;
    std::array<PointwiseOp, max_ops> ops_now() const;
    // Returns the first op from which on one channel represents three equal ones, or the number of ops if there is
    // none.
    std::size_t first_equal_op() const;
    // Returns the index of a filter's code in the kernel, or -1 if there is none.
    static int number_on_device(std::string_view filter);

    std::vector<PointwiseOp> ops_;                  // as planned
    std::array<PointwiseOp, max_ops> ops_of_rows_;  // with the settings of the frame whose rows are being computed
    std::vector<int> device_numbers_;               // CUDA only: indices of the operations' code
    std::vector<Shape> shapes_;                     // shapes before each operation and after the last one
    // Index of the first adjust in ops_; the number of ops if there is none.
    std::size_t first_adjust_;
    std::atomic<AdjustTerms> adjusted_;  // terms of the first adjust that are in force
    Executor* executor_;
    std::vector<BackendImage> states_;
    bool has_previous_ = false;         // the states hold the previous frame
    cuda::DeviceBuffer heatmap_table_;  // CUDA only
};

}  // namespace framewire
