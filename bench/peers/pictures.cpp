#include "framewire/filters/scale.hpp"
#include "peers/contest.hpp"
#include "stream/film.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace framewire::bench {
namespace pictures {

constexpr std::int64_t rotation_bytes = 96 << 20;  // three times a last-level cache of 32 MiB, more with results
constexpr int constant_value = 90;
constexpr double noise_sigma = 25;

int frames_for(const Shape& frame) { return std::clamp(static_cast<int>(rotation_bytes / frame.frame_bytes()), 4, 64); }

// Fills the images with the video's first frames, scaled to the requested size and repeated if there are too few.
void fill_from_video(const std::string& video, HostView<std::uint8_t> room, HostView<std::uint8_t> frames) {
    const auto film = read_film(video, frames.shape().frames + 1);
    Executor executor(BackendChoice::cpu);
    Scale scale({.width = room.shape().width, .height = room.shape().height, .method = ScaleMethod::bilinear},
                film.shape, executor);
    HostImage gray_or_colour(scale.output_shape());
    const auto fill = [&](std::size_t index, HostView<std::uint8_t> to) {
        scale.run(FilterImages<MemorySpace::host>{film.frames[index].view(), {}, gray_or_colour.view()});
        const int channels = film.shape.channels;
        for (int y = 0; y < to.shape().height; ++y)
            for (int x = 0; x < to.shape().width * 3; ++x)
                to.row(0, y)[x] = gray_or_colour.view().row(0, y)[channels == 3 ? x : x / 3];
    };
    fill(0, room);
    for (int frame = 0; frame < frames.shape().frames; ++frame)
        fill(static_cast<std::size_t>(frame + 1) % film.frames.size(), frames.frames(frame, 1));
}

// Adds the difference between `noisy` and `still` to `image`.
void add_noise(HostView<const std::uint8_t> noisy, HostView<const std::uint8_t> still, HostView<std::uint8_t> image) {
    for (std::int64_t at = 0; at < image.shape().bytes(); ++at)
        image.data()[at] =
            static_cast<std::uint8_t>(std::clamp(image.data()[at] + noisy.data()[at] - still.data()[at], 0, 255));
}

}  // namespace pictures

const char* to_string(Content content) {
    switch (content) {
        case Content::constant: return "constant";
        case Content::real: return "real";
        case Content::noisy: break;
    }
    return "noisy";
}

ContentFrames::ContentFrames(const Session& session, const Shape& frame, Content what)
    : content(what), room(frame), frames(frame.with_frames(pictures::frames_for(frame))) {
    if (content == Content::constant) {
        std::fill_n(room.view().data(), frame.bytes(), std::uint8_t{pictures::constant_value});
        std::fill_n(frames.view().data(), frames.shape().bytes(), std::uint8_t{pictures::constant_value});
    } else if (content == Content::real && !session.video().empty()) {
        pictures::fill_from_video(session.video(), room.view(), frames.view());
    } else {
        fill_scene(room.view(), 1);
        for (int index = 0; index < count(); ++index)
            fill_later(std::as_const(room).view(), frames.view().frames(index, 1), 0.02, false,
                       static_cast<std::uint32_t>(index + 2));
        if (content == Content::noisy) {
            constexpr int different = 4;  // drawing Gaussian noise is slow
            const auto film = noisy_film(room, different, pictures::noise_sigma);
            for (int index = 0; index < count(); ++index)
                pictures::add_noise(film.frames[static_cast<std::size_t>(index % different)].view(),
                                    std::as_const(room).view(), frames.view().frames(index, 1));
        }
    }
}

std::string ContentFrames::size() const { return fmt::format("{}x{}", frame().width, frame().height); }

}  // namespace framewire::bench
