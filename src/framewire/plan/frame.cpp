#include "framewire/plan/frame.hpp"
#include "framewire/detect/mixture.hpp"
#include "framewire/filters/gray.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

namespace framewire {
namespace {

// Size of a buffer on the stack of the thread that makes the rows. It holds at least one row of the largest image.
constexpr int cached_bytes = 64 * 1024;
static_assert(cached_bytes >= 3 * max_side_px);

// Makes the rows of the range in a stack buffer and calls body(row, y) for each of them.
template <class Body>
void for_cached_rows(const MakeRows& make, const RowRange& range, int width, int channels, Body&& body) {
    alignas(64) std::uint8_t memory[cached_bytes];
    const int rows_each = cached_bytes / (width * channels);
    for (int begin = range.begin; begin < range.end; begin += rows_each) {
        const int count = std::min(rows_each, range.end - begin);
        const ImageRows<std::uint8_t> rows({memory, {1, count, width, channels}}, begin);
        make(rows);
        for (int y = begin; y < begin + count; ++y) body(rows.row(y), y);
    }
}

}  // namespace

std::shared_ptr<const YuvPicture> FramePlanes::download() {
    if (executor_->backend() == Backend::cuda) {
        const auto& info = result_->info();
        const DeviceYuv<const std::uint8_t> from = on_gpu(to_, info);
        transfer_.down([&](const cuda::Stream& stream) {
            for (int plane = 0; plane < info.planes(); ++plane)
                cuda::download(image_of_plane(from, plane), image_of_plane(result_->view(), plane), stream);
        });
    }
    return std::exchange(result_, nullptr);
}

DeviceYuv<const std::uint8_t> FramePlanes::upload(const HostYuv<const std::uint8_t>& picture) {
    const auto& info = picture.info;
    if (!pinned_ || pinned_->info() != info) pinned_ = std::make_unique<YuvPicture>(info, executor_->frame_memory());
    const auto to = on_gpu(from_, info);
    for (int plane = 0; plane < info.planes(); ++plane)
        copy(image_of_plane(picture, plane), image_of_plane(pinned_->view(), plane));
    transfer_.up([&](const cuda::Stream& stream) {
        for (int plane = 0; plane < info.planes(); ++plane)
            cuda::upload(image_of_plane(std::as_const(*pinned_).view(), plane), image_of_plane(to, plane), stream);
    });
    return to;
}

DeviceYuv<std::uint8_t> FramePlanes::on_gpu(cuda::DeviceBuffer& buffer, const YuvInfo& info) {
    const auto bytes = static_cast<std::size_t>(info.frame_bytes());
    if (buffer.bytes() < bytes) buffer = cuda::DeviceBuffer(bytes);
    return {buffer.data(), info};
}

MakeRows gray_rows(const MakeRows& make, int channels) {
    return [&make, channels](const ImageRows<std::uint8_t>& gray) {
        const int width = gray.view.shape().width;
        for_cached_rows(make, gray.range(), width, channels, [&](const std::uint8_t* row, int y) {
            gray_span(GrayMethod::weighted, row, channels, width, 1, gray.row(y));
        });
    };
}

// Channels are separated immediately after their rows were made, while the rows are in the cache.
MakeChannelRows channel_rows(const MakeRows& make, int width, int channels) {
    return [&make, width, channels](const ChannelRows& apart) {
        for_cached_rows(make, apart.range, width, channels,
                        [&](const std::uint8_t* row, int y) { split_channels(row, width, channels, apart, y); });
    };
}

}  // namespace framewire
