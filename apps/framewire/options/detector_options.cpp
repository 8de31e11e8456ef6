#include "options/detector_options.hpp"
#include "options/parameter_options.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/filters/gray/gray.hpp"
#include "framewire/filters/mosaic/mosaic.hpp"
#include "framewire/media/media.hpp"

#include <CLI/CLI.hpp>

#include <utility>
#include <variant>

namespace framewire::app {
namespace {

// The first frame of what a path names, of the size asked for.
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

std::optional<MaskRegion> make_region(const DetectorOptions& options, const Shape& frame, Executor& executor,
                                      const std::stop_token& stop) {
    if (options.zones.empty() && options.region_path.empty()) return {};
    if (!options.zones.empty() && !options.region_path.empty())
        fail(ErrorCode::usage, "--roi and --roi-mask together; one of them says where to look");
    if (!options.zones.empty()) {
        std::vector<Zone> zones;
        for (const auto& text : options.zones) zones.push_back(parse_zone(text));
        return MaskRegion(zones, frame, executor);
    }
    const auto picture = load_picture(options.region_path, frame, "the region's mask", stop);
    HostImage gray(picture.shape().with_channels(1));
    Executor on_cpu(BackendChoice::cpu, 1);
    Gray({.channels = 1}, picture.shape(), on_cpu)
        .run(FilterImages<MemorySpace::host>{picture.view(), {}, gray.view()});
    return MaskRegion(std::as_const(gray).view(), executor);
}

}  // namespace

void add_detector_options(CLI::App& command, DetectorOptions& options, const std::string& threshold_flag) {
    auto* group = command.add_option_group("Moving objects");
    for (const auto& parameter : detector_fields().infos())
        add_parameter(*group, parameter, options.parameters,
                      {.flag = parameter.name == "threshold" ? threshold_flag : ""});
    group->add_option("--roi", options.zones, "look only in this rectangle; may be given several times")
        ->type_name("X,Y,W,H");
    group->add_option("--roi-mask", options.region_path, "look only where this picture is not black")
        ->type_name("IMAGE");
}

DetectorParameters detector_parameters(const DetectorOptions& options) {
    return detector_fields().from(options.parameters);
}

std::unique_ptr<FrameDetector> make_detector(const DetectorOptions& options, const Shape& frame, Executor& executor,
                                             const std::stop_token& stop, bool with_masks) {
    const auto parameters = detector_parameters(options);
    auto detector = std::make_unique<FrameDetector>(parameters, frame, executor,
                                                    make_region(options, frame, executor, stop), with_masks);
    if (const auto* image = std::get_if<BackgroundImage>(&parameters.background))
        detector->set_background(load_picture(image->path, frame, "the background", stop).view());
    return detector;
}

void add_input_files(RunFiles& files, const DetectorOptions& options) {
    files.input("--roi-mask", options.region_path);
    const auto parameters = detector_parameters(options);
    if (const auto* image = std::get_if<BackgroundImage>(&parameters.background))
        files.input("--background", image->path);
}

}  // namespace framewire::app
