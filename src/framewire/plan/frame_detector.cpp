#include "framewire/plan/frame_detector.hpp"
#include "framewire/plan/frame.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>

namespace framewire {

// Objects and masks are downloaded separately, so this waits for both.
void FrameObjects::wait() {
    objects_.wait();
    mask_transfer_.wait();
}

FrameDetector::FrameDetector(const DetectorParameters& parameters, const Shape& frame, Executor& executor,
                             std::optional<MaskRegion> region, bool with_masks)
    : executor_(&executor),
      region_(std::move(region)),
      with_masks_(with_masks),
      detector_(parameters, frame, executor, region_ ? &*region_ : nullptr),
      planes_image_(frame, detector_.needs_only_gray()) {}

FrameObjects FrameDetector::make_objects() const {
    FrameObjects objects;
    objects.objects_ = detector_.make_objects();
    if (!with_masks_) return objects;
    objects.mask_ = cuda::MirroredBuffer<BitMask>(*executor_, detector_.shape());
    objects.mask_transfer_ = cuda::Transfer(*executor_);
    return objects;
}

// The detector writes the objects directly to the lists of `objects`.
void FrameDetector::start(Frame& frame, FrameObjects& objects) {
    executor_->in_its_space([&]<MemorySpace space>() {
        detector_.run(frame.in<space>(), objects.objects_.lists<space>());
        keep<space>(objects);
    });
}

void FrameDetector::start(const HostYuv<const std::uint8_t>& picture, FrameObjects& objects) {
    detector_.run(planes_image_.convert(picture, executor_->pool()), objects.objects_.lists<MemorySpace::host>());
    keep<MemorySpace::host>(objects);
}

// Starts the download of the objects. If masks are kept, also copies the mask and starts its download.
template <MemorySpace space>
void FrameDetector::keep(FrameObjects& objects) {
    if constexpr (space == MemorySpace::device)
        executor_->step("download", [&] { objects.objects_.download(); });
    else
        objects.objects_.download();
    if (!with_masks_) return;
    // The mask is copied, because the next frame overwrites the detector's own one.
    const auto bytes = bit_mask_bytes(detector_.shape());
    const auto* const found = detector_.mask<space>().data();
    auto* const kept = objects.mask_.in<space>().view().data();
    if constexpr (space == MemorySpace::host)
        std::memcpy(kept, found, bytes);
    else
        cuda::copy(found, kept, bytes, executor_->stream());
    objects.mask_transfer_.down(
        [&](const cuda::Stream& stream) { cuda::download(kept, objects.mask_.host().view().data(), bytes, stream); });
}

namespace {

// Extent of a box along one axis. `along` and `across` say how far this axis moves per pixel of the box's width and
// height.
struct Extent {
    int begin, end;

    Extent(double start, double along, int width, double across, int height, int most) {
        const double a = along * width, b = across * height;
        const auto nearest = [most](double at) {
            return static_cast<int>(std::clamp(std::floor(at + 0.5), 0.0, static_cast<double>(most)));
        };
        begin = nearest(start + std::min(a, 0.0) + std::min(b, 0.0));
        end = nearest(start + std::max(a, 0.0) + std::max(b, 0.0));
    }
};

}  // namespace

// A map of positions turns a box into a parallelogram; the result is the bounding box of that parallelogram.
void move_objects(std::span<const Component> objects, const PlaneMap& map, const Shape& shape,
                  std::vector<Component>& moved) {
    moved.clear();
    const double growth = std::abs(map.xx * map.yy - map.xy * map.yx);
    for (const auto& object : objects) {
        const Extent across(map.xx * object.x + map.xy * object.y + map.x0, map.xx, object.width, map.xy, object.height,
                            shape.width);
        const Extent down(map.yx * object.x + map.yy * object.y + map.y0, map.yx, object.width, map.yy, object.height,
                          shape.height);
        if (across.begin >= across.end || down.begin >= down.end) continue;
        auto to = object;
        to.x = across.begin;
        to.y = down.begin;
        to.width = across.end - across.begin;
        to.height = down.end - down.begin;
        const double most = static_cast<double>(to.width) * to.height;
        to.area = static_cast<std::int32_t>(std::clamp(std::floor(object.area * growth + 0.5), 1.0, most));
        // The sums add pixel numbers, which are half a pixel less than the pixel centres.
        const double x = static_cast<double>(object.sum_x) / object.area + 0.5;
        const double y = static_cast<double>(object.sum_y) / object.area + 0.5;
        to.sum_x = std::llround((map.xx * x + map.xy * y + map.x0 - 0.5) * to.area);
        to.sum_y = std::llround((map.yx * x + map.yy * y + map.y0 - 0.5) * to.area);
        moved.push_back(to);
    }
}

// Objects keep their ids, which are unique in a frame.
void move_tracks(std::span<const Track> tracks, std::span<const Component> objects,
                 std::span<const Component> moved_objects, const PlaneMap& map, const Shape& shape,
                 std::vector<Track>& moved) {
    moved.assign(tracks.begin(), tracks.end());
    const auto clip = [](double& start, double& length, int most) {
        const double end = std::clamp(start + length, 0.0, static_cast<double>(most));
        start = std::clamp(start, 0.0, static_cast<double>(most));
        length = end - start;
    };
    for (auto& track : moved) {
        move_box(track, map);
        clip(track.x, track.width, shape.width);
        clip(track.y, track.height, shape.height);
        const double across = track.velocity_x, down = track.velocity_y;
        track.velocity_x = map.xx * across + map.xy * down;
        track.velocity_y = map.yx * across + map.yy * down;
        if (track.object < 0) continue;
        const auto id = objects[static_cast<std::size_t>(track.object)].id;
        const auto found = std::ranges::find(moved_objects, id, &Component::id);
        track.object = found == moved_objects.end() ? -1 : static_cast<int>(found - moved_objects.begin());
    }
}

}  // namespace framewire
