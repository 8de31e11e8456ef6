#include "framewire/session/hog/steps/step_pictures.hpp"

#include "framewire/hog/steps/pictures.hpp"
#include "framewire/pipeline/frames/hog/frame_hog.hpp"
#include "framewire/session/outputs/folders.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace framewire::session {
namespace {

std::string path_of(const std::string& folder, const char* name) {
    return std::filesystem::path(folder) / fmt::format("{}.png", name);
}

}  // namespace

void write_step_pictures(const std::string& folder, const HogParameters& parameters, HostView<const std::uint8_t> frame,
                         Executor& executor, bool replace) {
    const OutputFileOptions files{.replace = replace};
    make_folder(folder);
    for (const auto& [name, image] : hog_step_pictures(
             hog_steps(frame, parameters.signed_gradients, parameters.gradient), parameters.signed_gradients))
        write_png(path_of(folder, name), image.view(), files);
    // The strokes show the cells' histograms before normalisation.
    auto plain = parameters;
    plain.norm = HogNorm::none;
    FrameHog hog(plain, frame.shape(), executor);
    Frame twin(frame.shape(), executor);
    copy(frame, twin.host());
    twin.upload();
    FrameDescriptors cells(hog.output_shape(), executor);
    hog.start(twin, cells);
    cells.wait();
    auto strokes = hog_strokes({cells.values().data(), hog.output_shape()}, plain);
    write_png(path_of(folder, hog_step_names.back()), strokes.view(), files);
}

void add_step_pictures(JobFiles& files, const std::string& folder) {
    if (folder.empty()) return;
    for (const auto* name : hog_step_names) files.output("--steps", path_of(folder, name), {"pictures", {".png"}});
}

}  // namespace framewire::session
