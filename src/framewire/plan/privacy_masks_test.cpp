#include "framewire/plan/privacy_masks.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>
#include <vector>

namespace framewire {
namespace {

class MaskedAreas : public kit::BackendTest {};

FRAMEWIRE_ON_EVERY_BACKEND(MaskedAreas);

HostImage some_picture(const Shape& shape) {
    HostImage picture(shape);
    for (int y = 0; y < shape.height; ++y)
        for (int byte = 0; byte < shape.width * shape.channels; ++byte)
            picture.view().row(0, y)[byte] = static_cast<std::uint8_t>(y * 31 + byte * byte * 7);
    return picture;
}

std::vector<std::uint8_t> bytes_of(HostView<const std::uint8_t> picture) {
    HostImage tight(picture.shape());
    copy(picture, tight.view());
    return {tight.view().data(), tight.view().data() + tight.shape().bytes()};
}

// Returns the picture as the filter `mosaic` makes it, applied mask by mask.
HostImage expected(const HostImage& camera, const std::vector<Zone>& mosaic, const std::vector<Zone>& black) {
    auto& executor = kit::executor(Backend::cpu);
    const auto& shape = camera.shape();
    HostImage picture(shape), next(shape);
    copy(std::as_const(camera).view(), picture.view());
    for (const auto& zone : mosaic) {
        Mosaic({.cell_px = PrivacyMasks::cell_px(shape), .zones = {zone}}, shape, executor)
            .run(FilterImages<MemorySpace::host>{std::as_const(picture).view(), {}, next.view()});
        std::swap(picture, next);
    }
    for (const auto& zone : black)
        for (int y = zone.y; y < zone.y + zone.height; ++y)
            for (int byte = zone.x * shape.channels; byte < (zone.x + zone.width) * shape.channels; ++byte)
                picture.view().row(0, y)[byte] = 0;
    return picture;
}

TEST_P(MaskedAreas, AreIdenticalOnEveryBackend) {
    auto& executor = kit::executor(GetParam());
    const std::vector<Zone> mosaic{{3, 5, 40, 33}, {20, 20, 50, 28}, {0, 0, 1, 1}},
        black{{10, 30, 7, 9}, {69, 47, 1, 1}};
    for (const int channels : {1, 3}) {
        const Shape shape{1, 48, 70, channels};
        const auto camera = some_picture(shape);
        const PrivacyMasks zones(mosaic, black, shape);
        const auto want = expected(camera, mosaic, black);
        Frame frame(shape, executor);
        copy(camera.view(), frame.fill_on_host());
        zones.run(frame, executor);
        EXPECT_EQ(bytes_of(std::as_const(want).view()), bytes_of(std::as_const(frame).host()));
        if (!frame.has_gpu()) continue;
        executor.in_its_space([&]<MemorySpace space>() {
            if constexpr (space == MemorySpace::device) {
                frame.fill_on_gpu([&](auto view, const auto& stream) { cuda::upload(camera.view(), view, stream); });
                zones.run(frame, executor);
                frame.download();
                frame.wait();
            }
        });
        EXPECT_EQ(bytes_of(std::as_const(want).view()), bytes_of(std::as_const(frame).host())) << "on the GPU";
    }
}

TEST(PrivacyMasks, RejectMasksOutsideThePicture) {
    const Shape shape{1, 48, 70, 3};
    for (const Zone wrong : {Zone{60, 0, 11, 5}, Zone{0, 0, 0, 5}, Zone{-1, 0, 5, 5}, Zone{0, 40, 5, 2'000'000'000}})
        EXPECT_THROW(PrivacyMasks({wrong}, {}, shape), Error);
    EXPECT_TRUE(PrivacyMasks({}, {}, shape).empty());
}

}  // namespace
}  // namespace framewire
