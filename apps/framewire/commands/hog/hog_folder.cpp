#include "commands/hog/hog_folder.hpp"

#include "jobs/folder_walk.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/formats/npy.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/pipeline/frames/frame_hog.hpp"

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace framewire::app {
namespace {

// What an image comes to, beside its place of the circle. The plan goes when the last image that it was for is written.
struct Slot {
    FrameDescriptors descriptors;
    std::shared_ptr<FrameHog> hog;
};

class DescribeFolder {
public:
    DescribeFolder(const DescribeOptions& options, const std::stop_source& stop)
        : options_(options),
          stop_(stop.get_token()),
          walk_(options.input, options.common, stop),
          outputs_(outputs_of(walk_.images(), options.output, ".npy")),
          streams_(options.streams_on(walk_.executor().backend())) {
        make_folder(options.output);
    }

    void operator()() {
        FirstFailure failure;
        failure.attempt([&] { describe_all(); });
        // A plan waits for what it started, so all go before any slot's memory does.
        for (auto& slot : slots_) slot.hog.reset();
        hog_.reset();
        const auto figures = walk_.statistics().snapshot();
        const auto run = walk_.description();
        failure.attempt([&] { walk_.write_statistics(figures, run); });
        failure.rethrow();
        if (options_.json && figures.frames > 0) summary_.print(options_, figures, run, nullptr);
        log_info("{} images in {:.2f} s, {:.1f} a second", figures.frames, figures.seconds, figures.fps);
    }

private:
    void describe_all() {
        auto circle = walk_.circle();
        circle.let_wait(streams_);
        slots_.resize(static_cast<std::size_t>(circle.slots));
        walk_.run({.process = [&](int slot, FolderImage& image) { describe(slot, image); },
                   .wait = [&](int slot) { at(slot).descriptors.wait(); },
                   .send = [&](int slot, FolderImage& image, const FrameTime&) { send(slot, image); }},
                  circle, {.on_host = with_steps(), .by_stages = true});
    }

    Slot& at(int slot) { return slots_[static_cast<std::size_t>(slot)]; }

    bool with_steps() const { return !options_.steps_folder.empty(); }

    void describe(int number, FolderImage& image) {
        auto& slot = at(number);
        auto& picture = image.frame.result();
        if (!hog_ || described_ != picture.shape()) {
            hog_ = std::make_shared<FrameHog>(options_.hog, picture.shape(), walk_.executor());
            described_ = picture.shape();
        }
        slot.hog = hog_;
        if (slot.descriptors.shape() != hog_->output_shape())
            slot.descriptors = FrameDescriptors(hog_->output_shape(), walk_.executor());
        hog_->start(picture, slot.descriptors);
    }

    void send(int number, FolderImage& image) {
        auto& slot = at(number);
        if (image.number == 0 && with_steps()) write_steps(options_, image.frame.result().host(), walk_.executor());
        const auto* values = slot.descriptors.values().data();
        const auto& shape = slot.hog->output_shape();
        NpyFile file(outputs_[image.number], array_shape(shape), false, {stop_, options_.common.replace});
        file.write(values, static_cast<std::size_t>(shape.count()));
        file.finish();
        walk_.statistics().set_sent_bytes(sent_bytes_ += file.bytes());
        if (options_.json) summary_.add(values, shape.count());
        slot.hog.reset();
    }

    const DescribeOptions& options_;
    std::stop_token stop_;
    FolderWalk walk_;
    std::vector<std::string> outputs_;
    int streams_;

    std::vector<Slot> slots_;
    std::shared_ptr<FrameHog> hog_;
    Shape described_{};  // what hog_ is for
    HogSummary summary_;
    std::int64_t sent_bytes_ = 0;
};

}  // namespace

void describe_folder(const DescribeOptions& options, const std::stop_source& stop) {
    if (!is_folder(options.input.source))
        fail(ErrorCode::usage, "-o {} is a folder, for the images of a folder; {} is none, so that a .npy is needed",
             options.output, options.input.source);
    DescribeFolder(options, stop)();
}

}  // namespace framewire::app
