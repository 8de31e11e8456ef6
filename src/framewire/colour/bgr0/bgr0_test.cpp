#include "framewire/colour/bgr0/bgr0.hpp"

#include "kit/images.hpp"

#include <gtest/gtest.h>

namespace framewire {
namespace bgr0_test {

// An image of one channel and four times the width represents pixels of four bytes, with its guards.
Shape of_four_bytes(const Shape& shape) { return {1, shape.height, 4 * shape.width, 1}; }

TEST(Bgr0, RoundTripsWithoutLoss) {
    const ThreadPool threads;
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        auto shapes = kit::small_shapes(3);
        shapes.push_back(kit::hd_shape(3));
        for (const auto& shape : shapes)
            for (const auto& layout : kit::layouts()) {
                SCOPED_TRACE(to_string(shape) + ", " + to_string(layout));
                kit::GuardedImage image(shape, layout), back(shape, layout), four(of_four_bytes(shape), layout);
                kit::fill(image.view(), kit::Fill::noise);
                four.reset(0x5A);
                back.reset(0x5A);
                bgr_to_bgr0(image.view(), four.view().data(), four.view().row_stride_bytes(), threads);
                ASSERT_EQ(four.broken_guard(), std::nullopt);
                for (int y = 0; y < shape.height; ++y)
                    for (int x = 0; x < shape.width; ++x) {
                        const auto* got = four.view().row(0, y) + 4 * x;
                        const auto* want = image.view().row(0, y) + 3 * x;
                        ASSERT_TRUE(got[0] == want[0] && got[1] == want[1] && got[2] == want[2] && got[3] == 255)
                            << "pixel " << x << ", " << y;
                    }
                bgr0_to_bgr(four.view().data(), four.view().row_stride_bytes(), back.view(), threads);
                ASSERT_EQ(back.broken_guard(), std::nullopt);
                ASSERT_EQ(kit::first_difference(back.view(), image.view()), std::nullopt);
            }
    });
}

}  // namespace bgr0_test
}  // namespace framewire
