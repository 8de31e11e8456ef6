#include "framewire/hog/people_detector.hpp"
#include "framewire/core/error.hpp"
#include "framewire/hog/hog.hpp"
#include "framewire/hog/hog_ref.hpp"
#include "framewire/hog/pyramid.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using PeopleDetectorTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(PeopleDetectorTest);

WindowModel random_model(const HogParameters& hog, int width_px, int height_px) {
    WindowModel model{.hog = hog, .width_px = width_px, .height_px = height_px, .weights = {}, .bias = 0.125f};
    std::mt19937_64 random(kit::seed());
    std::normal_distribution<float> weight(0, 0.1f);
    model.weights.resize(static_cast<std::size_t>(window_shape(model).count()));
    for (auto& value : model.weights) value = weight(random);
    return model;
}

// A detector and its frame in the backend's memory.
class Found {
public:
    Found(Backend backend, const WindowModel& model, const PeopleParameters& parameters, kit::GuardedImage& frame)
        : executor_(kit::executor(backend)),
          frame_(frame),
          detector_(model, parameters, frame.view().shape(), executor_),
          people_(detector_.make_people()) {
        if (backend == Backend::cuda) mirror_.emplace(frame);
    }

    std::vector<Detection> operator()() {
        if (executor_.backend() == Backend::cpu) {
            detector_.run(frame_.view(), people_);
        } else if constexpr (cuda::compiled) {
            mirror_->upload(executor_.stream());
            detector_.run(mirror_->view(), people_);
        }
        people_.download();
        people_.wait();
        return {people_.detections().begin(), people_.detections().end()};
    }

    const PeopleDetector& detector() const { return detector_; }
    std::int64_t candidates() const { return people_.candidates(); }

private:
    Executor& executor_;
    kit::GuardedImage& frame_;
    PeopleDetector detector_;
    DetectedPeople people_;
    std::optional<kit::DeviceMirror> mirror_;
};

struct Candidate {
    Detection box;  // box without a score
    double score;
};

// Returns every window of every level, scored in double precision from descriptors in double precision.
std::vector<Candidate> all_windows(const WindowModel& model, const PeopleParameters& parameters,
                                   HostView<const std::uint8_t> frame) {
    const auto& shape = frame.shape();
    const int least = parameters.least_height_px == 0 ? model.height_px : parameters.least_height_px;
    std::vector<double> scales;
    for (double scale = static_cast<double>(least) / model.height_px;
         static_cast<int>(shape.width / scale) >= model.width_px &&
         static_cast<int>(shape.height / scale) >= model.height_px &&
         (parameters.most_height_px == 0 || scale * model.height_px < parameters.most_height_px + 0.5);
         scale *= parameters.scale_step)
        scales.push_back(scale);
    const int planes = hog_planes(model.hog, shape.channels);
    ImagePyramid pyramid(scales, shape, kit::executor(Backend::cpu), planes);
    pyramid.run(frame);
    std::vector<Candidate> windows;
    for (int level = 0; level < pyramid.levels(); ++level) {
        const double scale = scales[static_cast<std::size_t>(level)];
        const auto of_planes = pyramid.level<MemorySpace::host>(level);
        HostImage whole({1, of_planes.shape().height, of_planes.shape().width, planes});
        for (int y = 0; y < whole.shape().height; ++y)
            for (int x = 0; x < whole.shape().width; ++x)
                for (int plane = 0; plane < planes; ++plane)
                    whole.view().row(0, y)[x * planes + plane] = of_planes.row(plane, y)[x];
        const HostView<const std::uint8_t> image = std::as_const(whole).view();
        const auto exact = hog_reference(model.hog, image).descriptors;
        const std::vector<float> descriptors(exact.begin(), exact.end());
        const auto of_image = hog_shape(model.hog, image.shape()), of_window = window_shape(model);
        const auto scores =
            window_scores_reference(model, HogView<const float, MemorySpace::host>(descriptors.data(), of_image));
        const auto rounded = [&](int pixels) { return static_cast<int>(std::lround(pixels * scale)); };
        const int width = rounded(model.width_px), height = rounded(model.height_px);
        auto score = scores.begin();
        for (int y = 0; y + of_window.rows <= of_image.rows; ++y)
            for (int x = 0; x + of_window.columns <= of_image.columns; ++x)
                windows.push_back({{std::min(rounded(x * model.hog.cell), shape.width - width),
                                    std::min(rounded(y * model.hog.cell), shape.height - height), width, height, 0},
                                   *score++});
    }
    return windows;
}

// Checks that every window is found with a threshold below all scores and without suppression. Compares the detections
// with all windows that exist.
void check_windows(Backend backend, const WindowModel& model, PeopleParameters parameters, const Shape& shape,
                   const kit::Layout& layout) {
    SCOPED_TRACE(fmt::format("{}: a window of {}x{}, step {}, heights {} to {}, in {}, {}, seed {}", to_string(backend),
                             model.width_px, model.height_px, parameters.scale_step, parameters.least_height_px,
                             parameters.most_height_px, to_string(shape), kit::to_string(layout), kit::seed()));
    parameters.threshold = -1e6;
    parameters.group = PeopleGrouping::overlap;
    parameters.overlap = 1;
    parameters.capacity = 1 << 16;
    kit::GuardedImage frame(shape, layout);
    kit::fill(frame.view(), kit::Fill::noise, 5);
    auto want = all_windows(model, parameters, frame.view());
    Found found(backend, model, parameters, frame);
    auto got = found();
    EXPECT_TRUE(std::ranges::is_sorted(got, std::greater(), &Detection::score));
    EXPECT_EQ(found.detector().windows(), std::ssize(want));
    EXPECT_EQ(found.candidates(), std::ssize(want));
    ASSERT_EQ(got.size(), want.size());
    const auto place = [](const Detection& d) { return std::tuple(d.height, d.width, d.y, d.x); };
    std::ranges::sort(got, {}, place);
    std::ranges::sort(want, {}, [&](const Candidate& candidate) { return place(candidate.box); });
    double largest = 0;
    for (const auto& window : want) largest = std::max(largest, std::abs(window.score));
    for (std::size_t i = 0; i < want.size(); ++i) {
        ASSERT_EQ(place(got[i]), place(want[i].box)) << "window " << i;
        ASSERT_NEAR(got[i].score, want[i].score, 1e-4 * largest) << "window " << i;
    }
    const auto again = found();
    std::ranges::sort(got, std::greater(), &Detection::score);
    EXPECT_TRUE(std::ranges::equal(got, again, {}, &Detection::score, &Detection::score)) << "a second run differs";
}

TEST_P(PeopleDetectorTest, ScoresEveryWindow) {
    kit::for_each_instruction_set(GetParam(), [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const int channels : {3, 1})
            for (const auto& layout : kit::layouts()) {
                if (HasFatalFailure()) return;
                check_windows(GetParam(), random_model({.cell = 4, .norm = HogNorm::l2hys}, 16, 24),
                              {.scale_step = 1.3}, {1, 67, 91, channels}, layout);
            }
        check_windows(GetParam(), random_model({.cell = 5, .bins = 6, .signed_gradients = true}, 15, 30),
                      {.scale_step = 1.2, .least_height_px = 15, .most_height_px = 41}, {1, 50, 64, 3}, {});
        check_windows(GetParam(), random_model({.norm = HogNorm::l2hys}, 64, 128), {.scale_step = 1.05},
                      {1, 161, 83, 3}, {});
        for (const auto preset : {HogPreset::people, HogPreset::opencv})
            for (const int channels : {3, 1})
                check_windows(GetParam(), random_model(hog_preset(preset), 32, 64), {.scale_step = 1.2},
                              {1, 150, 83, channels}, {});
    });
}

// Returns the gray level of a figure with two levels in a window of 64x128; coordinates are 0 to 1 in both directions.
int figure(double x, double y) {
    const auto within = [](double value, double begin, double end) { return value >= begin && value < end; };
    const bool head = std::hypot((x - 0.5) * 64, (y - 0.2) * 128) < 9;
    const bool body = within(x, 0.3, 0.7) && within(y, 0.28, 0.56);
    const bool legs = (within(x, 0.3, 0.45) || within(x, 0.55, 0.7)) && within(y, 0.56, 0.86);
    return head || body || legs ? 210 : 60;
}

void draw_figure(HostView<std::uint8_t> image, const Detection& box) {
    for (int y = 0; y < box.height; ++y)
        for (int x = 0; x < box.width; ++x)
            for (int channel = 0; channel < image.shape().channels; ++channel)
                image.row(0, box.y + y)[(box.x + x) * image.shape().channels + channel] =
                    static_cast<std::uint8_t>(figure((x + 0.5) / box.width, (y + 0.5) / box.height));
}

// Returns a model whose score is 1 - 0.4 on the figure and decreases with the part of the figure that a window misses.
WindowModel model_of_figure() {
    WindowModel model;
    const auto shape = window_shape(model);
    HostImage image({1, 128, 64, 1});
    draw_figure(image.view(), {0, 0, 64, 128, 0});
    model.weights.resize(static_cast<std::size_t>(shape.count()));
    Hog(model.hog, image.shape(), kit::executor(Backend::cpu))
        .run(image.view(), HogView<float, MemorySpace::host>(model.weights.data(), shape));
    double length = 0;
    for (const float value : model.weights) length += static_cast<double>(value) * value;
    for (float& value : model.weights) value = static_cast<float>(value / length);
    model.bias = -0.4f;
    return model;
}

TEST_P(PeopleDetectorTest, FindsFiguresAtTheirPositions) {
    const auto model = model_of_figure();
    kit::GuardedImage frame({1, 360, 640, 3}, kit::layouts().back());
    for (int y = 0; y < 360; ++y) std::fill_n(frame.view().row(0, y), 640 * 3, std::uint8_t{60});
    const std::vector<Detection> figures{
        {16, 24, 64, 128, 0}, {150, 100, 80, 160, 0}, {333, 41, 150, 300, 0}, {560, 200, 48, 96, 0}};
    for (const auto& box : figures) draw_figure(frame.view(), box);
    Found found(GetParam(), model, {.threshold = 0.4f, .group = PeopleGrouping::overlap, .least_height_px = 90}, frame);
    const auto got = found();
    ASSERT_EQ(got.size(), figures.size());
    for (const auto& box : figures)
        EXPECT_TRUE(std::ranges::any_of(got, [&](const Detection& detection) {
            return intersection_over_union(detection, box) > 0.7;
        })) << box.height;
    Found larger(GetParam(), model, {.threshold = 0.4f, .group = PeopleGrouping::overlap, .least_height_px = 200},
                 frame);
    ASSERT_EQ(larger().size(), 1u);
    EXPECT_GT(intersection_over_union(larger()[0], figures[2]), 0.7);
    Found smaller(GetParam(), model,
                  {.threshold = 0.4f, .group = PeopleGrouping::overlap, .least_height_px = 90, .most_height_px = 100},
                  frame);
    ASSERT_EQ(smaller().size(), 1u);
    EXPECT_GT(intersection_over_union(smaller()[0], figures[3]), 0.7);
    // A window exactly on the figure has the score for which the model was made, except for the frame's gamma.
    Found exact(GetParam(), model, {.threshold = 0.4f, .group = PeopleGrouping::overlap, .most_height_px = 128}, frame);
    const auto of_size = exact();
    const auto on_figure = std::ranges::find_if(of_size, [](const Detection& d) { return d.x == 16 && d.y == 24; });
    ASSERT_NE(on_figure, of_size.end());
    EXPECT_NEAR(on_figure->score, 0.6, 0.02);
}

// Grouping the windows around each figure afterwards gives the same means. At the default scale step, the low threshold
// would chain so many smaller windows to the tallest figure that their mean is 208 pixels high instead of 300.
TEST_P(PeopleDetectorTest, MergesNeighbouringWindows) {
    const auto model = model_of_figure();
    kit::GuardedImage frame({1, 360, 640, 3}, {});
    for (int y = 0; y < 360; ++y) std::fill_n(frame.view().row(0, y), 640 * 3, std::uint8_t{60});
    const std::vector<Detection> figures{{16, 24, 64, 128, 0}, {150, 100, 80, 160, 0}, {333, 41, 150, 300, 0}};
    for (const auto& box : figures) draw_figure(frame.view(), box);
    Found all(GetParam(), model, {.threshold = 0.2f, .scale_step = 1.1, .group = PeopleGrouping::overlap, .overlap = 1},
              frame);
    auto want = all();
    want.resize(NeighbourGroups(want.size())(want, 3));
    Found found(GetParam(), model, {.threshold = 0.2f, .scale_step = 1.1}, frame);
    const auto got = found();
    EXPECT_EQ(got, want);
    for (const auto& box : figures)
        EXPECT_TRUE(std::ranges::any_of(got, [&](const Detection& detection) {
            return intersection_over_union(detection, box) > 0.7;
        })) << box.height;
    Found none(GetParam(), model, {.threshold = 0.2f, .neighbours = 1000}, frame);
    EXPECT_TRUE(none().empty());
}

TEST_P(PeopleDetectorTest, ScoresEveryWindowWithInterpolatedVotes) {
    kit::for_each_instruction_set(GetParam(), [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        check_windows(GetParam(),
                      random_model({.gradient = HogGradient::central, .cell = 4, .norm = HogNorm::l2hys}, 16, 24),
                      {.scale_step = 1.3}, {1, 67, 91, 3}, {});
    });
}

// Tests more windows above the threshold than the capacity: the best are kept, regardless of their order.
TEST_P(PeopleDetectorTest, KeepsTheBestWindowsUpToTheCapacity) {
    const auto model = random_model({.cell = 4, .norm = HogNorm::l2hys}, 16, 24);
    kit::GuardedImage frame({1, 180, 230, 1}, {});
    kit::fill(frame.view(), kit::Fill::noise, 6);
    PeopleParameters parameters{.threshold = -1e6, .group = PeopleGrouping::overlap, .overlap = 1, .capacity = 1 << 16};
    Found all(GetParam(), model, parameters, frame);
    const auto every = all();
    ASSERT_GT(every.size(), 2000u);
    parameters.capacity = 7;
    Found few(GetParam(), model, parameters, frame);
    EXPECT_EQ(few(), std::vector<Detection>(every.begin(), every.begin() + 7));
    EXPECT_EQ(few.candidates(), std::ssize(every));
    parameters.threshold = every[99].score;
    parameters.capacity = 4096;
    Found above(GetParam(), model, parameters, frame);
    EXPECT_EQ(above(), std::vector<Detection>(every.begin(), every.begin() + 99)) << "only what scores more";
}

TEST_P(PeopleDetectorTest, FindsNobodyInAnEmptyFrame) {
    kit::GuardedImage frame({1, 200, 200, 3}, {});
    kit::fill(frame.view(), kit::Fill::full);
    Found found(GetParam(), model_of_figure(), {}, frame);
    EXPECT_TRUE(found().empty());
    EXPECT_EQ(found.candidates(), 0);
}

TEST(PeopleDetector, RunsWithoutAllocating) {
    HostImage frame({1, 200, 160, 3});
    kit::fill(frame.view(), kit::Fill::noise);
    Executor executor(BackendChoice::cpu, 1);  // starts its threads before the run
    PeopleDetector detector(random_model({.norm = HogNorm::l2hys}, 64, 128), {.threshold = -1e6f}, frame.shape(),
                            executor);
    auto people = detector.make_people();
    const auto run = [&] {
        detector.run(std::as_const(frame).view(), people);
        people.download();
        people.wait();
    };
    run();
    ASSERT_GT(people.detections().size(), 0u);
    const auto before = kit::allocations();
    run();
    EXPECT_EQ(kit::allocations(), before);
}

TEST(PeopleDetector, HasALevelForEveryWindowSizeThatFits) {
    const auto levels = [](const PeopleParameters& parameters, const Shape& shape) {
        return PeopleDetector(random_model({.norm = HogNorm::l2hys}, 64, 128), parameters, shape,
                              kit::executor(Backend::cpu))
            .levels();
    };
    EXPECT_EQ(levels({}, {1, 128, 64, 3}), 1);
    EXPECT_EQ(levels({.scale_step = 2}, {1, 256, 128, 3}), 2);
    EXPECT_EQ(levels({.scale_step = 2}, {1, 255, 128, 3}), 1);
    EXPECT_EQ(levels({.scale_step = 2}, {1, 1024, 2048, 3}), 4);
    EXPECT_EQ(levels({.scale_step = 2, .most_height_px = 512}, {1, 1024, 2048, 3}), 3);
    EXPECT_EQ(levels({.scale_step = 2, .least_height_px = 64, .most_height_px = 128}, {1, 1024, 2048, 3}), 2);
    EXPECT_EQ(levels({.least_height_px = 77, .most_height_px = 77}, {1, 1024, 2048, 3}), 1);
    EXPECT_EQ(levels({.least_height_px = 64}, {1, 64, 32, 3}), 1);
}

TEST(PeopleDetector, ExplainsWhyAFrameHasNoWindows) {
    const auto model = random_model({.norm = HogNorm::l2hys}, 64, 128);
    EXPECT_EQ(without_windows(model, {}, {1, 128, 64, 3}), "");
    const auto reason = without_windows(model, {}, {1, 100, 64, 3});
    for (const auto* part : {"64x100", "64x128", "32x64"})
        EXPECT_NE(reason.find(part), std::string::npos) << part << ": " << reason;
    EXPECT_EQ(without_windows(model, {.least_height_px = 100}, {1, 100, 64, 3}), "");
    EXPECT_EQ(without_windows(model, {.least_height_px = 64}, {1, 64, 32, 3}), "");
    EXPECT_NE(without_windows(model, {.least_height_px = 64}, {1, 64, 31, 3}), "");
}

TEST(PeopleDetector, RejectsInvalidArguments) {
    auto& executor = kit::executor(Backend::cpu);
    const auto model = random_model({.norm = HogNorm::l2hys}, 64, 128);
    const Shape shape{1, 300, 300, 3};
    const auto nan = std::numeric_limits<double>::quiet_NaN();
    for (const auto& parameters :
         {PeopleParameters{.threshold = nan}, PeopleParameters{.scale_step = 1.04}, PeopleParameters{.scale_step = 2.1},
          PeopleParameters{.scale_step = nan}, PeopleParameters{.overlap = -0.1}, PeopleParameters{.overlap = 1.1},
          PeopleParameters{.overlap = nan}, PeopleParameters{.neighbours = -1}, PeopleParameters{.neighbours = 1001},
          PeopleParameters{.least_height_px = 63}, PeopleParameters{.least_height_px = -1},
          PeopleParameters{.least_height_px = 301}, PeopleParameters{.most_height_px = 127},
          PeopleParameters{.most_height_px = -1}, PeopleParameters{.capacity = 0},
          PeopleParameters{.capacity = 1 << 17}})
        EXPECT_THROW(PeopleDetector(model, parameters, shape, executor), Error);
    for (const auto& small : {Shape{1, 127, 64, 3}, Shape{1, 128, 63, 3}, Shape{1, 1, 1, 1}, Shape{2, 300, 300, 3}})
        EXPECT_THROW(PeopleDetector(model, {}, small, executor), Error);
    auto broken = model;
    broken.weights.pop_back();
    EXPECT_THROW(PeopleDetector(broken, {}, shape, executor), Error);
    EXPECT_THROW(without_windows(broken, {}, shape), Error);

    PeopleDetector detector(model, {}, shape, executor);
    HostImage other({1, 300, 301, 3});
    auto people = detector.make_people();
    EXPECT_THROW(detector.run(std::as_const(other).view(), people), Error);
}

std::vector<Detection> grouped(std::vector<Detection> detections, int neighbours) {
    detections.resize(NeighbourGroups(detections.size())(detections, neighbours));
    return detections;
}

// The limit is a fifth of the mean of the smaller width and the smaller height, (10 + 30) / 2: 4 pixels.
TEST(Neighbours, SidesDifferByAtMostAFifth) {
    const Detection box{100, 100, 10, 30, 0};
    EXPECT_TRUE(are_neighbours(box, box));
    EXPECT_TRUE(are_neighbours(box, {104, 96, 10, 30, 0}));
    EXPECT_FALSE(are_neighbours(box, {105, 100, 10, 30, 0}));
    EXPECT_FALSE(are_neighbours(box, {100, 95, 10, 30, 0}));
    EXPECT_TRUE(are_neighbours(box, {100, 100, 14, 34, 0})) << "the sides to the right and below, too";
    EXPECT_FALSE(are_neighbours(box, {100, 100, 15, 30, 0}));
    EXPECT_FALSE(are_neighbours(box, {100, 100, 10, 35, 0}));
    EXPECT_TRUE(are_neighbours(box, {98, 98, 14, 34, 0}));
}

TEST(Neighbours, GroupHasTheMeanBoxAndTheBestScore) {
    const std::vector<Detection> boxes{{10, 20, 40, 80, 1}, {12, 21, 42, 83, 5}, {13, 22, 41, 82, 2}};
    // The means are 35 / 3, 63 / 3, 123 / 3 and 245 / 3.
    EXPECT_EQ(grouped(boxes, 2), (std::vector<Detection>{{12, 21, 41, 82, 5}}));
    EXPECT_TRUE(grouped(boxes, 3).empty()) << "each has two neighbours";
    EXPECT_EQ(grouped({boxes[0]}, 0), (std::vector{boxes[0]}));
    EXPECT_TRUE(grouped({boxes[0]}, 1).empty());
}

// The first and the last box are too far apart; the box between them joins them, in any order.
TEST(Neighbours, ChainOfNeighboursFormsOneGroup) {
    std::vector<Detection> boxes{{0, 0, 10, 10, 1}, {2, 0, 10, 10, 2}, {4, 0, 10, 10, 3}, {50, 0, 10, 10, 4}};
    ASSERT_FALSE(are_neighbours(boxes[0], boxes[2]));
    const std::vector<Detection> want{{50, 0, 10, 10, 4}, {2, 0, 10, 10, 3}};
    std::ranges::sort(boxes, {}, detection_rank);
    do EXPECT_EQ(grouped(boxes, 0), want);
    while (std::ranges::next_permutation(boxes, {}, detection_rank).found);
}

// Halves are rounded to even numbers, as in OpenCV.
TEST(Neighbours, MeansRoundHalfToEven) {
    EXPECT_EQ(grouped({{2, 3, 10, 10, 1}, {3, 4, 11, 10, 1}}, 1), (std::vector<Detection>{{2, 4, 10, 10, 1}}));
}

TEST(Neighbours, GroupsWithinLargerOnesAreDropped) {
    const auto times = [](int count, const Detection& box) {
        return std::vector<Detection>(static_cast<std::size_t>(count), box);
    };
    const auto with = [](std::vector<Detection> boxes, const std::vector<Detection>& more) {
        boxes.insert(boxes.end(), more.begin(), more.end());
        return boxes;
    };
    const Detection inner{30, 30, 20, 20, 9}, outer{0, 0, 100, 100, 1}, beside{95, 30, 26, 20, 2};
    EXPECT_EQ(grouped(with(times(3, inner), times(4, outer)), 1), (std::vector{outer}));
    EXPECT_EQ(grouped(with(times(3, inner), times(3, outer)), 1), (std::vector{inner, outer})) << "not more than three";
    EXPECT_EQ(grouped(with(times(5, inner), times(4, outer)), 1), (std::vector{inner, outer})) << "the inner has more";
    EXPECT_EQ(grouped(with(times(2, inner), times(2, outer)), 1), (std::vector{outer})) << "less than three give way";
    EXPECT_EQ(grouped(with(times(3, beside), times(4, outer)), 1), (std::vector{beside, outer}))
        << "reaches further than a fifth beyond its side";
}

TEST(Neighbours, GroupingIgnoresTheOrderAndDoesNotAllocate) {
    std::mt19937 random(1);
    std::vector<Detection> boxes;
    for (int i = 0; i < 300; ++i) {
        const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
        const int place = below(12) * 40, side = 20 + below(12);
        boxes.push_back({place + below(6), below(8), side, 2 * side, static_cast<float>(below(20))});
    }
    const auto first = grouped(boxes, 2);
    EXPECT_GT(first.size(), 3u);
    EXPECT_LT(first.size(), 100u);
    EXPECT_TRUE(std::ranges::is_sorted(first, {}, detection_rank));
    NeighbourGroups groups(boxes.size());
    for (int turn = 0; turn < 5; ++turn) {
        std::ranges::shuffle(boxes, random);
        auto all = boxes;
        const auto before = kit::allocations();
        const auto count = groups(all, 2);
        EXPECT_EQ(kit::allocations(), before);
        all.resize(count);
        EXPECT_EQ(all, first);
    }
}

TEST(Neighbours, EmptyInputGivesNoGroups) {
    EXPECT_TRUE(grouped({}, 0).empty());
    std::vector<Detection> boxes(3);
    EXPECT_THROW(NeighbourGroups(2)(boxes, 0), Error);
}

std::vector<Detection> suppressed(std::vector<Detection> detections, double overlap) {
    detections.resize(suppress_overlapping(detections, overlap));
    return detections;
}

TEST(Suppression, ComputesIntersectionOverUnion) {
    const Detection box{10, 20, 30, 40, 0};
    EXPECT_EQ(intersection_over_union(box, box), 1);
    EXPECT_EQ(intersection_over_union(box, {40, 20, 30, 40, 0}), 0) << "side by side";
    EXPECT_EQ(intersection_over_union(box, {10, 60, 30, 40, 0}), 0) << "one above the other";
    EXPECT_EQ(intersection_over_union(box, {100, 200, 30, 40, 0}), 0);
    EXPECT_EQ(intersection_over_union(box, {25, 20, 30, 40, 0}), 600 / 1800.0);
    EXPECT_EQ(intersection_over_union(box, {15, 30, 10, 10, 0}), 100 / 1200.0) << "one within the other";
}

// Calculated by hand: b overlaps a and c by a third each, and c does not overlap a. a suppresses b; c is kept because b
// has been dropped.
TEST(Suppression, DroppedDetectionsSuppressNothing) {
    const Detection a{0, 0, 10, 10, 3}, b{5, 0, 10, 10, 2}, c{10, 0, 10, 10, 1};
    EXPECT_EQ(suppressed({c, b, a}, 0.3), (std::vector{a, c}));
    EXPECT_EQ(suppressed({a, b, c}, 0.4), (std::vector{a, b, c}));
}

TEST(Suppression, KeepsOverlapsEqualToTheLimit) {
    const Detection a{0, 0, 10, 10, 3}, b{5, 0, 10, 10, 2};
    EXPECT_EQ(suppressed({a, b}, 50 / 150.0), (std::vector{a, b}));
    const Detection same{0, 0, 10, 10, 2};
    EXPECT_EQ(suppressed({a, same}, 1), (std::vector{a, same})) << "nothing overlaps by more than 1";
    EXPECT_EQ(suppressed({a, {10, 0, 10, 10, 2}}, 0).size(), 2u) << "what only touches does not overlap";
    EXPECT_EQ(suppressed({a, {9, 9, 10, 10, 2}}, 0), (std::vector{a}));
}

TEST(Suppression, BreaksTiesByPositionAndSize) {
    const Detection upper{5, 0, 10, 10, 1}, left{0, 1, 10, 10, 1}, right{2, 1, 10, 10, 1}, large{0, 1, 10, 12, 1};
    EXPECT_EQ(suppressed({right, left, large, upper}, 0), (std::vector{upper}));
    EXPECT_EQ(suppressed({right, left, large, upper}, 1), (std::vector{upper, left, large, right}));
}

// Compares the result with the definition, for any order of the input.
TEST(Suppression, IgnoresTheOrderOfTheInput) {
    std::mt19937 random(1);
    std::vector<Detection> detections;
    for (int i = 0; i < 200; ++i) {
        const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
        detections.push_back({below(90), below(90), 5 + below(30), 5 + below(30), static_cast<float>(below(20))});
    }
    const auto first = suppressed(detections, 0.25);
    EXPECT_GT(first.size(), 10u);
    EXPECT_LT(first.size(), 150u);
    EXPECT_TRUE(std::ranges::is_sorted(first, std::greater(), &Detection::score));
    for (const auto& detection : detections) {
        const bool stayed = std::ranges::find(first, detection) != first.end();
        const bool overlapped = std::ranges::any_of(first, [&](const Detection& other) {
            return other != detection && other.score >= detection.score &&
                   intersection_over_union(other, detection) > 0.25;
        });
        EXPECT_NE(stayed, overlapped);
    }
    std::ranges::shuffle(detections, random);
    EXPECT_EQ(suppressed(detections, 0.25), first);
}

TEST(Suppression, EmptyInputGivesNoDetections) { EXPECT_TRUE(suppressed({}, 0.3).empty()); }

}  // namespace
}  // namespace framewire
