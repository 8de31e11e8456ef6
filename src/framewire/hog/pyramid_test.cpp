#include "framewire/hog/pyramid.hpp"
#include "framewire/core/error.hpp"
#include "framewire/hog/hog_ref.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using PyramidTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(PyramidTest);

// Scales of octaves, scales between them, and enlarged levels; all are multiples of 1/65536 of their octave's pixels.
const std::vector<double> scales{1, 72090 / 65536.0, 1.25, 1.5, 1.984375, 2, 2.5, 3.75, 4, 5.125, 8, 0.5, 0.75};

// Returns the levels of a frame in host memory.
std::vector<HostImage> levels_of(Backend backend, const std::vector<double>& at_scales, kit::GuardedImage& frame,
                                 int planes = 1) {
    auto& executor = kit::executor(backend);
    ImagePyramid pyramid(at_scales, frame.view().shape(), executor, planes);
    std::vector<HostImage> levels;
    for (int level = 0; level < pyramid.levels(); ++level) levels.emplace_back(pyramid.level_shape(level));
    if (backend == Backend::cpu) {
        pyramid.run(frame.view());
        for (int level = 0; level < pyramid.levels(); ++level)
            copy(pyramid.level<MemorySpace::host>(level), levels[static_cast<std::size_t>(level)].view());
    } else if constexpr (cuda::compiled) {
        kit::DeviceMirror mirror(frame);
        mirror.upload(executor.stream());
        pyramid.run(mirror.view());
        for (int level = 0; level < pyramid.levels(); ++level)
            cuda::download(pyramid.level<MemorySpace::device>(level), levels[static_cast<std::size_t>(level)].view(),
                           executor.stream());
        executor.stream().synchronize();
    }
    return levels;
}

void check_pyramid(Backend backend, const Shape& shape, const kit::Layout& layout, kit::Fill fill_with) {
    SCOPED_TRACE(fmt::format("{}, {}, {}, fill {}, seed {}", to_string(backend), to_string(shape),
                             kit::to_string(layout), kit::to_string(fill_with), kit::seed()));
    kit::GuardedImage frame(shape, layout);
    kit::fill(frame.view(), fill_with, 3);
    std::vector<double> fitting;
    for (const double scale : scales)
        if (scale <= std::min(shape.width, shape.height)) fitting.push_back(scale);
    const auto levels = levels_of(backend, fitting, frame);
    for (std::size_t level = 0; level < fitting.size(); ++level) {
        const auto want = pyramid_level_reference(fitting[level], frame.view());
        ASSERT_EQ(levels[level].shape(), want.shape()) << "scale " << fitting[level];
        const auto difference = kit::first_difference(levels[level].view(), want.view());
        ASSERT_FALSE(difference) << "scale " << fitting[level] << ": " << *difference;
    }
    if (shape.channels == 1) return;
    const auto colours = levels_of(backend, fitting, frame, 3);
    for (std::size_t level = 0; level < fitting.size(); ++level)
        for (int channel = 0; channel < 3; ++channel) {
            const auto want = pyramid_level_reference(fitting[level], frame.view(), channel);
            const auto difference =
                kit::first_difference(std::as_const(colours[level]).view().frames(channel, 1), want.view());
            ASSERT_FALSE(difference) << "scale " << fitting[level] << ", channel " << channel << ": " << *difference;
        }
}

TEST_P(PyramidTest, EqualsTheReferenceForEveryShapeLayoutAndFill) {
    kit::for_each_instruction_set(GetParam(), [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const int channels : {3, 1})
            for (const auto& shape : kit::small_shapes(channels))
                for (const auto& layout : kit::layouts())
                    for (const auto fill_with : kit::fills()) {
                        if (HasFatalFailure()) return;
                        check_pyramid(GetParam(), shape, layout, fill_with);
                    }
    });
}

TEST_P(PyramidTest, EqualsTheReferenceForLargeImages) {
    check_pyramid(GetParam(), kit::hd_shape(3), {}, kit::Fill::noise);
}

// The brightness of the image is the column number, so a level's pixel shows the column at which it is sited.
TEST_P(PyramidTest, PixelPositionsFollowTheScale) {
    kit::GuardedImage frame({1, 128, 250, 1}, {});
    for (int y = 0; y < 128; ++y)
        for (int x = 0; x < 250; ++x) frame.view().row(0, y)[x] = static_cast<std::uint8_t>(x);
    const std::vector<double> at_scales{0.6, 1, 1.1, 1.9, 2, 2.3, 3.1, 4, 6.7};
    const auto levels = levels_of(GetParam(), at_scales, frame);
    for (std::size_t level = 0; level < levels.size(); ++level) {
        const double scale = at_scales[level];
        const auto view = levels[level].view();
        ASSERT_EQ(view.shape(), (Shape{1, static_cast<int>(128 / scale), static_cast<int>(250 / scale), 1}));
        // Excludes the columns that an octave drops if a side is odd.
        for (int x = 0; x + 2 < view.shape().width; ++x)
            ASSERT_NEAR(view.row(0, view.shape().height / 2)[x], std::max((x + 0.5) * scale - 0.5, 0.0), 1.02)
                << "scale " << scale << ", pixel " << x;
    }
}

TEST(Pyramid, RunsWithoutAllocating) {
    HostImage frame({1, 90, 131, 3});
    kit::fill(frame.view(), kit::Fill::noise);
    Executor executor(BackendChoice::cpu, 1);  // starts its threads before the run
    ImagePyramid pyramid(scales, frame.shape(), executor);
    const auto run = [&] { pyramid.run(std::as_const(frame).view()); };
    run();
    const auto before = kit::allocations();
    run();
    EXPECT_EQ(kit::allocations(), before);
}

TEST(Pyramid, RejectsInvalidArguments) {
    auto& executor = kit::executor(Backend::cpu);
    const auto make = [&](double scale, const Shape& shape) { ImagePyramid(std::vector{scale}, shape, executor); };
    EXPECT_NO_THROW(make(8, {1, 8, 9, 3}));
    EXPECT_THROW(make(8, {1, 7, 9, 3}), Error);
    EXPECT_THROW(make(0.2, {1, 64, 64, 3}), Error);
    EXPECT_THROW(make(2000, {1, 4000, 4000, 3}), Error);
    EXPECT_THROW(make(NAN, {1, 64, 64, 3}), Error);
    EXPECT_THROW(make(1, {2, 64, 64, 3}), Error);
    EXPECT_THROW(make(0.5, {1, 16, 10000, 1}), Error);
    const std::vector<double> whole{1};
    EXPECT_THROW(ImagePyramid(whole, {1, 64, 64, 1}, executor, 3), Error);
    EXPECT_THROW(ImagePyramid(whole, {1, 64, 64, 3}, executor, 2), Error);
}

}  // namespace
}  // namespace framewire
