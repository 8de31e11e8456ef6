// fw_detector and fw_tracker.

#include "framewire/detect/detector.hpp"
#include "framewire/c/boundary.hpp"
#include "framewire/c/boxes.hpp"
#include "framewire/c/image.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/detect/masks.hpp"
#include "framewire/detect/tracker.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

using namespace framewire;

namespace {

DetectorParameters detector_parameters_from(const char* text, double rate) {
    if (!(rate >= 0 && rate <= 1000)) c::check_range(rate, 0.0, 1000.0, "rate");
    auto parameters = parse_detector(c::text_or_empty(text));
    if (const auto* image = std::get_if<BackgroundImage>(&parameters.background))
        fail(ErrorCode::usage,
             "the picture '{}' cannot be a background here; allowed: adaptive, mixture, mean:RATE and first, or "
             "method=report and fw_detector_set_background()",
             image->path);
    return at_rate(std::move(parameters), rate);
}

}  // namespace

struct fw_detector {
    fw_detector(const char* text, const fw_image* image, double rate, const fw_settings* settings)
        : format(c::shape_of(image, "image")),
          worker(settings),
          parameters(detector_parameters_from(text, rate)),
          detector(parameters, format.shape(), worker.executor()) {}

    bool uses_gpu() const { return worker.uses_gpu(); }

    void process(const fw_image* image, void* stream) {
        const c::CallerImage from(image, format, "image");
        from.require_reach(worker.executor());
        worker.executor().in_its_space([&]<MemorySpace space>() {
            worker.run(stream, from.on_device(), true,
                       [&] { detector.run(staged.read<space>(from, format, worker.executor()).image); });
        });
        has_run = true;
        boxes.take(detector.fetch().of_frame());
    }

    void set_region(const fw_image* image) {
        std::unique_ptr<MaskRegion> changed;
        if (image)
            changed = std::make_unique<MaskRegion>(c::host_view(image, format.shape().with_channels(1), "region"),
                                                   worker.executor());
        make_again(parameters, std::move(changed), picture ? std::optional(picture->view()) : std::nullopt);
    }

    void set_background(const fw_image* image) {
        auto changed = parameters;
        if (std::holds_alternative<FirstFrame>(changed.background))
            changed.background = BackgroundImage{};
        else if (!std::holds_alternative<BackgroundImage>(changed.background))
            c::refuse("the detector learns its background; make it with method=report");
        const int channels = c::shape_of(image, "picture").channels;
        const auto given = c::host_view(image, format.shape().with_channels(channels), "picture");
        HostImage kept(given.shape());
        copy(given, kept.view());
        make_again(changed, std::move(region), given);
        parameters = changed;
        picture = std::move(kept);
    }

    FrameFormat format;
    c::Worker worker;
    DetectorParameters parameters;
    std::unique_ptr<MaskRegion> region;  // empty: everywhere
    std::optional<HostImage> picture;    // the background, if the caller has set it
    MotionDetector detector;
    c::Staging staged;
    c::Boxes boxes;
    bool has_run = false;

private:
    // Leaves everything as it was if it fails.
    void make_again(const DetectorParameters& changed, std::unique_ptr<MaskRegion>&& changed_region,
                    std::optional<HostView<const std::uint8_t>> background) {
        MotionDetector made(changed, format.shape(), worker.executor(), changed_region.get());
        if (background) made.set_background(*background);
        detector = std::move(made);
        region = std::move(changed_region);
        has_run = false;
    }
};

fw_status fw_detector_create(fw_detector** detector, const char* text, const fw_image* image, double rate,
                             const fw_settings* settings) {
    return c::create(__func__, detector, "detector",
                     [&] { return std::make_unique<fw_detector>(text, image, rate, settings); });
}

void fw_detector_destroy(fw_detector* detector) { c::destroy(__func__, detector); }

fw_status fw_detector_process(fw_detector* detector, const fw_image* image, void* stream, const fw_box** boxes,
                              size_t* count) {
    return c::guard(__func__, [&] {
        auto& running = c::at(detector, "detector");
        c::at(boxes, "boxes") = nullptr;
        c::at(count, "count") = 0;
        running.process(image, stream);
        running.boxes.store(boxes, count);
    });
}

fw_status fw_detector_mask(fw_detector* detector, const fw_image* mask) {
    return c::guard(__func__, [&] {
        auto& asked = c::at(detector, "detector");
        const c::CallerImage to(mask, FrameFormat(asked.format.shape().with_channels(1)), "mask");
        to.require_host();
        if (!asked.has_run) c::refuse("there is no mask before the first image");
        if (asked.uses_gpu()) c::keep_current_gpu();
        asked.detector.fetch_mask(to.view<std::uint8_t, MemorySpace::host>().image);
    });
}

fw_status fw_detector_reset(fw_detector* detector) {
    return c::guard(__func__, [&] {
        auto& reset = c::at(detector, "detector");
        if (reset.uses_gpu()) c::keep_current_gpu();
        reset.detector.reset();
    });
}

fw_status fw_detector_set_region(fw_detector* detector, const fw_image* region) {
    return c::guard(__func__, [&] { c::at(detector, "detector").set_region(region); });
}

fw_status fw_detector_set_background(fw_detector* detector, const fw_image* picture) {
    return c::guard(__func__, [&] { c::at(detector, "detector").set_background(picture); });
}

struct fw_tracker {
    fw_tracker(const char* text, int32_t width, int32_t height)
        : tracker(parse_tracker(c::text_or_empty(text)), width, height) {}

    void update(std::span<const fw_box> boxes, double seconds) {
        components.clear();
        for (const auto& box : boxes) components.push_back(c::component_of(box));
        const auto found = tracker.update(components, seconds);
        tracks.clear();
        for (const auto& track : found)
            tracks.push_back({track.id, track.x, track.y, track.width, track.height, track.velocity_x, track.velocity_y,
                              track.age_s, track.unseen_s, track.object});
    }

    Tracker tracker;
    std::vector<Component> components;
    std::vector<fw_track> tracks;
};

fw_status fw_tracker_create(fw_tracker** tracker, const char* text, int32_t width, int32_t height) {
    return c::create(__func__, tracker, "tracker", [&] {
        c::check_range<std::int32_t>(width, 1, max_side_px, "width");
        c::check_range<std::int32_t>(height, 1, max_side_px, "height");
        return std::make_unique<fw_tracker>(text, width, height);
    });
}

void fw_tracker_destroy(fw_tracker* tracker) { delete tracker; }

fw_status fw_tracker_update(fw_tracker* tracker, const fw_box* boxes, size_t count, double seconds,
                            const fw_track** tracks, size_t* track_count) {
    return c::guard(__func__, [&] {
        auto& updated = c::at(tracker, "tracker");
        c::at(tracks, "tracks") = nullptr;
        c::at(track_count, "track_count") = 0;
        if (count > 0) c::at(boxes, "boxes");
        c::check_range<size_t>(count, 0, max_detector_capacity, "count");
        c::check_range(seconds, -1e12, 1e12, "seconds");
        for (const auto& box : std::span(boxes, count)) c::check(box);
        updated.update({boxes, count}, seconds);
        *tracks = updated.tracks.data();
        *track_count = updated.tracks.size();
    });
}
