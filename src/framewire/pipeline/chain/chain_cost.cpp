#include "framewire/pipeline/chain/chain_cost.hpp"

#include "framewire/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace framewire {
namespace {

// `median=255`, the slowest filter, takes 56 ns per pixel on one core (measured 2026-11-28, 1920x1080, AVX2).
constexpr double slowest_seconds_per_pixel = 60e-9;

// Upper bound for what a filter's plan keeps besides its images and the previous frame, in bytes per pixel of the
// larger of its input and its result. `boxes` keeps the model of a background. The tests hold all filters to it.
std::int64_t scratch_bytes_per_pixel(const FilterInfo& filter) { return filter.name == "boxes" ? 64 : 12; }

std::int64_t pixels_of(const Shape& shape) { return std::int64_t{shape.frames} * shape.height * shape.width; }

// Returns the shape of a filter's result. Errors name the place in the text of the chain.
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
