#include "framewire/hog/steps/steps.hpp"

#include "framewire/filters/binarize/gray_histogram.hpp"
#include "framewire/filters/gray/gray.hpp"
#include "framewire/hog/hog_cpu.hpp"
#include "framewire/hog/hog_scratch.hpp"

#include <algorithm>

namespace framewire {

// Allocates rows padded as on the frame path, so that the same functions can be used.
HogSteps hog_steps(HostView<const std::uint8_t> frame, bool signed_gradients, HogGradient gradient) {
    validate(frame, frame.shape().with_frames(1), "hog's image");
    const auto shape = frame.shape().with_channels(1);
    const auto pixels = static_cast<std::size_t>(shape.bytes());
    HogSteps steps{HostImage(shape), HostImage(shape), {}, {}, {}, {}};
    for (int y = 0; y < shape.height; ++y)
        gray_span(GrayMethod::weighted, frame.row(0, y), frame.shape().channels, shape.width, 1,
                  steps.gray.view().row(0, y));
    Histogram histogram;
    count_gray(steps.gray.view(), 0, shape.height, nullptr, 0, histogram);
    const auto table = hog_gamma_table(hog_levels(histogram));

    const auto stride = hog_cpu_row_stride_bytes(shape.width);
    std::vector<std::uint8_t> padded(static_cast<std::size_t>(stride * shape.height));
    const auto row = [&](int y) {
        return padded.data() + std::clamp(y, 0, shape.height - 1) * stride + hog_cpu_row_begin;
    };
    for (int y = 0; y < shape.height; ++y) {
        hog_gamma_row(steps.gray.view().row(0, y), shape.width, table.data(), row(y));
        std::copy_n(row(y), shape.width, steps.gamma.view().row(0, y));
    }

    constexpr std::size_t room = 64;  // values that a row's last vector writes after its end
    steps.gx.resize(pixels + room);
    steps.gy.resize(pixels + room);
    steps.magnitude.resize(pixels + room);
    steps.direction.resize(pixels + room);
    // With one bin per degree, positions are degrees.
    const auto ring = hog_ring(signed_gradients ? 360 : 180, signed_gradients);
    for (int y = 0; y < shape.height; ++y) {
        const auto at = std::int64_t{y} * shape.width;
        hog_gradient_row(
            row(y - 1), row(y), row(y + 1), shape.width, gradient, ring,
            {steps.gx.data() + at, steps.gy.data() + at, steps.magnitude.data() + at, steps.direction.data() + at});
    }
    steps.gx.resize(pixels);
    steps.gy.resize(pixels);
    steps.magnitude.resize(pixels);
    steps.direction.resize(pixels);
    return steps;
}

}  // namespace framewire
