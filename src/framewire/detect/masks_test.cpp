#include "framewire/detect/masks.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/detect/detector_ref.hpp"
#include "framewire/filters/morphology_ref.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

namespace framewire {
namespace bit_mask_test {

TEST(BitMask, PacksAndUnpacks) {
    for (const int width : {1, 31, 32, 33, 127, 128, 129, 300}) {
        const Shape shape{2, 5, width, 1};
        HostImage image(shape), again(shape);
        kit::fill(image.view(), kit::Fill::noise, 7);
        HostBitMask mask(shape);
        pack_mask(image.view(), mask.view());
        unpack_mask(mask.view(), again.view());
        for (int frame = 0; frame < shape.frames; ++frame)
            for (int y = 0; y < shape.height; ++y) {
                for (int x = 0; x < width; ++x)
                    ASSERT_EQ(again.view().row(frame, y)[x], image.view().row(frame, y)[x] ? 255 : 0) << x << ',' << y;
                const auto* words = mask.view().row(frame, y);
                for (int x = width; x < mask.view().row_words() * 32; ++x)
                    ASSERT_EQ(words[x / 32] >> (x % 32) & 1, 0u) << "a bit outside the image";
            }
    }
}

TEST(BitMask, RejectsMismatchedShapes) {
    HostBitMask mask({1, 4, 4, 1});
    HostImage wide({1, 4, 5, 1}), colour({1, 4, 4, 3});
    EXPECT_THROW(pack_mask(wide.view(), mask.view()), Error);
    EXPECT_THROW(unpack_mask(mask.view(), colour.view()), Error);
    EXPECT_THROW(HostBitMask({1, 0, 4, 1}), Error);
}

}  // namespace bit_mask_test

namespace mask_region_test {

using MaskRegionTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(MaskRegionTest);

HostImage applied(const MaskRegion& region, HostView<const std::uint8_t> image, Executor& executor) {
    HostBitMask mask(image.shape());
    pack_mask(image, mask.view());
    if (executor.backend() == Backend::cpu) {
        region.apply(mask.view());
    } else if constexpr (cuda::compiled) {
        DeviceBitMask device(image.shape());
        const auto bytes = bit_mask_bytes(image.shape());
        cuda::upload(mask.view().data(), device.view().data(), bytes, executor.stream());
        region.apply(device.view());
        cuda::download(device.view().data(), mask.view().data(), bytes, executor.stream());
        executor.stream().synchronize();
    }
    HostImage result(image.shape());
    unpack_mask(mask.view(), result.view());
    return result;
}

TEST_P(MaskRegionTest, ClearsBitsOutsideTheRegion) {
    auto& executor = kit::executor(GetParam());
    for (const Shape& shape : {Shape{1, 1, 1, 1}, Shape{3, 37, 131, 1}, Shape{2, 64, 128, 1}}) {
        HostImage image(shape), want(shape), keep(shape.with_frames(1));
        kit::fill(image.view(), kit::Fill::noise, 1);
        const std::vector<Zone> zones{{0, 0, 1, 1}, {shape.width / 3, shape.height / 2, 50, 9}, {0, 0, shape.width, 1}};
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.width; ++x) {
                bool inside = false;
                for (const auto& zone : zones)
                    inside |= x >= zone.x && x < zone.x + zone.width && y >= zone.y && y < zone.y + zone.height;
                keep.view().row(0, y)[x] = inside ? 1 : 0;
                for (int frame = 0; frame < shape.frames; ++frame)
                    want.view().row(frame, y)[x] = inside && image.view().row(frame, y)[x] ? 255 : 0;
            }
        const auto from_zones = applied(MaskRegion(zones, shape, executor), image.view(), executor);
        EXPECT_EQ(kit::first_difference(from_zones.view(), want.view()), std::nullopt);
        const auto from_image = applied(MaskRegion(keep.view(), executor), image.view(), executor);
        EXPECT_EQ(kit::first_difference(from_image.view(), want.view()), std::nullopt);
    }
}

TEST(MaskRegion, RejectsMismatchedSizes) {
    auto& executor = kit::executor(Backend::cpu);
    const Zone outside{64, 0, 5, 5};
    EXPECT_THROW(MaskRegion({&outside, 1}, {1, 48, 64, 3}, executor), Error);
    const Zone inside{0, 0, 5, 5};
    const MaskRegion region({&inside, 1}, {1, 48, 64, 3}, executor);
    HostBitMask other({1, 48, 65, 1});
    EXPECT_THROW(region.apply(other.view()), Error);
}

}  // namespace mask_region_test

namespace mask_morphology_test {

using enum MorphologyOperation;

using MaskMorphologyTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(MaskMorphologyTest);

// Fills a mask of 0 and 255 with few pixels set, few unset, or half of each.
void fill_mask(HostView<std::uint8_t> image, int percent) {
    std::mt19937 random(static_cast<unsigned>(kit::seed()) + static_cast<unsigned>(percent));
    for (int frame = 0; frame < image.shape().frames; ++frame)
        for (int y = 0; y < image.shape().height; ++y)
            for (int x = 0; x < image.shape().width; ++x)
                image.row(frame, y)[x] = random() % 1000 < static_cast<unsigned>(10 * percent) ? 255 : 0;
}

void run(MaskMorphology& plan, Executor& executor, const HostBitMask& in, HostBitMask& out) {
    const auto bytes = bit_mask_bytes(in.shape());
    std::memset(out.view().data(), 0xA5, bytes);
    if (executor.backend() == Backend::cpu) return plan.run(in.view(), out.view());
    DeviceBitMask device_in(in.shape()), device_out(in.shape());
    cuda::upload(in.view().data(), device_in.view().data(), bytes, executor.stream());
    cuda::upload(out.view().data(), device_out.view().data(), bytes, executor.stream());
    if constexpr (cuda::compiled) plan.run(device_in.view(), device_out.view());
    cuda::download(device_out.view().data(), out.view().data(), bytes, executor.stream());
    executor.stream().synchronize();
}

// Compares whole words, including those outside of the image.
void check(Backend backend, MorphologyOperation operation, const StructuringElement& element, const Shape& shape,
           int percent) {
    SCOPED_TRACE(fmt::format("operation {}, diameter {}, {}, {} % set, seed {}", static_cast<int>(operation),
                             element.diameter(), to_string(shape), percent, kit::seed()));
    HostImage image(shape), want_image(shape);
    fill_mask(image.view(), percent);
    morphology_reference(operation, element, image.view(), want_image.view());
    HostBitMask in(shape), want(shape), out(shape);
    pack_mask(image.view(), in.view());
    pack_mask(want_image.view(), want.view());
    kit::for_each_instruction_set(backend, [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        auto& executor = kit::executor(backend);
        MaskMorphology plan(operation, element, shape, executor);
        for (int turn = 0; turn < 2; ++turn) {
            run(plan, executor, in, out);
            const auto words = static_cast<std::int64_t>(bit_mask_bytes(shape) / 4);
            for (std::int64_t word = 0; word < words; ++word)
                ASSERT_EQ(out.view().data()[word], want.view().data()[word])
                    << "word " << word % out.view().row_words() << " of row " << word / out.view().row_words()
                    << " of the batch, turn " << turn;
        }
    });
}

TEST_P(MaskMorphologyTest, MatchesTheReferenceForEveryShape) {
    for (const int frames : {1, 3})
        for (const auto& shape : kit::small_shapes(1, frames))
            for (const auto operation : {none, dilate, erode, open, close, close_open})
                for (const int percent : {2, 50, 98}) {
                    check(GetParam(), operation, {ElementShape::disc, 15}, shape, percent);
                    if (HasFatalFailure()) return;
                }
}

TEST_P(MaskMorphologyTest, MatchesTheReferenceForEveryElement) {
    // Large enough to cover the inside of an image as well as its borders, and parts of strips, bands and
    // words.
    const Shape shapes[] = {{1, 131, 149, 1}, {1, 70, 16, 1}};
    for (const auto element_shape : {ElementShape::disc, ElementShape::ellipse, ElementShape::rect})
        for (int diameter = 1; diameter <= max_element_px; diameter += kit::brief() ? 12 : 2)
            for (const auto operation : {dilate, close, open}) {
                check(GetParam(), operation, {element_shape, diameter}, shapes[diameter % 4 == 1],
                      operation == open ? 99 : 1);
                if (HasFatalFailure()) return;
            }
}

// Rows of several strips, and frames of several bands of every tiling.
TEST_P(MaskMorphologyTest, MatchesTheReferenceForLargeMasks) {
    check(GetParam(), close_open, {ElementShape::disc, 15}, {1, 150, 4100, 1}, 3);
    check(GetParam(), close_open, {ElementShape::disc, 33}, {2, 70, 2100, 1}, 1);
    check(GetParam(), close, {ElementShape::ellipse, 5}, {40, 141, 70, 1}, 20);
}

TEST(MaskMorphology, RejectsMismatchedShapes) {
    auto& executor = kit::executor(Backend::cpu);
    const StructuringElement element(ElementShape::disc, 15);
    EXPECT_THROW(MaskMorphology(close, element, {1, 0, 4, 1}, executor), Error);
    MaskMorphology plan(close, element, {1, 4, 40, 1}, executor);
    HostBitMask fitting({1, 4, 40, 1}), wide({1, 4, 41, 1});
    EXPECT_THROW(plan.run(wide.view(), fitting.view()), Error);
    EXPECT_THROW(plan.run(fitting.view(), wide.view()), Error);
    EXPECT_THROW(plan.run(fitting.view(), HostBitMaskView<std::uint32_t>(nullptr, {1, 4, 40, 1})), Error);
}

TEST(MaskMorphology, ParsesOperationNames) {
    for (const auto& [name, operation] : {std::pair{"none", none},
                                          {"dilate", dilate},
                                          {"erode", erode},
                                          {"open", open},
                                          {"close", close},
                                          {"close-open", close_open}})
        EXPECT_EQ(parse_morphology_operation(name), operation);
    EXPECT_THROW(parse_morphology_operation("closed"), Error);
}

}  // namespace mask_morphology_test

namespace mask_median_test {

using MaskMedianTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(MaskMedianTest);

// Sets `percent` of the pixels, in patches, so that about half of the pixels in many windows are set.
void fill_mask(HostView<std::uint8_t> image, int percent) {
    std::mt19937 random(static_cast<unsigned>(kit::seed()) + static_cast<unsigned>(percent));
    for (int frame = 0; frame < image.shape().frames; ++frame)
        for (int y = 0; y < image.shape().height; ++y)
            for (int x = 0; x < image.shape().width; ++x) {
                const int more = (x / 23 + y / 17 + frame) % 2 == 0 ? percent / 3 : -percent / 3;
                image.row(frame, y)[x] = random() % 100 < static_cast<unsigned>(percent + more) ? 255 : 0;
            }
}

void run(const MaskMedian& plan, Executor& executor, const HostBitMask& in, HostBitMask& out) {
    const auto bytes = bit_mask_bytes(in.shape());
    std::memset(out.view().data(), 0xA5, bytes);
    if (executor.backend() == Backend::cpu) return plan.run(in.view(), out.view());
    DeviceBitMask device_in(in.shape()), device_out(in.shape());
    cuda::upload(in.view().data(), device_in.view().data(), bytes, executor.stream());
    cuda::upload(out.view().data(), device_out.view().data(), bytes, executor.stream());
    if constexpr (cuda::compiled) plan.run(device_in.view(), device_out.view());
    cuda::download(device_out.view().data(), out.view().data(), bytes, executor.stream());
    executor.stream().synchronize();
}

// Compares whole words, including those outside of the image.
void check(Backend backend, int size_px, const Shape& shape, int percent) {
    SCOPED_TRACE(fmt::format("median of {}, {}, {} % set, seed {}", size_px, to_string(shape), percent, kit::seed()));
    HostImage image(shape), want_image(shape);
    fill_mask(image.view(), percent);
    mask_median_reference(size_px, image.view(), want_image.view());
    HostBitMask in(shape), want(shape), out(shape);
    pack_mask(image.view(), in.view());
    pack_mask(want_image.view(), want.view());
    kit::for_each_instruction_set(backend, [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        auto& executor = kit::executor(backend);
        const MaskMedian plan(size_px, shape, executor);
        for (int turn = 0; turn < 2; ++turn) {
            run(plan, executor, in, out);
            const auto words = static_cast<std::int64_t>(bit_mask_bytes(shape) / 4);
            for (std::int64_t word = 0; word < words; ++word)
                ASSERT_EQ(out.view().data()[word], want.view().data()[word])
                    << "word " << word % out.view().row_words() << " of row " << word / out.view().row_words()
                    << " of the batch, turn " << turn;
        }
    });
}

TEST_P(MaskMedianTest, MatchesTheReferenceForEveryShape) {
    for (const int frames : {1, 3})
        for (const auto& shape : kit::small_shapes(1, frames))
            for (const int size_px : {3, 9})
                for (const int percent : {5, 50, 95}) {
                    check(GetParam(), size_px, shape, percent);
                    if (HasFatalFailure()) return;
                }
}

TEST_P(MaskMedianTest, MatchesTheReferenceForEverySize) {
    // Large enough to cover the inside of an image as well as its borders, and parts of bands and words.
    for (int size_px = least_mask_median_px; size_px <= most_mask_median_px; size_px += kit::brief() ? 12 : 2)
        for (const auto& shape : {Shape{1, 71, 149, 1}, Shape{2, 30, 64, 1}}) {
            check(GetParam(), size_px, shape, 50);
            if (HasFatalFailure()) return;
        }
}

// Rows of several strips, and frames of several bands of every tiling.
TEST_P(MaskMedianTest, MatchesTheReferenceForLargeMasks) {
    check(GetParam(), 9, {1, 140, 4100, 1}, 50);
    check(GetParam(), 63, {1, 67, 2112, 1}, 50);
}

// Covers extreme counts: all pixels set, and windows with one pixel more or fewer than half.
TEST_P(MaskMedianTest, MajorityIsMoreThanHalf) {
    for (const int size_px : {3, 7, 9, 15, 31, 63}) {
        const Shape shape{1, size_px, size_px, 1};
        auto& executor = kit::executor(GetParam());
        const MaskMedian plan(size_px, shape, executor);
        const int middle = size_px / 2, pixels = size_px * size_px;
        for (const int set : {pixels, pixels / 2 + 1, pixels / 2, 1, 0}) {
            HostImage image(shape), result(shape);
            for (int at = 0; at < pixels; ++at) image.view().row(0, at / size_px)[at % size_px] = at < set ? 255 : 0;
            HostBitMask in(shape), out(shape);
            pack_mask(image.view(), in.view());
            run(plan, executor, in, out);
            unpack_mask(std::as_const(out).view(), result.view());
            EXPECT_EQ(result.view().row(0, middle)[middle], 2 * set > pixels ? 255 : 0)
                << set << " of " << size_px << "x" << size_px;
        }
    }
}

TEST(MaskMedian, RejectsMismatchedShapesAndInvalidSizes) {
    auto& executor = kit::executor(Backend::cpu);
    for (const int size_px : {-3, 0, 1, 8, 65}) EXPECT_THROW(MaskMedian(size_px, {1, 4, 40, 1}, executor), Error);
    EXPECT_THROW(MaskMedian(9, {1, 0, 4, 1}, executor), Error);
    const MaskMedian plan(9, {1, 4, 40, 1}, executor);
    HostBitMask fitting({1, 4, 40, 1}), wide({1, 4, 41, 1});
    EXPECT_THROW(plan.run(wide.view(), fitting.view()), Error);
    EXPECT_THROW(plan.run(fitting.view(), wide.view()), Error);
    EXPECT_THROW(plan.run(fitting.view(), HostBitMaskView<std::uint32_t>(nullptr, {1, 4, 40, 1})), Error);
}

}  // namespace mask_median_test
}  // namespace framewire
