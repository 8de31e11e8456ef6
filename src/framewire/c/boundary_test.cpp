// Tests of errors, log and structs.

#include "framewire/c/c_testing.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/plan/chain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace framewire::c {
namespace {

class CBoundaryTest : public HandleTest {};
FRAMEWIRE_ON_EVERY_BACKEND(CBoundaryTest);

TEST(CBoundary, KnowsVersionStatusesAndFilters) {
    EXPECT_STREQ(fw_version(), FRAMEWIRE_VERSION);
    EXPECT_STREQ(fw_status_name(FW_OK), "FW_OK");
    EXPECT_STREQ(fw_status_name(FW_ERROR_UNAVAILABLE), "FW_ERROR_UNAVAILABLE");
    EXPECT_STREQ(fw_status_name(static_cast<fw_status>(3)), "unknown");
    EXPECT_EQ(fw_filters_json(), filters_json());
    EXPECT_EQ(fw_device_count(), static_cast<int>(cuda::devices().size()));
}

TEST(CBoundary, ErrorsBelongToTheirThread) {
    fw_chain* chain = nullptr;
    EXPECT_REFUSED(fw_chain_create(&chain, nullptr, nullptr, nullptr), "");
    const std::string here = fw_last_error();
    std::thread([&] {
        EXPECT_STREQ(fw_last_error(), "");
        EXPECT_REFUSED(fw_chain_reset(nullptr), "chain is NULL");
    }).join();
    EXPECT_EQ(fw_last_error(), here);
}

TEST(CBoundary, DifferentHandlesAreIndependent) {
    const auto cpu = settings(Backend::cpu);
    Picture in(description(FW_BGR, 90, 70));
    in.fill_with_noise(3);
    const auto work = [&](const std::string& text, const std::vector<std::uint8_t>& want) {
        const auto chain =
            made<fw_chain>([&](auto** made) { return fw_chain_create(made, text.c_str(), &in.image, &cpu); });
        Picture out(in.image);
        for (int run = 0; run < 20; ++run) {
            EXPECT_EQ(fw_chain_run(chain.get(), &in.image, &out.image, nullptr), FW_OK);
            EXPECT_EQ(out.memory, want);
            EXPECT_REFUSED(fw_chain_run(chain.get(), &in.image, nullptr, nullptr), "out is NULL");
        }
    };
    std::vector<std::thread> threads;
    for (const auto* text : {"gaussian=5", "median=3", "mosaic=8", "flip=vertical"})
        threads.emplace_back(work, text, reference_result(text, in, 1));
    for (auto& thread : threads) thread.join();
}

TEST(CBoundary, LogLinesGoToTheSink) {
    std::vector<std::string> lines;
    const auto sink = [](void* user, fw_log_level level, const char* text) {
        static_cast<std::vector<std::string>*>(user)->push_back(std::to_string(level) + " " + text);
    };
    FW_OK_OR_FAIL(fw_set_log(FW_LOG_DEBUG, sink, &lines));
    const auto image = description(FW_GRAY, 8, 8);
    const auto cpu = settings(Backend::cpu);
    made<fw_chain>([&](auto** chain) { return fw_chain_create(chain, "gray", &image, &cpu); });
    FW_OK_OR_FAIL(fw_set_log(FW_LOG_WARNING, nullptr, nullptr));
    EXPECT_TRUE(std::ranges::any_of(lines, [](const auto& line) { return has(line, "cpu"); }));
    EXPECT_REFUSED(fw_set_log(static_cast<fw_log_level>(7), nullptr, nullptr), "least is 7");
}

// A caller that was compiled with a later version has more members, which must be 0.
TEST_P(CBoundaryTest, LaterStructsAreAcceptedIfTheirNewMembersAreZero) {
    struct Later {
        fw_image image;
        std::int64_t more = 0;
    } later{description(FW_GRAY, 8, 8)};
    later.image.size = sizeof later;
    made<fw_chain>([&](auto** made) { return fw_chain_create(made, "gray", &later.image, &settings_); });
    later.more = 1;
    fw_chain* none = nullptr;
    EXPECT_REFUSED(fw_chain_create(&none, "gray", &later.image, &settings_), "image has members that version");
}

TEST(CBoundary, CudaWithoutAGpuIsUnavailable) {
    if (!cuda::devices().empty()) GTEST_SKIP() << "this machine has a GPU";
    const auto described = description(FW_BGR, 8, 8);
    const auto cuda = settings(Backend::cuda);
    fw_chain* none = nullptr;
    EXPECT_EQ(fw_chain_create(&none, "gray", &described, &cuda), FW_ERROR_UNAVAILABLE);
    EXPECT_PRED2(has, fw_last_error(), cuda::why_no_device());
    fw_source_options options{};
    options.size = sizeof options, options.on_device = 1;
    fw_source* source = nullptr;
    EXPECT_EQ(fw_source_open(&source, "synth:size=64x48:frames=2", &options), FW_ERROR_UNAVAILABLE);
    EXPECT_EQ(source, nullptr);
}

}  // namespace
}  // namespace framewire::c
