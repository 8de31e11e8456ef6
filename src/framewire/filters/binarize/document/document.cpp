#include "framewire/filters/binarize/document/document.hpp"

#include <algorithm>
#include <utility>

// The steps of Document, each of which is a filter of its own or divide(). See document.hpp for the method.

namespace framewire {
namespace {

// Returns the shape of the gray image. Throws Error{usage} on a window that is not allowed.
Shape checked_document(const DocumentParameters& parameters, const Shape& shape) {
    if (parameters.window % 2 == 0 || parameters.window < 3 || parameters.window > max_document_window)
        fail(ErrorCode::usage, "window {} for method=document; allowed are odd numbers from 3 to {}", parameters.window,
             max_document_window);
    return shape.with_channels(1);
}

}  // namespace

// The close and the mean work on one channel. The division writes as many channels as the image has, so that the final
// threshold needs no conversion.
Document::Document(DocumentParameters parameters, const Shape& shape, Executor& executor)
    : shape_(shape),
      executor_(&executor),
      close_({.operation = MorphologyOperation::close, .size = parameters.window, .shape = ElementShape::rect},
             checked_document(parameters, shape), executor),
      mean_({.size = parameters.window}, shape.with_channels(1), executor),
      binarize_({.method = ThresholdMethod::ink}, shape, executor),
      closed_(shape.with_channels(1), executor),
      paper_(shape.with_channels(1), executor),
      left_(shape, executor) {
    if (shape.channels == 1) return;
    gray_.emplace(GrayParameters{.channels = 1}, shape, executor);
    gray_image_ = BackendImage(shape.with_channels(1), executor);
}

// Runs the steps on either backend; the intermediate images live there.
template <MemorySpace space>
void Document::run_steps(const FilterImages<space>& images) {
    validate(images.in, shape_, "binarize's image");
    auto gray = images.in;
    if (gray_) {
        gray_->run(FilterImages<space>{images.in, {}, gray_image_.view<space>()});
        gray = std::as_const(gray_image_).view<space>();
    }
    close_.run(FilterImages<space>{gray, {}, closed_.view<space>()});
    mean_.run(FilterImages<space>{std::as_const(closed_).view<space>(), {}, paper_.view<space>()});
    divide(gray, std::as_const(paper_).view<space>(), left_.view<space>());
    binarize_.run(FilterImages<space>{std::as_const(left_).view<space>(), {}, images.out});
}

void Document::run(const FilterImages<MemorySpace::host>& images) { run_steps(images); }

void Document::run(const FilterImages<MemorySpace::device>& images) {
    if constexpr (cuda::compiled) run_steps(images);
}

// A division per pixel on the CPU's threads; small compared with the close and the mean.
void Document::divide(HostView<const std::uint8_t> gray, HostView<const std::uint8_t> paper,
                      HostView<std::uint8_t> left) const {
    constexpr std::int64_t rows_at_once = 16;
    executor_->pool().for_chunks(shape_.rows(), rows_at_once, [&](std::int64_t, std::int64_t begin, std::int64_t end) {
        for (std::int64_t row = begin; row < end; ++row) {
            const auto frame = static_cast<int>(row / shape_.height), y = static_cast<int>(row % shape_.height);
            const auto *ink = gray.row(frame, y), *light = paper.row(frame, y);
            auto* out = left.row(frame, y);
            for (int x = 0; x < shape_.width; ++x, out += shape_.channels)
                std::fill_n(out, shape_.channels, light_left(ink[x], light[x]));
        }
    });
}

}  // namespace framewire
