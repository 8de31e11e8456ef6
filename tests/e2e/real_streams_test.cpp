// Checks the bound of the difference stream on real clips, if present: each byte that a viewer sees is within the
// threshold of the camera's byte. `framewire bench proofs/bound` does this for every threshold.
#include "e2e/real_data.hpp"
#include "framewire/codec/encoder_ref.hpp"
#include "framewire/media/media.hpp"
#include "kit/images.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace framewire::e2e {
namespace {

namespace fs = std::filesystem;
using codec::Mode;

constexpr int frames = 3;

// Returns the files below a folder that have extensions of video files, sorted by name.
std::vector<std::string> clips_below(const std::string& folder) {
    std::vector<std::string> clips;
    for (const auto& entry : fs::recursive_directory_iterator(folder))
        for (const std::string ending : {".mp4", ".avi", ".mkv", ".264"})
            if (entry.path().extension() == ending) clips.push_back(entry.path());
    std::ranges::sort(clips);
    return clips;
}

std::vector<HostImage> first_frames(const std::string& clip) {
    const auto source = open_source(clip);
    std::vector<HostImage> film;
    FrameTime time;
    for (int i = 0; i < frames; ++i) {
        HostImage frame(source->info().shape);
        if (!source->read(frame.view(), time)) break;
        film.push_back(std::move(frame));
    }
    return film;
}

// Returns the middle `width` x `height` pixels of each frame.
std::vector<HostImage> window_of(const std::vector<HostImage>& film, int width, int height) {
    const auto& whole = film.front().shape();
    const Shape shape{1, std::min(height, whole.height), std::min(width, whole.width), whole.channels};
    const int top = (whole.height - shape.height) / 2, left = (whole.width - shape.width) / 2;
    std::vector<HostImage> window;
    for (const auto& frame : film) {
        HostImage image(shape);
        for (int y = 0; y < shape.height; ++y)
            std::memcpy(image.view().row(0, y), frame.view().row(0, top + y) + std::int64_t{left} * shape.channels,
                        static_cast<std::size_t>(shape.row_bytes()));
        window.push_back(std::move(image));
    }
    return window;
}

class RealStreams : public testing::Test {
protected:
    // Sends one frame after the other and cycles through the thresholds.
    void send(const std::vector<HostImage>& film, Mode mode, int effort, std::vector<int> thresholds, bool plainly) {
        codec::reference::Promise promise(film.front().shape(), mode, effort, thresholds, executor_);
        for (const auto& frame : film) promise.check(frame.view(), plainly);
        ++streams_;
        frames_ += film.size();
        at_their_bound_ += promise.reaches_its_bound();
    }

    Executor executor_{BackendChoice::cpu, 2};
    std::size_t streams_ = 0, frames_ = 0, at_their_bound_ = 0;
};

// Sends each clip with some thresholds, and its middle with additional thresholds, for which the reference decoder runs
// as well.
TEST_F(RealStreams, PicturesStayWithinTheBound) {
    std::vector<std::string> clips;
    for (const auto* name : {"codec_video", "moving_objects"}) {
        const auto folder = real_data(name);
        FRAMEWIRE_NEEDS_REAL(folder);
        const auto more = clips_below(folder);
        clips.insert(clips.end(), more.begin(), more.end());
    }
    ASSERT_GT(clips.size(), 10u);
    for (std::size_t i = 0; i < clips.size(); ++i) {
        SCOPED_TRACE(clips[i]);
        const auto film = first_frames(clips[i]);
        ASSERT_FALSE(film.empty());
        const int low = static_cast<int>(i) % 24, high = static_cast<int>(i * 37 % 255),
                  effort = static_cast<int>(i) % 3;
        ASSERT_NO_THROW({
            const auto window = window_of(film, 90, 72);
            for (const int within : {low, high}) {
                send(window, Mode::exact, 0, {within}, true);
                send(window, Mode::bounded, effort, {within}, true);
            }
            const auto& seen = kit::brief() ? window : film;
            send(seen, Mode::lossless, 0, {0}, false);
            send(seen, Mode::exact, 0, {low, high}, false);
            send(seen, Mode::bounded, effort, {low}, false);
            send(seen, Mode::bounded, effort, {high, low, high}, false);
        });
    }
    EXPECT_GT(at_their_bound_, streams_ / 2) << "too few streams contain a byte at the bound";
    std::cout << clips.size() << " clips: " << streams_ << " streams, " << frames_
              << " frames within their thresholds\n";
}

}  // namespace
}  // namespace framewire::e2e
