#include "mixture_quality.hpp"

#include "framewire/core/error.hpp"
#include "framewire/detect/mixture.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media.hpp"

#include <fmt/format.h>

#include <filesystem>

#if FRAMEWIRE_OPENCV
#include <opencv2/video/background_segm.hpp>
#endif

namespace framewire::bench {
namespace {

// Pixel counts by result and ground truth.
struct Score {
    std::int64_t true_moving = 0, false_moving = 0, missed = 0;

    void count(HostView<const std::uint8_t> found, HostView<const std::uint8_t> truth) {
        constexpr int outside = 85, unknown = 170, moving = 255;
        const auto& shape = truth.shape();
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const int true_value = truth.row(0, y)[x * shape.channels];
                if (true_value == outside || true_value == unknown) continue;
                const bool is_found = found.row(0, y)[x] == 255, is_moving = true_value == moving;
                true_moving += is_found && is_moving;
                false_moving += is_found && !is_moving;
                missed += !is_found && is_moving;
            }
    }

    void print(const char* runner) const {
        const auto found = static_cast<double>(true_moving);
        const double precision = found / static_cast<double>(true_moving + false_moving);
        const double recall = found / static_cast<double>(true_moving + missed);
        fmt::print("{:<18} {:>10.4f} {:>10.4f} {:>10.4f}\n", runner, precision, recall,
                   2 * precision * recall / (precision + recall));
    }
};

HostImage read_image(const std::string& path) {
    const auto source = open_source(path);
    HostImage image(source->info().shape);
    FrameTime time;
    if (!source->read(image.view(), time)) fail(ErrorCode::no_input, "{} contains no image", path);
    return image;
}

}  // namespace

void print_mixture_quality(Session& session) {
    const auto inputs = *SequencePattern::parse(session.cdnet_folder() + "/input/in%06d.jpg");
    const auto truths = *SequencePattern::parse(session.cdnet_folder() + "/groundtruth/gt%06d.png");
    const auto numbers = inputs.existing();
    if (numbers.empty()) fail(ErrorCode::no_input, "{} has no input/in%06d.jpg", session.cdnet_folder());
    const auto shape = read_image(inputs.path(numbers.front())).shape();
    MixtureBackground mixture(opencv_mixture, shape, session.cpu());
    HostBitMask mask(shape);
    HostImage found(shape.with_channels(1));
    Score score;
    int compared = 0;
#if FRAMEWIRE_OPENCV
    const auto peer = cv::createBackgroundSubtractorMOG2();
    HostImage peer_found(shape.with_channels(1));
    Score peer_score;
#endif
    for (const auto number : numbers) {
        auto frame = read_image(inputs.path(number));
        mixture.run(frame.view(), mask.view());
        unpack_mask(mask.view(), found.view());
#if FRAMEWIRE_OPENCV
        cv::Mat peer_mask(shape.height, shape.width, CV_8UC1, peer_found.view().data());
        peer->apply(cv::Mat(shape.height, shape.width, CV_8UC(shape.channels), frame.view().data()), peer_mask);
#endif
        if (!std::filesystem::exists(truths.path(number))) continue;
        const auto truth = read_image(truths.path(number));
        validate(truth.view(), shape.with_channels(truth.shape().channels), "the ground truth");
        ++compared;
        score.count(found.view(), truth.view());
#if FRAMEWIRE_OPENCV
        peer_score.count(peer_found.view(), truth.view());
#endif
    }
    fmt::print("\n{}: {} of {} frames with ground truth\n{:<18} {:>10} {:>10} {:>10}\n", session.cdnet_folder(),
               compared, numbers.size(), "runner", "precision", "recall", "F-measure");
    score.print("framewire");
#if FRAMEWIRE_OPENCV
    peer_score.print("OpenCV");
#endif
}

}  // namespace framewire::bench
