#include "framewire/detect/masks/mask_morphology.hpp"

#include "framewire/core/error.hpp"
#include "framewire/cuda/device/build.hpp"
#include "framewire/filters/morphology/morphology_ref.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <random>
#include <vector>

namespace framewire {
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

TEST_P(MaskMorphologyTest, EqualsTheDefinitionForEveryShape) {
    for (const int frames : {1, 3})
        for (const auto& shape : kit::small_shapes(1, frames))
            for (const auto operation : {none, dilate, erode, open, close, close_open})
                for (const int percent : {2, 50, 98}) {
                    check(GetParam(), operation, {ElementShape::disc, 15}, shape, percent);
                    if (HasFatalFailure()) return;
                }
}

TEST_P(MaskMorphologyTest, EqualsTheDefinitionForEveryElement) {
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
TEST_P(MaskMorphologyTest, EqualsTheDefinitionForLargeMasks) {
    check(GetParam(), close_open, {ElementShape::disc, 15}, {1, 150, 4100, 1}, 3);
    check(GetParam(), close_open, {ElementShape::disc, 33}, {2, 70, 2100, 1}, 1);
    check(GetParam(), close, {ElementShape::ellipse, 5}, {40, 141, 70, 1}, 20);
}

TEST(MaskMorphology, RejectsOtherShapes) {
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
}  // namespace framewire
