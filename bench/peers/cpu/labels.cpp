#include "framewire/core/error.hpp"
#include "framewire/detect/detector.hpp"
#include "kit/masks.hpp"
#include "peers/others.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#if FRAMEWIRE_OPENCV
#include "framewire/filters/opencv_morphology_ref.hpp"

#include <opencv2/imgproc.hpp>
#endif

namespace framewire::bench {
namespace labels_contest {

constexpr int capacity = 1 << 20;

// A component's box and area, without its label.
using Found = std::array<int, 5>;

std::vector<Found> sorted(const Component* components, std::int64_t count) {
    std::vector<Found> all;
    for (std::int64_t index = 0; index < count; ++index) {
        const auto& one = components[index];
        all.push_back({one.y, one.x, one.width, one.height, one.area});
    }
    std::ranges::sort(all);
    return all;
}

#if FRAMEWIRE_OPENCV
struct Peer {
    cv::Mat labels{}, figures{}, centroids{};

    void run(const cv::Mat& mask) { cv::connectedComponentsWithStats(mask, labels, figures, centroids, 8, CV_32S); }
    std::vector<Found> sorted(int min_area) const {
        std::vector<Found> all;
        for (int row = 1; row < figures.rows; ++row)
            if (const auto* one = figures.ptr<int>(row); one[cv::CC_STAT_AREA] >= min_area)
                all.push_back({one[cv::CC_STAT_TOP], one[cv::CC_STAT_LEFT], one[cv::CC_STAT_WIDTH],
                               one[cv::CC_STAT_HEIGHT], one[cv::CC_STAT_AREA]});
        std::ranges::sort(all);
        return all;
    }
};

// Requires the same number of components; `box_px` and `area_share` limit how far their boxes and areas may differ.
std::string agreement_of(const std::vector<Found>& got, const std::vector<Found>& want, int box_px, double area_share) {
    if (got.size() != want.size())
        fail(ErrorCode::internal, "OpenCV finds {} components, framewire {}; not timed", got.size(), want.size());
    if (got == want) return fmt::format("equal, {} found", want.size());
    double furthest = 0;
    for (std::size_t index = 0; index < want.size(); ++index) {
        for (std::size_t side = 0; side < 4; ++side)
            if (std::abs(got[index][side] - want[index][side]) > box_px)
                fail(ErrorCode::internal, "box {} of {} differs from OpenCV's; not timed", index, want.size());
        furthest = std::max(furthest, std::abs(static_cast<double>(got[index][4]) / want[index][4] - 1));
    }
    if (!(furthest <= area_share))
        fail(ErrorCode::internal, "areas differ from OpenCV's by up to {:.2f} %; not timed", 100 * furthest);
    return fmt::format("{} found, areas within {:.2f} %", want.size(), 100 * furthest);
}
#endif

// Fills masks: with every pixel set, with discs, or with half of all pixels at random.
void fill_masks(Content content, HostView<std::uint8_t> masks) {
    switch (content) {
        case Content::constant: return kit::fill(masks, kit::Pattern::full);
        case Content::real: return kit::fill_discs(masks, 600, 1);
        case Content::noisy: return kit::fill_grains(masks, 0.5, 1, 1);
    }
}

}  // namespace labels_contest

void hold_labels_contest(Session& session, const Setting& setting) {
    using namespace labels_contest;
    const auto shape = setting.pictures->frame().with_channels(1);
    HostImage masks(shape.with_frames(setting.count()));
    fill_masks(setting.pictures->content, masks.view());
    HostBitMask packed(masks.shape());
    pack_mask(std::as_const(masks).view(), packed.view());
    ComponentLabelling labelling({.capacity = capacity, .label_images = true}, shape, session.cpu());
    HostComponents lists(1, capacity);
    std::vector<std::int32_t> labels(static_cast<std::size_t>(shape.bytes()));
    std::vector<Contestant> contestants{
        {"framewire cpu",
         [&](int turn) { labelling.run(packed.view().frames(setting.at(turn), 1), lists.lists(), {labels.data()}); }}};
#if FRAMEWIRE_OPENCV
    Peer peer;
    contestants.push_back(
        {"OpenCV",
         [&](int turn) {
             const auto mask = masks.view().frames(setting.at(turn), 1);
             peer.run({shape.height, shape.width, CV_8UC1, mask.data()});
         },
         [&] { return agreement_of(peer.sorted(1), sorted(lists.lists().components, lists.lists().found[0]), 0, 0); },
         "OpenCV's masks have one byte per pixel, framewire's one bit."});
#endif
    const double bytes = static_cast<double>(bit_mask_bytes(shape)) + 4.0 * static_cast<double>(shape.bytes());
    hold_contest(session, setting, "labels with boxes", bytes, std::move(contestants));
}

// Compares the chain of the moving-object report.
void hold_objects_contest(Session& session, const Setting& setting) {
    using namespace labels_contest;
    const auto shape = setting.pictures->frame();
    const auto room = setting.pictures->room.view();
    DetectorParameters parameters;
    parameters.background = BackgroundImage{};
    MotionDetector detector(parameters, shape, session.cpu());
    detector.set_background(room);
    std::vector<Contestant> contestants{
        {"framewire cpu", [&](int turn) { detector.run(setting.frame(setting.at(turn))); }}};
#if FRAMEWIRE_OPENCV
    const auto kernel = opencv_element({parameters.shape, parameters.diameter_px});
    cv::Mat gray, blurred, background, mask;
    const auto blur = [&](HostView<std::uint8_t> image) {
        cv::cvtColor(cv::Mat(shape.height, shape.width, CV_8UC3, image.data()), gray, cv::COLOR_BGR2GRAY);
        cv::GaussianBlur(gray, blurred, {parameters.blur_px, parameters.blur_px}, 0);
    };
    blur(room);
    blurred.copyTo(background);
    Peer peer;
    contestants.push_back(
        {"OpenCV",
         [&](int turn) {
             blur(setting.frame(setting.at(turn)));
             cv::absdiff(blurred, background, mask);
             cv::threshold(mask, mask, parameters.threshold, 255, cv::THRESH_BINARY);
             cv::morphologyEx(mask, mask, cv::MORPH_CLOSE, kernel);
             peer.run(mask);
         },
         [&] {
             const auto found = detector.fetch().of_frame();
             return agreement_of(peer.sorted(parameters.min_area), sorted(found.data(), std::ssize(found)), 2, 0.01);
         },
         "OpenCV rounds the Gaussian's weights differently, so a few pixels fall on the other side of the threshold."});
#endif
    const auto bytes = static_cast<double>(shape.bytes() + shape.with_channels(1).bytes());
    hold_contest(session, setting, "moving objects", bytes, std::move(contestants));
}

}  // namespace framewire::bench
