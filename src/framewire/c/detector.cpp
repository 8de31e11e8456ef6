// fw_detector, fw_tracker and fw_hog.

#include "framewire/detect/detector.hpp"
#include "framewire/c/boundary.hpp"
#include "framewire/c/boxes.hpp"
#include "framewire/c/image.hpp"
#include "framewire/detect/tracker.hpp"
#include "framewire/hog/hog.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

using namespace framewire;

namespace {

DetectorParameters detector_parameters_from(const char* text, double rate) {
    if (!(rate >= 0 && rate <= 1000)) c::check_range(rate, 0.0, 1000.0, "rate");
    auto parameters = parse_detector(c::text_or_empty(text));
    if (const auto* image = std::get_if<BackgroundImage>(&parameters.background))
        fail(ErrorCode::usage,
             "the picture '{}' cannot be a background here; allowed: adaptive, mixture, mean:RATE and first",
             image->path);
    return at_rate(std::move(parameters), rate);
}

}  // namespace

struct fw_detector {
    fw_detector(const char* text, const fw_image* image, double rate, const fw_settings* settings)
        : format(c::shape_of(image, "image")),
          worker(settings),
          detector(detector_parameters_from(text, rate), format.shape(), worker.executor()) {}

    bool uses_gpu() const { return worker.uses_gpu(); }

    void process(const fw_image* image, void* stream) {
        const c::CallerImage from(image, format, "image");
        from.require_reach(worker.executor());
        worker.executor().in_its_space([&]<MemorySpace space>() {
            worker.run(stream, from.on_device(), true, [&] {
                const auto picture = staged.read<space>(from, format, worker.executor());
                detector.run(picture.image);
            });
        });
        has_run = true;
        boxes.take(detector.fetch().of_frame());
    }

    FrameFormat format;
    c::Worker worker;
    MotionDetector detector;
    c::Staging staged;
    c::Boxes boxes;
    bool has_run = false;
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

struct fw_hog {
    fw_hog(const char* text, const fw_image* image, const fw_settings* settings)
        : format(c::shape_of(image, "image")),
          worker(settings),
          hog(parse_hog(c::text_or_empty(text)), format.shape(), worker.executor()) {}
    ~fw_hog() {
        try {
            worker.executor().synchronize();
        } catch (const Error&) {
            // the caller's next CUDA call reports it
        }
    }

    bool uses_gpu() const { return worker.uses_gpu(); }

    void compute(const fw_image* image, float* descriptors, size_t count, void* stream) {
        const c::CallerImage from(image, format, "image");
        from.require_reach(worker.executor());
        c::at(descriptors, "descriptors");
        const auto& shape = hog.output_shape();
        if (count != static_cast<size_t>(shape.count()))
            c::refuse("count is " + std::to_string(count) + "; the descriptors are " + std::to_string(shape.count()) +
                      " floats");
        auto& executor = worker.executor();
        executor.in_its_space([&]<MemorySpace space>() {
            if constexpr (space == MemorySpace::device)
                if (from.on_device() && !cuda::is_device_memory(descriptors, *executor.gpu()))
                    c::refuse("descriptors is not in the image's memory, that of GPU " +
                              std::to_string(*executor.gpu()));
            worker.run(stream, from.on_device(), !from.on_device(), [&] {
                const auto picture = staged.read<space>(from, format, executor);
                if constexpr (space == MemorySpace::device) {
                    if (!from.on_device() && !own) own.emplace(shape.bytes(), executor);
                    auto* const to = from.on_device() ? descriptors : own->template as<float>();
                    hog.run(picture.image, HogView<float, space>(to, shape));
                    if (!from.on_device()) cuda::download(to, descriptors, shape.bytes(), executor.stream());
                } else {
                    hog.run(picture.image, HogView<float, space>(descriptors, shape));
                }
            });
        });
    }

    FrameFormat format;
    c::Worker worker;
    Hog hog;
    c::Staging staged;
    std::optional<BackendBuffer> own;  // descriptors on the GPU, for images on the host
};

fw_status fw_hog_create(fw_hog** hog, const char* text, const fw_image* image, const fw_settings* settings) {
    return c::create(__func__, hog, "hog", [&] { return std::make_unique<fw_hog>(text, image, settings); });
}

void fw_hog_destroy(fw_hog* hog) { c::destroy(__func__, hog); }

fw_status fw_hog_shape(const fw_hog* hog, int32_t* rows, int32_t* columns, int32_t* values) {
    return c::guard(__func__, [&] {
        const auto& shape = c::at(hog, "hog").hog.output_shape();
        c::at(rows, "rows") = shape.rows;
        c::at(columns, "columns") = shape.columns;
        c::at(values, "values") = shape.values;
    });
}

fw_status fw_hog_compute(fw_hog* hog, const fw_image* image, float* descriptors, size_t count, void* stream) {
    return c::guard(__func__, [&] { c::at(hog, "hog").compute(image, descriptors, count, stream); });
}
