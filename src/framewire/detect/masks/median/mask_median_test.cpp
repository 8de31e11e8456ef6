#include "framewire/detect/masks/median/mask_median.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/device/build.hpp"
#include "framewire/detect/masks/median/mask_median_ref.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>

namespace framewire {
namespace mask_median_test {

using MaskMedianTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(MaskMedianTest);

// Sets `percent` of the pixels, in patches, so that the majority of a window is near the half.
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

TEST_P(MaskMedianTest, EqualsTheDefinitionForEveryShape) {
    for (const int frames : {1, 3})
        for (const auto& shape : kit::small_shapes(1, frames))
            for (const int size_px : {3, 9})
                for (const int percent : {5, 50, 95}) {
                    check(GetParam(), size_px, shape, percent);
                    if (HasFatalFailure()) return;
                }
}

TEST_P(MaskMedianTest, EqualsTheDefinitionForEverySize) {
    // Large enough to cover the inside of an image as well as its borders, and parts of bands and words.
    for (int size_px = least_mask_median_px; size_px <= most_mask_median_px; size_px += kit::brief() ? 12 : 2)
        for (const auto& shape : {Shape{1, 71, 149, 1}, Shape{2, 30, 64, 1}}) {
            check(GetParam(), size_px, shape, 50);
            if (HasFatalFailure()) return;
        }
}

// Rows of several strips, and frames of several bands of every tiling.
TEST_P(MaskMedianTest, EqualsTheDefinitionForLargeMasks) {
    check(GetParam(), 9, {1, 140, 4100, 1}, 50);
    check(GetParam(), 63, {1, 67, 2112, 1}, 50);
}

// Extreme counts: all pixels set, and windows with one pixel more or fewer than half.
TEST_P(MaskMedianTest, MajorityIsMoreThanTheHalf) {
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

TEST(MaskMedian, RejectsOtherShapesAndSizes) {
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
