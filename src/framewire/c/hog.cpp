// fw_hog and fw_people.

#include "framewire/hog/hog.hpp"
#include "framewire/c/boundary.hpp"
#include "framewire/c/image.hpp"
#include "framewire/hog/people_detector.hpp"
#include "framewire/media/window_model_file.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace framewire;

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

struct fw_people {
    fw_people(const char* model, const char* text, const fw_image* image, const fw_settings* settings)
        : format(c::shape_of(image, "image")),
          worker(settings),
          detector(read_window_model(&c::at(model, "model"), {}), parse_people(c::text_or_empty(text)), format.shape(),
                   worker.executor()),
          detected(detector.make_people()) {}

    bool uses_gpu() const { return worker.uses_gpu(); }

    void process(const fw_image* image, void* stream) {
        const c::CallerImage from(image, format, "image");
        from.require_reach(worker.executor());
        worker.executor().in_its_space([&]<MemorySpace space>() {
            worker.run(stream, from.on_device(), false, [&] {
                detector.run(staged.read<space>(from, format, worker.executor()).image, detected);
                detected.download();
            });
        });
        detected.wait();
        found.clear();
        for (const auto& one : detected.detections()) found.push_back({one.x, one.y, one.width, one.height, one.score});
    }

    FrameFormat format;
    c::Worker worker;
    PeopleDetector detector;
    DetectedPeople detected;
    c::Staging staged;
    std::vector<fw_person> found;
};

fw_status fw_people_create(fw_people** people, const char* model, const char* text, const fw_image* image,
                           const fw_settings* settings) {
    return c::create(__func__, people, "people",
                     [&] { return std::make_unique<fw_people>(model, text, image, settings); });
}

void fw_people_destroy(fw_people* people) { c::destroy(__func__, people); }

fw_status fw_people_process(fw_people* people, const fw_image* image, void* stream, const fw_person** found,
                            size_t* count) {
    return c::guard(__func__, [&] {
        auto& running = c::at(people, "people");
        c::at(found, "found") = nullptr;
        c::at(count, "count") = 0;
        running.process(image, stream);
        *found = running.found.data();
        *count = running.found.size();
    });
}
