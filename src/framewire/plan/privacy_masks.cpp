#include "framewire/plan/privacy_masks.hpp"
#include "framewire/core/error.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace framewire {
namespace {

// Throws Error{usage} unless the mask is a non-empty rectangle inside the picture.
void check_zone(const Zone& zone, const Shape& frame) {
    if (zone.x < 0 || zone.y < 0 || zone.width < 1 || zone.height < 1 || zone.x > frame.width - zone.width ||
        zone.y > frame.height - zone.height)
        fail(ErrorCode::usage, "the privacy mask {},{},{},{} is empty or outside the {}x{} frame", zone.x, zone.y,
             zone.width, zone.height, frame.width, frame.height);
}

// A cell of a picture, or the part of it that is inside its privacy mask.
struct CellRows {
    HostView<std::uint8_t> picture;
    int frame;
    Zone cell;

    std::uint8_t* row(int y) const {
        return picture.row(frame, cell.y + y) + std::int64_t{1} * cell.x * picture.shape().channels;
    }
};

// Fills a cell with its mean per channel, rounded half up.
template <int channels>
void fill_with_mean(const CellRows& rows) {
    const auto& cell = rows.cell;
    std::array<std::uint32_t, channels> sums{};
    for (int y = 0; y < cell.height; ++y) {
        const auto* bytes = rows.row(y);
        for (int x = 0; x < cell.width; ++x, bytes += channels)
            for (std::size_t channel = 0; channel < channels; ++channel) sums[channel] += bytes[channel];
    }
    // Rounds half up: (2 sum + n) / 2n.
    const auto pixels = static_cast<std::uint32_t>(cell.width) * static_cast<std::uint32_t>(cell.height);
    for (auto& sum : sums) sum = static_cast<std::uint32_t>((2 * std::uint64_t{sum} + pixels) / (2 * pixels));
    auto* first = rows.row(0);
    for (int x = 0; x < cell.width; ++x)
        for (std::size_t channel = 0; channel < channels; ++channel)
            first[x * channels + static_cast<int>(channel)] = static_cast<std::uint8_t>(sums[channel]);
    for (int y = 1; y < cell.height; ++y)
        std::memcpy(rows.row(y), first, static_cast<std::size_t>(cell.width) * channels);
}

}  // namespace

PrivacyMasks::PrivacyMasks(std::vector<Zone> mosaic, std::vector<Zone> black, const Shape& frame)
    : mosaic_(std::move(mosaic)), black_(std::move(black)), cell_px_(cell_px(frame)) {
    for (const auto* zones : {&mosaic_, &black_})
        for (const auto& zone : *zones) check_zone(zone, frame);
}

int PrivacyMasks::cell_px(const Shape& frame) { return std::max(16, std::max(frame.width, frame.height) / 40); }

// Hides the masks on the GPU if the source wrote the frame there, otherwise on the host before the upload.
void PrivacyMasks::run(Frame& frame, const Executor& executor) const {
    if (!frame.filled_on_gpu()) return run(frame.host());
    frame.upload();
    executor.in_its_space([&]<MemorySpace space>() {
        if constexpr (space == MemorySpace::device) run(frame.in<space>(), executor.stream());
    });
}

// Cells are aligned to the upper left corner of the mask; those at its right and lower edges are clipped.
void PrivacyMasks::run(HostView<std::uint8_t> picture) const {
    const auto& shape = picture.shape();
    const auto fill = shape.channels == 3 ? fill_with_mean<3> : fill_with_mean<1>;
    for (int frame = 0; frame < shape.frames; ++frame) {
        for (const auto& zone : mosaic_)
            for (int y = 0; y < zone.height; y += cell_px_)
                for (int x = 0; x < zone.width; x += cell_px_)
                    fill({picture,
                          frame,
                          {zone.x + x, zone.y + y, std::min(cell_px_, zone.width - x),
                           std::min(cell_px_, zone.height - y)}});
        for (const auto& zone : black_) {
            const CellRows rows{picture, frame, zone};
            for (int y = 0; y < zone.height; ++y)
                std::memset(rows.row(y), 0, static_cast<std::size_t>(std::int64_t{1} * zone.width * shape.channels));
        }
    }
}

}  // namespace framewire
