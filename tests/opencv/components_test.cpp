#include "framewire/detect/components.hpp"

#include "kit/images.hpp"
#include "kit/masks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>

#include <functional>
#include <vector>

namespace framewire {
namespace {

// Compares the components: labels must be equal up to numbering, boxes and areas exact, and centroids equal to OpenCV's
// doubles.
void compare(const std::string& name, int connectivity, HostImage& image) {
    SCOPED_TRACE(fmt::format("{}, {} neighbours, seed {}", name, connectivity, kit::seed()));
    const auto& shape = image.shape();
    cv::Mat want_labels, statistics, centroids;
    const int want = cv::connectedComponentsWithStats(cv::Mat(shape.height, shape.width, CV_8UC1, image.view().data()),
                                                      want_labels, statistics, centroids, connectivity, CV_32S) -
                     1;  // OpenCV counts the background

    constexpr int capacity = 100'000;
    ComponentLabelling labelling({.connectivity = connectivity, .capacity = capacity, .label_images = true}, shape,
                                 kit::executor(Backend::cpu));
    HostBitMask mask(shape);
    pack_mask(image.view(), mask.view());
    HostComponents components(1, capacity);
    std::vector<std::int32_t> labels(static_cast<std::size_t>(shape.bytes()));
    const auto lists = components.lists();
    labelling.run(mask.view(), lists, {labels.data()});
    ASSERT_EQ(lists.found[0], want);

    std::vector<int> ours_of(static_cast<std::size_t>(want) + 1, -1);
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            const auto ours = labels[static_cast<std::size_t>(y) * static_cast<std::size_t>(shape.width) +
                                     static_cast<std::size_t>(x)];
            auto& match = ours_of[static_cast<std::size_t>(want_labels.at<int>(y, x))];
            if (match < 0) match = ours;
            ASSERT_EQ(match, ours) << "at " << x << ", " << y;
        }
    ASSERT_LE(ours_of[0], 0) << "a background pixel has a label";
    for (int theirs = 1; theirs <= want; ++theirs) {
        const auto id = ours_of[static_cast<std::size_t>(theirs)];
        ASSERT_GE(id, 1);
        const auto& component = lists.components[id - 1];
        ASSERT_EQ(component.id, id);
        ASSERT_EQ(component.x, statistics.at<int>(theirs, cv::CC_STAT_LEFT));
        ASSERT_EQ(component.y, statistics.at<int>(theirs, cv::CC_STAT_TOP));
        ASSERT_EQ(component.width, statistics.at<int>(theirs, cv::CC_STAT_WIDTH));
        ASSERT_EQ(component.height, statistics.at<int>(theirs, cv::CC_STAT_HEIGHT));
        ASSERT_EQ(component.area, statistics.at<int>(theirs, cv::CC_STAT_AREA));
        ASSERT_EQ(static_cast<double>(component.sum_x) / component.area, centroids.at<double>(theirs, 0));
        ASSERT_EQ(static_cast<double>(component.sum_y) / component.area, centroids.at<double>(theirs, 1));
    }
}

TEST(ComponentsAndOpenCv, AgreeOnNoiseOfEveryDensity) {
    HostImage image({1, 231, 317, 1});
    for (const int connectivity : {4, 8})
        for (const int grain : {1, 4})
            for (int percent = 5; percent < 100; percent += 5) {
                if (HasFailure()) return;
                kit::fill_grains(image.view(), percent / 100.0, grain, kit::seed());
                compare(fmt::format("density {} %, grains of {}", percent, grain), connectivity, image);
            }
}

TEST(ComponentsAndOpenCv, AgreeOnPatterns) {
    for (const auto& shape : {Shape{1, 240, 320, 1}, Shape{1, 97, 131, 1}, Shape{1, 1, 200, 1}, Shape{1, 200, 1, 1}})
        for (const int connectivity : {4, 8})
            for (const auto pattern : kit::all_patterns) {
                if (HasFailure()) return;
                HostImage image(shape);
                kit::fill(image.view(), pattern);
                compare(kit::to_string(pattern), connectivity, image);
            }
}

TEST(ComponentsAndOpenCv, AgreeOnDiscsAtHd) {
    HostImage image({1, 1080, 1920, 1});
    for (const int connectivity : {4, 8}) {
        kit::fill_discs(image.view(), 600, kit::seed());
        compare("discs", connectivity, image);
    }
}

}  // namespace
}  // namespace framewire
