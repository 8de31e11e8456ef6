#include "framewire/session/detector.hpp"

#include "framewire/core/error.hpp"
#include "framewire/filters/gray/gray.hpp"
#include "framewire/media/media.hpp"

#include <optional>
#include <utility>

namespace framewire::session {
namespace {

// Returns the first frame of the picture or video at `path`, which must have the frames' width and height.
HostImage load_picture(const std::string& path, const Shape& frame, const char* what, const std::stop_token& stop) {
    const auto source = open_source(path, {.stop = stop});
    const auto& shape = source->info().shape;
    if (shape.width != frame.width || shape.height != frame.height)
        fail(ErrorCode::usage, "{} {} is {}x{}; frames are {}x{}", what, path, shape.width, shape.height, frame.width,
             frame.height);
    HostImage picture(shape);
    FrameTime time;
    if (!source->read(picture.view(), time)) fail(ErrorCode::no_input, "{} {} has no picture", what, path);
    return picture;
}

}  // namespace

std::optional<MaskRegion> make_region(const DetectorRegion& region, const Shape& frame, Executor& executor,
                                      const std::stop_token& stop) {
    if (const auto* zones = std::get_if<std::vector<Zone>>(&region)) return MaskRegion(*zones, frame, executor);
    const auto* path = std::get_if<std::string>(&region);
    if (!path) return {};
    const auto picture = load_picture(*path, frame, "the region's mask", stop);
    HostImage gray(picture.shape().with_channels(1));
    Executor on_cpu(BackendChoice::cpu, 1);
    Gray({.channels = 1}, picture.shape(), on_cpu)
        .run(FilterImages<MemorySpace::host>{picture.view(), {}, gray.view()});
    return MaskRegion(std::as_const(gray).view(), executor);
}

std::optional<HostImage> load_background(const DetectorOptions& options, const Shape& frame,
                                         const std::stop_token& stop) {
    const auto* image = std::get_if<BackgroundImage>(&options.parameters.background);
    if (!image) return {};
    return load_picture(image->path, frame, "the background", stop);
}

std::unique_ptr<FrameDetector> make_detector(const DetectorOptions& options, const Shape& frame, Executor& executor,
                                             const std::stop_token& stop, bool with_masks) {
    auto detector = std::make_unique<FrameDetector>(options.parameters, frame, executor,
                                                    make_region(options.region, frame, executor, stop), with_masks);
    if (const auto picture = load_background(options, frame, stop)) detector->set_background(picture->view());
    return detector;
}

void add_input_files(JobFiles& files, const DetectorOptions& options) {
    if (const auto* path = std::get_if<std::string>(&options.region)) files.input("--roi-mask", *path);
    if (const auto* image = std::get_if<BackgroundImage>(&options.parameters.background))
        files.input("--background", image->path);
}

}  // namespace framewire::session
