#include "framewire/hog/hog.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/filters/binarize/threshold.hpp"
#include "framewire/hog/hog_arithmetic.hpp"
#include "framewire/hog/hog_scratch.hpp"
#include "framewire/hog/spread/spread.hpp"

#include <algorithm>

namespace framewire {
namespace {

// Returns the shape of what the norm reads: cells, or with spread votes the descriptors themselves.
HogShape shape_of_cells(const HogParameters& parameters, const Shape& frames) {
    if (parameters.gradient == HogGradient::central) return hog_shape(parameters, frames);
    return {frames.frames, frames.height / parameters.cell, frames.width / parameters.cell, parameters.bins};
}

}  // namespace

// The cells' parameters come first, then those of the norm.
const ParameterFields<HogParameters>& hog_fields() {
    using P = HogParameters;
    static const ParameterFields<P> fields = {
        parameter_field(&P::gradient, hog_gradient_names,
                        {.name = "gradient",
                         .help = "sobel as in the report, or central differences with votes spread over neighbouring "
                                 "cells, as Dalal and Triggs's: models miss 18 % of INRIA's crops instead of 38 %"}),
        parameter_field(
            &P::cell,
            {.name = "cell", .help = "side of a cell in pixels", .minimum = 4, .maximum = hog_most_cell, .unit = "PX"}),
        parameter_field(
            &P::bins,
            {.name = "bins", .help = "directions of a cell", .minimum = 2, .maximum = hog_most_bins, .unit = "N"}),
        parameter_field(
            &P::signed_gradients,
            {.name = "signed", .help = "tell dark to bright from bright to dark: bins of the whole circle"}),
        parameter_field(&P::norm, hog_norm_names,
                        {.name = "norm", .help = "of each block of cells; l2hys is Dalal and Triggs's"}),
        parameter_field(&P::block, {.name = "block",
                                    .help = "side of a block in cells; with a norm",
                                    .minimum = 1,
                                    .maximum = hog_most_block,
                                    .unit = "N"}),
    };
    return fields;
}

// `block` is ignored without a norm, so it is not checked then.
HogShape hog_shape(const HogParameters& parameters, const Shape& frames) {
    validate(frames, "hog's image");
    const bool normed = parameters.norm != HogNorm::none;
    auto read = parameters;
    if (!normed) read.block = HogParameters{}.block;
    hog_fields().check(read, "hog");
    const HogShape cells{frames.frames, frames.height / parameters.cell, frames.width / parameters.cell,
                         parameters.bins};
    const int block = normed ? parameters.block : 1, side_px = block * parameters.cell;
    if (cells.rows < block || cells.columns < block)
        fail(ErrorCode::usage, "hog's image is {}, smaller than a {} of {}x{} pixels", to_string(frames),
             block == 1 ? "cell" : "block", side_px, side_px);
    return {cells.frames, cells.rows - block + 1, cells.columns - block + 1, block * block * cells.values};
}

// Memory for all frames: gray images, counts of gray levels per band, gamma tables and, with a norm, the cells
// that it reads.
Hog::Hog(const HogParameters& parameters, const Shape& frames, Executor& executor)
    : parameters_(parameters),
      shape_(frames),
      cells_shape_(shape_of_cells(parameters, (hog_shape(parameters, frames), frames))),
      output_shape_(hog_shape(parameters, frames)),
      executor_(&executor) {
    if (parameters.gradient == HogGradient::central) spread_ = std::make_shared<HogSpread>(parameters, executor);
    const bool on_cpu = executor.backend() == Backend::cpu;
    if (on_cpu) {
        row_stride_bytes_ = hog_cpu_row_stride_bytes(frames.width);
        // About two bands per thread, over all frames.
        bands_ = std::clamp((2 * executor.pool().threads() + frames.frames - 1) / frames.frames, 1, frames.height);
    } else {
        row_stride_bytes_ = hog_cuda_row_stride_bytes(frames.width);
        bands_ = hog_cuda_bands(row_stride_bytes_, frames);
    }
    const auto count = static_cast<std::size_t>(frames.frames);
    const auto band_bytes = on_cpu ? sizeof(Histogram) : sizeof(HogBandCounts);
    gray_ = BackendBuffer(static_cast<std::size_t>(row_stride_bytes_ * frames.rows()), executor);
    if (goes_by_rows()) levels_ = std::make_shared<HogLevels>();
    counts_ = BackendBuffer(count * static_cast<std::size_t>(bands_) * band_bytes, executor);
    tables_ = BackendBuffer(count * 256, executor);
    if (parameters.norm != HogNorm::none) cells_ = BackendBuffer(cells_shape_.bytes() + hog_vector_bytes, executor);
}

bool Hog::goes_by_rows() const {
    return executor_->backend() == Backend::cpu && shape_.frames == 1 && shape_.channels == 3;
}

void Hog::check(const HogShape& out) const {
    if (out != output_shape_)
        fail(ErrorCode::usage, "hog's descriptors are {} x {} x {} x {}; needed are {} x {} x {} x {}", out.frames,
             out.rows, out.columns, out.values, output_shape_.frames, output_shape_.rows, output_shape_.columns,
             output_shape_.values);
}

}  // namespace framewire
