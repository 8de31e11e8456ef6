// Tests of fw_chain, whose reference is FramePlan.

#include "framewire/c/c_testing.hpp"
#include "kit/allocations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace framewire::c {
namespace {

class CChainTest : public HandleTest {};
FRAMEWIRE_ON_EVERY_BACKEND(CChainTest);

TEST_P(CChainTest, ChainsGiveTheBytesOfTheirPlan) {
    for (const auto format : {FW_GRAY, FW_BGR, FW_I420, FW_I422, FW_I444, FW_NV12, FW_I010, FW_I210, FW_I410, FW_P010})
        for (const auto* text :
             {"gaussian=5", "mosaic=16,crop=40:20:4:2", "noise", "gray=channels=1,median=5,scale=31:17", ""}) {
            SCOPED_TRACE(std::to_string(format) + " " + text);
            auto described = description(format, 77, 45);
            described.matrix = FW_BT709, described.full_range = 1, described.siting = FW_SITING_TOP_LEFT;
            Picture in(described);
            in.fill_with_noise(7);
            const auto chain =
                made<fw_chain>([&](auto** made) { return fw_chain_create(made, text, &described, &settings_); });
            fw_image result{};
            result.size = sizeof result;
            FW_OK_OR_FAIL(fw_chain_output(chain.get(), &result));
            Picture out(result);
            for (int run = 0; run < 3; ++run) FW_OK_OR_FAIL(fw_chain_run(chain.get(), &in.image, &out.image, nullptr));
            EXPECT_EQ(out.memory, reference_result(text, in, 3));
            FW_OK_OR_FAIL(fw_chain_reset(chain.get()));
            FW_OK_OR_FAIL(fw_chain_run(chain.get(), &in.image, &out.image, nullptr));
            EXPECT_EQ(out.memory, reference_result(text, in, 1));
        }
}

// Bytes between rows must stay, and strides of 0 mean rows without gaps.
TEST_P(CChainTest, ChainsAcceptStrides) {
    const auto described = description(FW_BGR, 33, 21);
    Picture dense(described);
    dense.fill_with_noise(5);
    Picture padded(described, 13), out(described, 5);
    copy(dense.view(), padded.view());
    std::fill(out.memory.begin(), out.memory.end(), 0xA5);
    const auto chain =
        made<fw_chain>([&](auto** made) { return fw_chain_create(made, "median=3", &described, &settings_); });
    FW_OK_OR_FAIL(fw_chain_run(chain.get(), &padded.image, &out.image, nullptr));
    const auto want = reference_result("median=3", dense, 1);
    EXPECT_EQ(kit::first_difference(out.view(), HostView<const std::uint8_t>(want.data(), {1, 21, 33, 3})),
              std::nullopt);
    for (int y = 0; y < 21; ++y)
        for (int x = 99; x < 104; ++x)
            EXPECT_EQ(out.memory[static_cast<std::size_t>(y * 104 + x)], 0xA5) << x << ", " << y;
    Picture other(described);
    dense.image.stride[0] = other.image.stride[0] = 0;
    FW_OK_OR_FAIL(fw_chain_reset(chain.get()));
    FW_OK_OR_FAIL(fw_chain_run(chain.get(), &dense.image, &other.image, nullptr));
    EXPECT_EQ(other.memory, want);
}

// The image is 33 pixels wide in one of 66, so that two of them fit beside each other.
TEST_P(CChainTest, ImagesMayBePartsOfOneThatDoNotOverlap) {
    const auto described = description(FW_BGR, 33, 21);
    const auto chain =
        made<fw_chain>([&](auto** made) { return fw_chain_create(made, "median=3", &described, &settings_); });
    Picture in(described), result(described), whole(description(FW_BGR, 66, 25));
    in.fill_with_noise(5);
    const auto want = reference_result("median=3", in, 1);
    const auto part = [&](int offset) {
        auto image = described;
        image.data[0] = whole.memory.data() + offset;
        image.stride[0] = 198;
        return image;
    };
    constexpr int row = 198, half = 99;
    for (const auto& [from, to] : {std::pair{0, half}, {half, 0}, {row, half}, {half, 2 * row}, {0, row + half}}) {
        const auto left = part(from), right = part(to);
        FW_OK_OR_FAIL(fw_image_copy(&in.image, &left, nullptr));
        FW_OK_OR_FAIL(fw_chain_reset(chain.get()));
        FW_OK_OR_FAIL(fw_chain_run(chain.get(), &left, &right, nullptr));
        FW_OK_OR_FAIL(fw_image_copy(&right, &result.image, nullptr));
        EXPECT_EQ(result.memory, want) << from << " " << to;
    }
    for (const auto& [from, to] :
         {std::pair{0, half - 1}, {half - 1, 0}, {0, half + 1}, {half + 1, 0}, {0, 0}, {0, row}, {row + half + 1, 0}}) {
        const auto left = part(from), right = part(to);
        EXPECT_REFUSED(fw_chain_run(chain.get(), &left, &right, nullptr), "in and out overlap in memory");
    }
}

TEST_P(CChainTest, ChainsSayHowTheyRun) {
    const auto described = description(FW_I420, 64, 48);
    const auto chain =
        made<fw_chain>([&](auto** made) { return fw_chain_create(made, "gaussian=5,boxes", &described, &settings_); });
    const char* text = nullptr;
    FW_OK_OR_FAIL(fw_chain_explain(chain.get(), &text));
    EXPECT_PRED2(has, text, "gaussian=5: 4:2:0");
    EXPECT_PRED2(has, text, "convert: 4:2:0 to BGR (");
    EXPECT_PRED2(has, text, "boxes: BGR");
    EXPECT_REFUSED(fw_chain_explain(chain.get(), nullptr), "text is NULL");
    EXPECT_REFUSED(fw_chain_explain(nullptr, &text), "chain is NULL");
    EXPECT_EQ(text, nullptr);
}

TEST_P(CChainTest, RunsAllocateNothing) {
#if defined(__SANITIZE_THREAD__)
    settings_.threads = 1;  // more threads allocate there (core/thread_pool.cpp)
#endif
    for (const auto format : {FW_BGR, FW_I420})
        for (const auto* text : {"gaussian=5,mosaic=16", "median=5,flip=horizontal,noise"}) {
            const auto described = description(format, 160, 120);
            const auto begin = kit::allocations();
            const auto chain =
                made<fw_chain>([&](auto** made) { return fw_chain_create(made, text, &described, &settings_); });
            EXPECT_GT(kit::allocations(), begin) << "what the library allocates is not counted";
            fw_image result{};
            result.size = sizeof result;
            FW_OK_OR_FAIL(fw_chain_output(chain.get(), &result));
            Picture in(described), out(result);
            const auto run = [&] {
                for (int number = 0; number < 3; ++number) {
                    fw_chain_set_time(chain.get(), number, number);
                    fw_chain_run(chain.get(), &in.image, &out.image, nullptr);
                }
            };
            run();
            const auto before = kit::allocations();
            run();
            EXPECT_EQ(kit::allocations(), before) << format << " " << text;
        }
}

// The filter `text` draws the values.
TEST_P(CChainTest, ChainsShowTheTimeThatWasSet) {
    const auto described = description(FW_GRAY, 160, 32);
    std::string text = "text=text='{frame} {time}':size=20";
    if (const auto* font = std::getenv("FRAMEWIRE_TEST_FONT")) text += std::string(":font=") + font;
    const auto chain =
        made<fw_chain>([&](auto** made) { return fw_chain_create(made, text.c_str(), &described, &settings_); });
    Picture in(described), first(described), second(described), again(described);
    const auto run = [&](std::int64_t index, double seconds, Picture& out) {
        ASSERT_EQ(fw_chain_set_time(chain.get(), index, seconds), FW_OK) << fw_last_error();
        ASSERT_EQ(fw_chain_run(chain.get(), &in.image, &out.image, nullptr), FW_OK) << fw_last_error();
    };
    run(1, 0.5, first);
    run(27, 3.25, second);
    run(1, 0.5, again);
    EXPECT_NE(first.memory, second.memory);
    EXPECT_EQ(first.memory, again.memory);
    EXPECT_REFUSED(fw_chain_set_time(nullptr, 0, 0), "chain is NULL");
    EXPECT_REFUSED(fw_chain_set_time(chain.get(), -1, 0), "index is -1");
    EXPECT_REFUSED(fw_chain_set_time(chain.get(), 0, std::numeric_limits<double>::quiet_NaN()), "seconds is");
}

TEST_P(CChainTest, ChainsRefuseWrongArguments) {
    auto described = description(FW_BGR, 32, 16);
    fw_chain* none = reinterpret_cast<fw_chain*>(1);
    EXPECT_REFUSED(fw_chain_create(nullptr, "gray", &described, &settings_), "chain is NULL");
    EXPECT_REFUSED(fw_chain_create(&none, nullptr, &described, &settings_), "text is NULL");
    EXPECT_EQ(none, nullptr);
    EXPECT_REFUSED(fw_chain_create(&none, "gray", nullptr, &settings_), "image is NULL");
    const auto refused_with = [&](auto member, auto value, const char* text) {
        auto wrong = described;
        wrong.*member = value;
        EXPECT_REFUSED(fw_chain_create(&none, "gray", &wrong, &settings_), text);
    };
    refused_with(&fw_image::size, std::size_t{0}, "image.size is 0; it must be sizeof(*image)");
    refused_with(&fw_image::size, SIZE_MAX, "image.size is");
    refused_with(&fw_image::format, 0, "image->format is 0; allowed: the values of fw_format, 1 to 10");
    refused_with(&fw_image::format, 11, "image->format is 11");
    refused_with(&fw_image::width, 0, "image->width is 0; allowed: 1 to 16384");
    refused_with(&fw_image::height, -5, "image->height is -5");
    refused_with(&fw_image::width, 16385, "image->width is 16385");
    described.format = FW_I420;
    refused_with(&fw_image::matrix, 3, "image->matrix is 3");
    refused_with(&fw_image::full_range, 2, "image->full_range is 2");
    refused_with(&fw_image::siting, 16, "image->siting is 16");
    described.format = FW_BGR;
    auto wrong = settings_;
    wrong.backend = 3;
    EXPECT_REFUSED(fw_chain_create(&none, "gray", &described, &wrong), "settings->backend is 3; allowed: 0 to 2");
    wrong = settings_, wrong.threads = 2000;
    EXPECT_REFUSED(fw_chain_create(&none, "gray", &described, &wrong), "settings->threads is 2000");
    wrong = settings_, wrong.size = 1;
    EXPECT_REFUSED(fw_chain_create(&none, "gray", &described, &wrong), "settings.size is 1");
    EXPECT_EQ(fw_chain_create(&none, "gray,gausian=5", &described, &settings_), FW_ERROR_ARGUMENT);
    EXPECT_PRED2(has, fw_last_error(), "'gaussian'");
    EXPECT_PRED2(has, fw_last_error(), "\n");
    EXPECT_EQ(std::string(fw_last_error()).back(), '^');
    EXPECT_EQ(fw_chain_create(&none, "fps=10", &described, &settings_), FW_ERROR_ARGUMENT);
    EXPECT_PRED2(has, fw_last_error(), "fps=10 changes the number of frames");

    const auto chain =
        made<fw_chain>([&](auto** made) { return fw_chain_create(made, "gray=channels=1", &described, &settings_); });
    Picture in(described), out(description(FW_GRAY, 32, 16));
    EXPECT_REFUSED(fw_chain_run(nullptr, &in.image, &out.image, nullptr), "chain is NULL");
    EXPECT_REFUSED(fw_chain_run(chain.get(), nullptr, &out.image, nullptr), "in is NULL");
    EXPECT_REFUSED(fw_chain_run(chain.get(), &in.image, nullptr, nullptr), "out is NULL");
    EXPECT_REFUSED(fw_chain_run(chain.get(), &out.image, &in.image, nullptr),
                   "in is 32x16 gray, but must be 32x16 BGR");
    const auto run_refused_with = [&](auto change, const char* text) {
        auto changed = in.image;
        change(changed);
        EXPECT_REFUSED(fw_chain_run(chain.get(), &changed, &out.image, nullptr), text);
    };
    run_refused_with([](fw_image& image) { image.data[0] = nullptr; }, "in->data[0] is NULL");
    run_refused_with([](fw_image& image) { image.stride[0] = 95; }, "in->stride[0] is 95; a row has 96 bytes");
    run_refused_with([](fw_image& image) { image.stride[0] = -96; }, "in->stride[0] is -96");
    run_refused_with([](fw_image& image) { image.stride[0] = INT64_MAX; }, "in->stride[0] is 9223372036854775807");
    run_refused_with([](fw_image& image) { image.memory = 2; }, "in->memory is 2");
    run_refused_with([&](fw_image& image) { image.data[0] = out.memory.data() + 511; }, "in and out overlap in memory");
    run_refused_with([](fw_image& image) { image.memory = FW_DEVICE; },
                     GetParam() == Backend::cpu ? "in is in device memory, but this handle works on the CPU"
                                                : "in->data[0] is not in the memory of GPU 0");
    if (GetParam() == Backend::cuda)
        run_refused_with([](fw_image& image) { image.memory = FW_DEVICE, image.device = 5; },
                         "in is on GPU 5, but this handle works on GPU 0");
    EXPECT_REFUSED(fw_chain_output(nullptr, &in.image), "chain is NULL");
    EXPECT_REFUSED(fw_chain_output(chain.get(), nullptr), "image is NULL");
    fw_image unsized{};
    EXPECT_REFUSED(fw_chain_output(chain.get(), &unsized), "image.size is 0");
    fw_chain_destroy(nullptr);
    EXPECT_REFUSED(fw_chain_check(nullptr), "text is NULL");
    EXPECT_EQ(fw_chain_check("gray,median=5"), FW_OK);
    EXPECT_EQ(fw_chain_check("gray,median=4"), FW_ERROR_ARGUMENT);
    EXPECT_EQ(std::string(fw_last_error()).back(), '^');
}

}  // namespace
}  // namespace framewire::c
