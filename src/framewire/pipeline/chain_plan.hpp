#pragma once

#include "framewire/core/buffer.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/filters/filter.hpp"
#include "framewire/pipeline/chain.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace framewire {

/// A filter chain ready to run on frames of one shape: the filters' plans, what lies between them, and the previous
/// frames of those filters that need one. Not for two threads at once.
class ChainPlan {
public:
    /// `frame` may be a batch, which is then as many streams side by side. Keeps a reference to `executor` and nothing
    /// of `chain`. Throws Error{usage}, with the place in the chain's text, where a filter does not take what the one
    /// before it gives.
    ChainPlan(const Chain& chain, const Shape& frame, Executor& executor);

    /// True when there is no filter: runs copy, and whoever can do without the copy may skip them.
    bool empty() const { return steps_.empty(); }
    const Shape& input_shape() const { return input_shape_; }
    const Shape& output_shape() const { return output_shape_; }

    /// The next frame through all filters. Any strides; no overlap. Allocates nothing. Host: returns when done. Device:
    /// queued on the executor's stream. Throws Error{usage} on other shapes, Error{internal} on the other backend's
    /// memory.
    void run(HostView<const std::uint8_t> in, HostView<std::uint8_t> out);
    void run(DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out);

private:
    // Bytes in the memory of the executor's backend.
    class Memory {
    public:
        Memory() = default;
        Memory(std::int64_t bytes, const Executor& executor);
        std::uint8_t* data() const { return host_.data() ? host_.data() : device_.data(); }

    private:
        HostBuffer host_;
        cuda::DeviceBuffer device_;
    };

    struct Step {
        std::unique_ptr<Filter> filter;
        Shape input, output;
        bool needs_previous = false;
        bool has_previous = false;
        Memory previous;
    };

    template <MemorySpace space>
    void run_in(View<const std::uint8_t, space> in, View<std::uint8_t, space> out);
    void copy_image(HostView<const std::uint8_t> from, HostView<std::uint8_t> to) const;
    void copy_image(DeviceView<const std::uint8_t> from, DeviceView<std::uint8_t> to) const;

    Executor* executor_;
    Shape input_shape_, output_shape_;
    std::vector<Step> steps_;
    std::array<Memory, 2> between_;  // results on their way to the next filter, in turns
};

}  // namespace framewire
