#include "framewire/plan/planes_image.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/plan/channel_weights.hpp"

#include <fmt/format.h>

#include <utility>

namespace framewire {

// Weights convert planes to gray directly, without B, G and R in between.
HostView<const std::uint8_t> PlanesImage::convert(const HostYuv<const std::uint8_t>& picture, const ThreadPool& pool) {
    if (image_.shape().height == 0) image_ = HostImage(only_gray_ ? frame_.with_channels(1) : frame_);
    const YuvToImage convert(picture.info, frame_.channels, pool);
    if (only_gray_ && frame_.channels == 3) {
        const auto weights = channel_weights(gray_weights(GrayMethod::weighted));
        const ImageRows<std::uint8_t> rows(image_.view());
        pool.for_chunks(
            frame_.height, rows_in_cache(frame_.width), [&](std::int64_t, std::int64_t begin, std::int64_t end) {
                convert.run_rows(picture, rows.part({static_cast<int>(begin), static_cast<int>(end)}), weights);
            });
    } else {
        convert.run(picture, image_.view());
    }
    return std::as_const(image_).view();
}

PlannedStep stage_step(std::string operation, bool only_gray, const FrameFormat& from) {
    const bool gray = only_gray || from.shape().channels == 1;
    const auto had = from.planes() ? to_string(from.planes()->format) : to_string(from);
    const auto* const takes = gray ? "gray" : "BGR";
    return {std::move(operation), takes, had == takes ? "" : fmt::format("from {}", had)};
}

}  // namespace framewire
