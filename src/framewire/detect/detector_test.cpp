#include "framewire/detect/detector.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/detect/adaptive_ref.hpp"
#include "framewire/detect/detector_ref.hpp"
#include "framewire/detect/masks.hpp"
#include "framewire/detect/mixture.hpp"
#include "framewire/detect/mixture_ref.hpp"
#include "framewire/detect/stabiliser_ref.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using DetectorTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(DetectorTest);

using Objects = std::vector<std::vector<Component>>;  // per frame

const DetectorParameters report_chain{.background = FirstFrame{}};

// Returns a textured room with sensor noise; from the second frame on, disks and bars move, touch and leave.
HostImage scene(const Shape& shape) {
    HostImage frames(shape), noise(shape);
    kit::fill(noise.view(), kit::Fill::noise, 11);
    for (int frame = 0; frame < shape.frames; ++frame)
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                const bool disk = frame > 0 && (x - 20 - 9 * frame) * (x - 20 - 9 * frame) + (y - 40) * (y - 40) < 300;
                const bool bar = frame > 1 && x > 60 && x < 90 && y > 8 * frame && y < 8 * frame + 12;
                const int room = (x * 3 + y * 2) % 97 + 60;
                for (int channel = 0; channel < shape.channels; ++channel) {
                    const auto at = x * shape.channels + channel;
                    const int grain = noise.view().row(frame, y)[at] % 7;
                    frames.view().row(frame, y)[at] = static_cast<std::uint8_t>((disk  ? 225 - 40 * channel
                                                                                 : bar ? 10 + 20 * channel
                                                                                       : room) +
                                                                                grain);
                }
            }
    return frames;
}

// Returns the objects that the detector finds in one run.
Objects detected(MotionDetector& detector, HostView<const std::uint8_t> frames, Executor& executor) {
    if (executor.backend() == Backend::cpu) {
        detector.run(frames);
    } else {
        cuda::DeviceImage device(frames.shape());
        cuda::upload(frames, device.view(), executor.stream());
        detector.run(std::as_const(device).view());
        executor.stream().synchronize();
    }
    const auto& fetched = detector.fetch();
    Objects objects;
    for (int frame = 0; frame < frames.shape().frames; ++frame) {
        const auto found = fetched.of_frame(frame);
        objects.emplace_back(found.begin(), found.end());
    }
    return objects;
}

TEST_P(DetectorTest, MatchesTheSeparateSteps) {
    auto& executor = kit::executor(GetParam());
    std::vector<DetectorParameters> cases(7, report_chain);
    cases[1].shape = ElementShape::ellipse;
    cases[1].morphology = MorphologyOperation::close_open;
    cases[2].blur_px = 1;
    cases[2].morphology = MorphologyOperation::open;
    cases[2].diameter_px = 3;
    cases[3].morphology = MorphologyOperation::none;
    cases[3].threshold = 3;
    cases[3].min_area = 1;
    cases[3].connectivity = 4;
    cases[4].shape = ElementShape::rect;
    cases[4].diameter_px = 63;
    cases[5].max_area = 600;
    cases[6].morphology = MedianWindow{5};
    for (const int channels : {3, 1})
        for (const Shape& shape :
             {Shape{6, 90, 161, channels}, Shape{1, 1, 1, channels}, Shape{3, 64, 128, channels}}) {
            const auto frames = scene(shape);
            for (const auto& parameters : cases) {
                MotionDetector detector(parameters, shape, executor);
                const auto want = detector_reference(parameters, frames.view(), frames.view().frames(0, 1));
                ASSERT_EQ(detected(detector, frames.view(), executor), want)
                    << to_string(shape) << ", case " << &parameters - cases.data();
                HostImage mask(shape.with_channels(1)), unpacked(shape.with_channels(1));
                detector.fetch_mask(mask.view());
                if (GetParam() == Backend::cpu) {
                    unpack_mask(detector.mask<MemorySpace::host>(), unpacked.view());
                } else {
                    MotionDetector same(parameters, shape, kit::executor(Backend::cpu));
                    same.run(frames.view());
                    unpack_mask(same.mask<MemorySpace::host>(), unpacked.view());
                }
                ASSERT_EQ(kit::first_difference(std::as_const(mask).view(), std::as_const(unpacked).view()),
                          std::nullopt);
                if (shape.frames == 6 && &parameters == cases.data()) {
                    ASSERT_FALSE(want[3].empty());
                }
            }
        }
}

TEST_P(DetectorTest, DefaultsToAnAdaptiveBackgroundAndAMedian) {
    auto& executor = kit::executor(GetParam());
    for (const int channels : {3, 1}) {
        const Shape shape{6, 90, 161, channels};
        const auto frames = scene(shape);
        HostImage moving(shape.with_channels(1));
        AdaptiveReference(adaptive_terms({}), shape).run(frames.view(), moving.view());
        const auto want = objects_of_masks_reference({}, std::as_const(moving).view());
        EXPECT_FALSE(want[3].empty());
        EXPECT_EQ(cleaning_of({}), MaskCleaning(MedianWindow{9}));
        MotionDetector detector({}, shape, executor);
        EXPECT_EQ(detected(detector, frames.view(), executor), want) << channels;
    }
}

TEST_P(DetectorTest, BatchesMatchSingleFrames) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{6, 70, 131, 3};
    const auto frames = scene(shape);
    for (const std::string background :
         {"first", "mean:0.3", "mixture", "adaptive", "first, stabilised", "mixture, stabilised"}) {
        DetectorParameters parameters;
        parameters.background = parse_background(background.substr(0, background.find(',')));
        parameters.stabilise = background.ends_with("stabilised");
        MotionDetector together(parameters, shape, executor), one_by_one(parameters, shape.with_frames(1), executor);
        const auto want = detected(together, frames.view(), executor);
        Objects got;
        for (int frame = 0; frame < shape.frames; ++frame)
            got.push_back(detected(one_by_one, frames.view().frames(frame, 1), executor)[0]);
        EXPECT_EQ(got, want) << background;
        EXPECT_FALSE(want[4].empty()) << background;
        one_by_one.reset();
        EXPECT_EQ(detected(one_by_one, frames.view().frames(0, 1), executor)[0], want[0]) << background << ", reset";
    }
}

// Returns the scene from a camera that moves by whole pixels.
HostImage shaken_scene(const Shape& shape) {
    constexpr int range = 3;
    const auto wide = scene({shape.frames, shape.height + 2 * range, shape.width + 2 * range, shape.channels});
    HostImage frames(shape);
    for (int frame = 0; frame < shape.frames; ++frame) {
        const int x = frame * 3 % (2 * range + 1), y = frame * 5 % (2 * range + 1);
        for (int row = 0; row < shape.height; ++row)
            std::copy_n(wide.view().row(frame, row + y) + x * shape.channels, shape.row_bytes(),
                        frames.view().row(frame, row));
    }
    return frames;
}

TEST_P(DetectorTest, StabilisedMatchesTheSeparateSteps) {
    auto& executor = kit::executor(GetParam());
    for (const int channels : {3, 1}) {
        const Shape shape{6, 90, 161, channels}, gray_shape = shape.with_channels(1);
        const auto frames = shaken_scene(shape);
        HostImage still(shape), moving(gray_shape), shadows(gray_shape), moved(gray_shape);
        const auto shifts = StabiliserReference(shape.with_frames(1)).run(frames.view(), still.view());
        EXPECT_NE(shifts[1], CameraShift{});
        MixtureReference(mixture_terms({}), shape).run(still.view(), moving.view(), shadows.view());
        StabiliserReference::move_back(shifts, std::as_const(moving).view(), moved.view());
        const auto want = objects_of_masks_reference({.background = MixtureParameters{}}, std::as_const(moved).view());
        EXPECT_FALSE(want[3].empty());
        MotionDetector detector({.background = MixtureParameters{}, .stabilise = true}, shape, executor);
        EXPECT_EQ(detected(detector, frames.view(), executor), want) << channels;
        detector.reset();
        EXPECT_EQ(detected(detector, frames.view(), executor), want) << channels << ", reset";
    }
}

// A background that needs only gray compares stabilised gray images.
TEST_P(DetectorTest, StabilisesGrayImagesForABackgroundThatNeedsNoMore) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{6, 90, 161, 3}, gray_shape = shape.with_channels(1);
    const auto frames = shaken_scene(shape);
    HostImage gray(gray_shape), still(gray_shape), blurred(gray_shape), dirty(gray_shape), moved(gray_shape);
    HostBitMask mask(gray_shape);
    gray_reference(GrayMethod::weighted, frames.view(), gray.view());
    auto parameters = report_chain;
    parameters.stabilise = true;
    const auto shifts = StabiliserReference(gray_shape.with_frames(1)).run(gray.view(), still.view());
    gaussian_reference({.size = parameters.blur_px, .rounding = GaussianRounding::opencv}, still.view(),
                       blurred.view());
    difference_reference(parameters.threshold, std::as_const(blurred).view(), blurred.view().frames(0, 1), mask.view());
    unpack_mask(std::as_const(mask).view(), dirty.view());
    StabiliserReference::move_back(shifts, std::as_const(dirty).view(), moved.view());
    const auto want = objects_of_masks_reference(parameters, std::as_const(moved).view());
    EXPECT_FALSE(want[3].empty());
    MotionDetector detector(parameters, shape, executor),
        of_picture({.background = BackgroundImage{}, .stabilise = true}, shape, executor);
    EXPECT_EQ(detected(detector, frames.view(), executor), want);
    // The first frame as a picture: it is the reference of the stabiliser, too.
    of_picture.set_background(frames.view().frames(0, 1));
    const auto later = detected(of_picture, frames.view(), executor);
    EXPECT_FALSE(later[3].empty());
    EXPECT_TRUE(later[0].empty());
    if (GetParam() == Backend::cpu) {
        detector.reset();
        EXPECT_EQ(detected(detector, gray.view(), executor), want) << "frames that are gray already";
    }
}

TEST_P(DetectorTest, ComparesWithAGivenBackgroundPicture) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{2, 90, 161, 3};
    const auto frames = scene({5, 90, 161, 3});
    DetectorParameters parameters;
    parameters.background = BackgroundImage{"room.png"};
    const auto room = frames.view().frames(0, 1), later = frames.view().frames(3, 2);
    MotionDetector detector(parameters, shape, executor);
    detector.set_background(room);
    EXPECT_EQ(detected(detector, later, executor), detector_reference(parameters, later, room));
    detector.reset();
    EXPECT_EQ(detected(detector, later, executor), detector_reference(parameters, later, room))
        << "a given picture is kept";

    HostImage gray({1, 90, 161, 1});
    gray_reference(GrayMethod::weighted, room, gray.view());
    detector.set_background(std::as_const(gray).view());
    EXPECT_EQ(detected(detector, later, executor), detector_reference(parameters, later, room))
        << "its gray version gives the same objects";
}

TEST_P(DetectorTest, FindsObjectsOnlyInItsRegion) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{6, 90, 161, 3};
    const auto frames = scene(shape);
    const Zone left{0, 0, 58, 90};
    const MaskRegion region({&left, 1}, shape, executor);
    MotionDetector detector(report_chain, shape, executor, &region), everywhere(report_chain, shape, executor);
    const auto inside = detected(detector, frames.view(), executor);
    const auto all = detected(everywhere, frames.view(), executor);
    EXPECT_FALSE(inside[2].empty());
    for (const auto& objects : inside)
        for (const auto& object : objects) EXPECT_LE(object.x + object.width, 58);
    EXPECT_TRUE(std::ranges::any_of(all[3], [](const auto& object) { return object.x + object.width > 58; }));
}

TEST_P(DetectorTest, KeepsObjectsUpToItsCapacity) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{6, 90, 201, 3};
    const auto frames = scene(shape);
    DetectorParameters parameters{.background = FirstFrame{},
                                  .blur_px = 1,
                                  .threshold = 3,
                                  .morphology = MorphologyOperation::none,
                                  .min_area = 1};
    const auto all = detector_reference(parameters, frames.view(), frames.view().frames(0, 1));
    ASSERT_GT(all[3].size(), 600u) << "more than are downloaded at once";
    for (const int capacity : {1, 5, 600, 100'000}) {
        parameters.capacity = capacity;
        MotionDetector detector(parameters, shape, executor);
        const auto got = detected(detector, frames.view(), executor);
        for (std::size_t frame = 0; frame < got.size(); ++frame) {
            const auto kept = std::min(all[frame].size(), static_cast<std::size_t>(capacity));
            EXPECT_TRUE(std::ranges::equal(got[frame], std::span(all[frame]).first(kept))) << capacity;
            EXPECT_EQ(detector.fetch().found(static_cast<int>(frame)), static_cast<std::int64_t>(all[frame].size()));
        }
    }
}

TEST_P(DetectorTest, IsDeterministic) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{4, 90, 161, 3};
    const auto frames = scene(shape);
    DetectorParameters parameters{.background = FirstFrame{}, .threshold = 6, .min_area = 1};
    MotionDetector detector(parameters, shape, executor);
    const auto first = detected(detector, frames.view(), executor);
    const int runs = kit::brief() ? 3 : 100;
    for (int run = 1; run < runs; ++run) ASSERT_EQ(detected(detector, frames.view(), executor), first) << run;
}

TEST_P(DetectorTest, FilterDrawsOrPixelatesObjects) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{5, 90, 161, 3};
    const auto frames = scene(shape);
    const auto want_objects = detector_reference(report_chain, frames.view(), frames.view().frames(0, 1));
    const auto info = boxes_info();
    for (const int pixelate : {0, 8}) {
        const auto filter = info.make(
            with_defaults(info, {{"method", "report"}, {"pixelate", std::to_string(pixelate)}}), shape, executor);
        HostImage got(shape), want(shape);
        // The first frame is the background: it is unknown what moves in it, so all of it is hidden.
        box_overlay_reference({.pixelate_px = pixelate}, {0, 0, 255}, want_objects, frames.view(), want.view(), 1);
        if (executor.backend() == Backend::cpu) {
            filter->run(FilterImages<MemorySpace::host>{frames.view(), {}, got.view()});
        } else {
            cuda::DeviceImage in(shape), out(shape);
            cuda::upload(frames.view(), in.view(), executor.stream());
            filter->run(FilterImages<MemorySpace::device>{in.view(), {}, out.view()});
            cuda::download(out.view(), got.view(), executor.stream());
            executor.stream().synchronize();
        }
        EXPECT_EQ(kit::first_difference(got.view(), want.view()), std::nullopt) << pixelate;
        const auto figures = filter->figures();
        ASSERT_EQ(figures.size(), 5u);
        EXPECT_EQ(figures[3].name, "objects");
        EXPECT_EQ(figures[3].value, static_cast<double>(want_objects[3].size()));
    }
}

TEST_P(DetectorTest, CountsFramesWithoutABackground) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{4, 30, 41, 3};
    const auto frames = scene(shape);
    struct Case {
        const char* background;
        std::vector<int> of_runs;
    };
    for (const auto& [background, of_runs] :
         {Case{"first", {1, 0, 0}}, Case{"mean:0.02", {4, 4, 4}}, Case{"mean:0.2", {4, 1, 0}},
          Case{"mixture", {4, 1, 0}}, Case{"adaptive", {4, 4, 0}}}) {
        DetectorParameters parameters;
        parameters.background = parse_background(background);
        MotionDetector detector(parameters, shape, executor);
        for (int start = 0; start < 2; ++start, detector.reset())
            for (const int want : of_runs) {
                detected(detector, frames.view(), executor);
                EXPECT_EQ(detector.frames_before_background(), want) << background << ", start " << start;
            }
    }
    DetectorParameters parameters;
    parameters.background = BackgroundImage{"room.png"};
    MotionDetector given(parameters, shape, executor), missing(parameters, shape, executor);
    given.set_background(frames.view().frames(0, 1));
    detected(given, frames.view(), executor);
    EXPECT_EQ(given.frames_before_background(), 0);
    given.reset();
    detected(given, frames.view(), executor);
    EXPECT_EQ(given.frames_before_background(), 0) << "a given picture is kept";
    detected(missing, frames.view(), executor);
    EXPECT_EQ(missing.frames_before_background(), 1) << "the first frame is used until a picture is given";
}

TEST(Detector, RejectsInvalidArguments) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 20, 30, 3};
    const auto refused = [&](auto change) {
        DetectorParameters parameters;
        change(parameters);
        EXPECT_THROW(MotionDetector(parameters, shape, executor), Error);
    };
    refused([](auto& p) { p.blur_px = 0; });
    refused([](auto& p) { p.blur_px = 256; });
    refused([](auto& p) { p.threshold = -1; });
    refused([](auto& p) { p.threshold = 256; });
    refused([](auto& p) { p.diameter_px = 14; });
    refused([](auto& p) { p.diameter_px = 65; });
    refused([](auto& p) { p.morphology = MedianWindow{8}; });
    refused([](auto& p) { p.connectivity = 6; });
    refused([](auto& p) { p.min_area = 0; });
    refused([](auto& p) { p.max_area = 99; });
    refused([](auto& p) { p.capacity = 0; });
    refused([](auto& p) { p.capacity = max_detector_capacity + 1; });
    EXPECT_THROW(MotionDetector({}, {1, 20, 30, 2}, executor), Error);

    MotionDetector detector(report_chain, shape, executor);
    HostImage other({1, 20, 31, 3}), gray(shape.with_channels(1));
    EXPECT_THROW(detector.run(std::as_const(other).view()), Error);
    EXPECT_NO_THROW(detector.run(std::as_const(gray).view()));
    EXPECT_THROW(MotionDetector({}, shape, executor).run(std::as_const(gray).view()), Error)
        << "an adaptive background needs colours";
    EXPECT_THROW(detector.set_background(std::as_const(other).view()), Error) << "this detector uses the first frame";
    DetectorParameters with_picture;
    with_picture.background = BackgroundImage{"room.png"};
    MotionDetector waiting(with_picture, shape, executor);
    EXPECT_THROW(waiting.set_background(std::as_const(other).view()), Error) << "of another size";
}

DetectorParameters parameters_of(std::initializer_list<std::pair<std::string, std::string>> given) {
    return detector_parameters(with_defaults(detector_fields().infos(), given));
}

TEST(DetectorParameters, DefaultsDependOnMethodAndBackground) {
    EXPECT_EQ(parameters_of({}).background, BackgroundModel(AdaptiveParameters{}));
    EXPECT_EQ(parameters_of({{"method", "mixture"}}).background, BackgroundModel(MixtureParameters{}));
    for (const auto& classifying : {parameters_of({}), parameters_of({{"background", "mixture"}})})
        EXPECT_EQ(cleaning_of(classifying), MaskCleaning(MedianWindow{9}));
    for (const auto& report : {parameters_of({{"method", "report"}}), parameters_of({{"background", "first"}})}) {
        EXPECT_EQ(report.background, BackgroundModel(FirstFrame{}));
        EXPECT_EQ(report.blur_px, 15);
        EXPECT_EQ(report.threshold, 20);
        EXPECT_EQ(cleaning_of(report), MaskCleaning(MorphologyOperation::close));
    }
    const auto mean = parameters_of({{"method", "report"}, {"background", "mean:0.02"}, {"morph", "median:5"}});
    EXPECT_EQ(mean.background, BackgroundModel(RunningMean{0.02}));
    EXPECT_EQ(cleaning_of(mean), MaskCleaning(MedianWindow{5}));
    EXPECT_EQ(cleaning_of(parameters_of({{"morph", "median"}})), MaskCleaning(MedianWindow{9}));
    EXPECT_EQ(cleaning_of(parameters_of({{"morph", "open"}})), MaskCleaning(MorphologyOperation::open));
}

TEST(DetectorParameters, AreParsedFromText) {
    EXPECT_EQ(parse_detector("").background, BackgroundModel(AdaptiveParameters{}));
    const auto parsed = parse_detector(" method=report : min-area=40:connectivity=4:morph='median:5'");
    EXPECT_EQ(parsed.background, BackgroundModel(FirstFrame{}));
    EXPECT_EQ(parsed.min_area, 40);
    EXPECT_EQ(parsed.connectivity, 4);
    EXPECT_EQ(cleaning_of(parsed), MaskCleaning(MedianWindow{5}));
    for (const auto* wrong :
         {"min-aera=4", "min-area=x", "connectivity=6", "min-area=4:min-area=5", "blur=5", ":", "40"})
        EXPECT_THROW(parse_detector(wrong), Error) << wrong;
}

TEST(DetectorParameters, KeepObjectsThatStopForSecondsAtAnyRate) {
    const auto kept = [](const char* seconds, double rate) {
        const auto parameters = parameters_of({{"keep", seconds}, {"background", "adaptive:texture=4"}});
        return adaptive_terms(std::get<AdaptiveParameters>(at_rate(parameters, rate).background));
    };
    const auto frames = [](const AdaptiveTerms& terms) {
        return std::min(terms.keep_age, adaptive_frame_ages) +
               std::max(0, terms.keep_age - adaptive_frame_ages) * terms.tick_frames;
    };
    EXPECT_NEAR(frames(kept("30", 30)), 900, 4);
    EXPECT_EQ(frames(kept("30", 5)), 150);
    EXPECT_NEAR(frames(kept("60", 60)), 3600, 17);
    EXPECT_EQ(frames(kept("0.5", 20)), 10);
    EXPECT_EQ(kept("0", 30).keep_age, 0) << "never background";
    EXPECT_EQ(kept("0.001", 5).keep_age, 1) << "at least one frame";
    EXPECT_NEAR(frames(kept("604800", 1e9)), 1e6, 5000);
    EXPECT_EQ(frames(kept("2", 0)), 60) << "without a rate, 30 frames are a second";
    EXPECT_EQ(at_rate({.background = MixtureParameters{}}, 5).background, BackgroundModel(MixtureParameters{}));
}

TEST(DetectorParameters, RejectValuesWithoutEffect) {
    const auto message = [](std::initializer_list<std::pair<std::string, std::string>> given) -> std::string {
        try {
            parameters_of(given);
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage);
            return error.what();
        }
        return "";
    };
    EXPECT_EQ(message({{"blur", "15"}}),
              "blur has no effect with background adaptive, which classifies unfiltered frames");
    EXPECT_EQ(message({{"blur", "15"}, {"method", "mixture"}}),
              "blur has no effect with background mixture, which classifies unfiltered frames");
    for (const auto* background : {"mixture", "mean:0.1", "first"})
        EXPECT_EQ(message({{"keep", "30"}, {"background", background}}),
                  fmt::format("keep has no effect with background {}; allowed with adaptive",
                              name_of_background(parse_background(background))));
    EXPECT_NE(message({{"threshold", "9"}, {"background", "mixture:history=20"}}), "");
    EXPECT_EQ(message({{"threshold", "9"}, {"background", "mean:0.1"}}), "");
    EXPECT_EQ(message({{"diameter", "5"}}),
              "diameter has no effect with morph median, whose window is a square: median:SIZE");
    EXPECT_NE(message({{"shape", "disc"}, {"method", "report"}, {"morph", "median"}}), "");
    EXPECT_EQ(message({{"shape", "rect"}, {"morph", "none"}}), "shape has no effect with morph none");
    EXPECT_EQ(message({{"diameter", "5"}, {"morph", "close"}}), "");
    EXPECT_EQ(message({{"method", "report"}, {"background", "mixture"}}),
              "background mixture cannot be combined with method report");
    EXPECT_EQ(message({{"method", "mixture"}, {"background", "first"}}),
              "background first cannot be combined with method mixture");
    EXPECT_NE(message({{"morph", "median:8"}}).find("odd whole number from 3 to 63"), std::string::npos);
    EXPECT_NE(message({{"morph", "closed"}}).find("one of close, open, close-open, dilate, erode, none, median[:SIZE]"),
              std::string::npos);
    EXPECT_NE(message({{"morph", "mediam"}}).find("did you mean 'median'?"), std::string::npos);
}

TEST(BoxesFilter, RejectsInvalidBackgroundsAndColours) {
    const auto info = boxes_info();
    const Shape shape{1, 20, 30, 3};
    for (const auto& [key, value] :
         {std::pair{"background", "room.png"}, {"background", "mean:2"}, {"color", "reddish"}})
        EXPECT_THROW(info.output_shape(with_defaults(info, {{key, value}}), shape), Error) << value;
}

constexpr Shape shape{1, 60, 90, 3};

// Returns a frame of a uniform room with a bright square that moves, and a speck.
HostImage frame_of(int number) {
    HostImage image(shape);
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x) {
            const int left = 10 + 8 * number;
            const bool square = number > 0 && x >= left && x < left + 20 && y >= 20 && y < 40;
            const bool speck = number > 0 && x == 80 && y == 50;
            for (int channel = 0; channel < 3; ++channel)
                image.view().row(0, y)[3 * x + channel] =
                    static_cast<std::uint8_t>(square || speck ? 220 : 60 + channel);
        }
    return image;
}

const DetectorStep& step(const DetectorSteps& steps, std::string_view name) {
    for (const auto& one : steps.steps())
        if (one.name == name) return one;
    fail(ErrorCode::internal, "unknown step {}", name);
}

TEST(DetectorSteps, ShowEveryStepOfTheReportMethod) {
    auto& executor = kit::executor(Backend::cpu);
    const DetectorParameters parameters{.background = FirstFrame{}, .blur_px = 3};
    EXPECT_EQ(detector_step_names(parameters),
              (std::vector<std::string_view>{"gray", "blur", "background", "difference", "threshold", "morphology",
                                             "labels"}));
    DetectorSteps steps(parameters, shape, executor);
    const auto first = frame_of(0), later = frame_of(2);
    steps.run(first.view());
    steps.run(later.view());

    const auto one = shape.with_channels(1);
    HostImage gray(one), blurred(one), still(one), dirty(one), clean(one);
    HostBitMask mask(one);
    gray_reference(GrayMethod::weighted, later.view(), gray.view());
    blurred_gray_reference(3, later.view(), blurred.view());
    blurred_gray_reference(3, first.view(), still.view());
    difference_reference(20, std::as_const(blurred).view(), std::as_const(still).view(), mask.view());
    unpack_mask(std::as_const(mask).view(), dirty.view());
    morphology_reference(MorphologyOperation::close, {ElementShape::disc, 15}, std::as_const(dirty).view(),
                         clean.view());
    for (const auto& [name, want] : {std::pair<const char*, const HostImage*>{"gray", &gray},
                                     {"blur", &blurred},
                                     {"background", &still},
                                     {"threshold", &dirty},
                                     {"morphology", &clean}})
        EXPECT_EQ(kit::first_difference(step(steps, name).picture.view(), want->view()), std::nullopt) << name;
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x)
            ASSERT_EQ(step(steps, "difference").picture.view().row(0, y)[x],
                      std::abs(blurred.view().row(0, y)[x] - still.view().row(0, y)[x]));
}

TEST(DetectorSteps, LabelsShowObjectsInColourAndTheRestInGray) {
    auto& executor = kit::executor(Backend::cpu);
    DetectorParameters parameters{.background = FirstFrame{}, .blur_px = 1, .morphology = MorphologyOperation::none};
    DetectorSteps steps(parameters, shape, executor);
    const auto first = frame_of(0), later = frame_of(2);
    steps.run(first.view());
    steps.run(later.view());
    const auto labels = step(steps, "labels").picture.view();
    const auto colour = [&](int x, int y) {
        const auto* at = labels.row(0, y) + 3 * x;
        return std::vector<int>{at[0], at[1], at[2]};
    };
    EXPECT_EQ(colour(0, 0), (std::vector<int>{0, 0, 0}));
    EXPECT_EQ(colour(80, 50), (std::vector<int>{72, 72, 72})) << "one pixel is below the least area";
    EXPECT_EQ(colour(30, 30), colour(45, 21));
    EXPECT_NE(colour(30, 30), colour(0, 0));
    EXPECT_NE(colour(30, 30), colour(80, 50));
    for (const auto name : detector_step_names(parameters)) EXPECT_NE(name, "morphology");
}

TEST(DetectorSteps, ShowTheBackgroundAndMasksOfAMixture) {
    auto& executor = kit::executor(Backend::cpu);
    EXPECT_EQ(detector_step_names({}),
              (std::vector<std::string_view>{"background", "threshold", "morphology", "labels"}));
    const DetectorParameters parameters{.background = MixtureParameters{}};
    EXPECT_EQ(detector_step_names(parameters), detector_step_names({}));
    DetectorSteps steps(parameters, shape, executor);
    MixtureBackground mixture({}, shape, executor);
    HostBitMask mask(shape);
    HostImage background(shape), moving(shape.with_channels(1)), median(shape.with_channels(1));
    for (int number = 0; number < 4; ++number) {
        const auto frame = frame_of(number);
        steps.run(frame.view());
        mixture.run(frame.view(), mask.view());
    }
    mixture.draw_background(background.view());
    unpack_mask(std::as_const(mask).view(), moving.view());
    mask_median_reference(9, moving.view(), median.view());
    EXPECT_EQ(kit::first_difference(step(steps, "background").picture.view(), background.view()), std::nullopt);
    EXPECT_EQ(kit::first_difference(step(steps, "threshold").picture.view(), moving.view()), std::nullopt);
    EXPECT_EQ(kit::first_difference(step(steps, "morphology").picture.view(), median.view()), std::nullopt);
}

}  // namespace
}  // namespace framewire
