// Records the synthetic camera and reads it back, using only the media library.

#include "framewire/core/buffer.hpp"
#include "framewire/media/media.hpp"

#include <cstdio>

int main() {
    using namespace framewire;
    const auto* path = "recorded.y4m";
    const auto camera = open_source("synth:size=64x48:objects=2:frames=20");
    const auto sink = open_sink(path, camera->info().shape, camera->info().rate, {.replace = true});
    HostImage image(camera->info().shape);
    FrameTime time;
    while (camera->read(image.view(), time)) sink->write(image.view(), time);
    sink->finish();

    int frames = 0;
    const auto file = open_source(path);
    while (file->read(image.view(), time)) ++frames;
    std::printf("%d frames read back\n", frames);
    return frames == 20 ? 0 : 1;
}
