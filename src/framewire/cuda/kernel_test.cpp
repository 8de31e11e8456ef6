#include "framewire/core/error.hpp"
#include "framewire/cuda/kernel_image.hpp"
#include "framewire/cuda/kernel_testing.hpp"
#include "kit/filter_check.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <string>

namespace framewire {
namespace {

namespace kernels = cuda::kernel_testing;

class KernelTest : public kit::BackendTest {};
INSTANTIATE_TEST_SUITE_P(Backends, KernelTest, testing::Values(Backend::cuda), kit::backend_name);

Executor& executor() { return kit::executor(Backend::cuda); }

std::vector<std::uint32_t> random_numbers(std::size_t count, std::uint32_t most) {
    std::mt19937 random(7);
    std::uniform_int_distribution<std::uint32_t> number(0, most);
    std::vector<std::uint32_t> numbers(count);
    for (auto& one : numbers) one = number(random);
    return numbers;
}

TEST_P(KernelTest, WarpReductionsCombineAllLanes) {
    for (const std::uint32_t most : {0u, 1u, 255u, ~0u}) {
        const auto values = random_numbers(32, most);
        const auto results = kernels::join_in_warp(values, executor());
        std::uint32_t sum = 0, any = 0, largest = 0;
        std::uint64_t wide_sum = 0;
        float float_sum = 0;
        for (std::size_t lane = 0; lane < 32; ++lane) {
            sum += values[lane];
            any |= values[lane];
            largest = std::max(largest, values[lane]);
            wide_sum += std::uint64_t{values[lane]} << 20 | lane;
            float_sum += static_cast<float>(values[lane] % 256);
            EXPECT_EQ(results.up_to_lane[lane], sum) << "lane " << lane;
            EXPECT_EQ(results.wide_up_to_lane[lane], wide_sum) << "lane " << lane;
        }
        for (std::size_t lane = 0; lane < 32; ++lane) {
            EXPECT_EQ(results.sums[lane], sum) << "lane " << lane;
            EXPECT_EQ(results.ors[lane], any) << "lane " << lane;
            EXPECT_EQ(results.largest[lane], largest) << "lane " << lane;
            EXPECT_EQ(results.wide_sums[lane], wide_sum) << "lane " << lane;
            EXPECT_EQ(results.float_sums[lane], float_sum) << "lane " << lane;
        }
    }
}

TEST_P(KernelTest, BlockScansSumOverAllThreads) {
    for (const std::size_t warps : {1u, 4u, 9u, 32u}) {
        const auto values = random_numbers(32 * warps, 60000);
        const auto results = kernels::scan_in_block(values, executor());
        const auto total = std::accumulate(values.begin(), values.end(), 0u);
        std::uint32_t before = 0, squares = 0;
        for (std::size_t thread = 0; thread < values.size(); ++thread) {
            EXPECT_EQ(results.before[thread], before) << "thread " << thread << " of " << warps << " warps";
            EXPECT_EQ(results.total[thread], total) << "thread " << thread << " of " << warps << " warps";
            EXPECT_EQ(results.before_by_warp[thread], before) << "thread " << thread << " of " << warps << " warps";
            EXPECT_EQ(results.squares_before[thread], squares) << "thread " << thread << " of " << warps << " warps";
            before += values[thread];
            squares += values[thread] * values[thread];
        }
    }
}

// Returns the sum before each value, with as many bits as a tile's word holds.
std::vector<std::uint64_t> sums_before(const std::vector<std::uint64_t>& values) {
    std::vector<std::uint64_t> before(values.size());
    std::exclusive_scan(values.begin(), values.end(), before.begin(), std::uint64_t{0});
    return before;
}

TEST_P(KernelTest, LookBackSumsAllPrecedingTiles) {
    for (const std::size_t tiles : {1u, 2u, 31u, 32u, 33u, 65u, 1000u, kit::brief() ? 3000u : 20000u}) {
        const auto numbers = random_numbers(tiles, 100000);
        const std::vector<std::uint64_t> narrow(numbers.begin(), numbers.end());
        auto wide = narrow;
        for (auto& value : wide) value <<= 28;
        EXPECT_EQ(kernels::look_back_numbered(narrow, 1, executor()), sums_before(narrow)) << tiles << " tiles";
        EXPECT_EQ(kernels::look_back_numbered(narrow, 3, executor()), sums_before(narrow)) << tiles << " tiles";
        EXPECT_EQ(kernels::look_back_cleared(wide, executor()), sums_before(wide)) << tiles << " tiles";
    }
}

TEST_P(KernelTest, CopiedChunksAreZeroPadded) {
    std::vector<int> counts(100);
    for (std::size_t chunk = 0; chunk < counts.size(); ++chunk) counts[chunk] = static_cast<int>(chunk % 17);
    std::vector<std::uint8_t> bytes(16 * counts.size());
    for (std::size_t byte = 0; byte < bytes.size(); ++byte) bytes[byte] = static_cast<std::uint8_t>(byte % 251 + 1);
    const auto copied = kernels::copy_chunks(bytes, counts, executor());
    for (std::size_t byte = 0; byte < bytes.size(); ++byte)
        EXPECT_EQ(copied[byte], static_cast<int>(byte % 16) < counts[byte / 16] ? bytes[byte] : 0) << "byte " << byte;
}

TEST(KernelGrids, CoverAllFrames) {
    using Launches = std::vector<std::pair<int, int>>;
    EXPECT_EQ(kernels::launches_for(1, 1), (Launches{{0, 1}}));
    EXPECT_EQ(kernels::launches_for(65535, 1), (Launches{{0, 65535}}));
    EXPECT_EQ(kernels::launches_for(65536, 1), (Launches{{0, 65535}, {65535, 1}}));
    EXPECT_EQ(kernels::launches_for(100, 1080), (Launches{{0, 60}, {60, 40}}));
    EXPECT_EQ(kernels::launches_for(2, 65535), (Launches{{0, 1}, {1, 1}}));
}

TEST(KernelImage, ReportsItsAlignment) {
    auto* const data = reinterpret_cast<std::uint8_t*>(std::uintptr_t{4096});
    const auto image = [&](int offset, Shape shape, std::int64_t row, std::int64_t frame) {
        return cuda::KernelImage<std::uint8_t>(DeviceView<std::uint8_t>(data + offset, shape, row, frame));
    };
    EXPECT_TRUE(image(0, {2, 3, 16, 1}, 16, 48).aligned_to(16));
    EXPECT_FALSE(image(4, {2, 3, 16, 1}, 16, 48).aligned_to(16));
    EXPECT_TRUE(image(4, {2, 3, 16, 1}, 16, 48).aligned_to(4));
    EXPECT_FALSE(image(0, {2, 3, 17, 1}, 17, 64).aligned_to(4));
    EXPECT_FALSE(image(0, {2, 3, 16, 1}, 16, 50).aligned_to(4));
    EXPECT_TRUE(image(0, {1, 3, 16, 1}, 16, 50).aligned_to(16)) << "one frame";
    const cuda::KernelImage<std::uint8_t> one_row(DeviceView<std::uint8_t>(data, {2, 3, 17, 1}, 17, 64),
                                                  cuda::OneRow::frame);
    EXPECT_TRUE(one_row.aligned_to(16));
    const cuda::KernelImage<std::uint8_t> batch(DeviceView<std::uint8_t>(data, {2, 3, 17, 1}), cuda::OneRow::batch);
    EXPECT_TRUE(batch.aligned_to(16));
    const auto later = image(0, {4, 3, 16, 1}, 16, 48).from_frame(2);
    EXPECT_EQ(later.data, data + 96);
    EXPECT_EQ(later.row(1, 2), data + 96 + 48 + 32);
}

std::string complaint_of_recording(const std::function<void()>& body) {
    try {
        executor().record(body);
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::internal);
        return error.what();
    }
    return "none";
}

// Regression test: while a graph was recorded, the kernels of scale and convolve ran at once and were missing from it.
TEST_P(KernelTest, RecordingsDetectWorkOnACachedStreamHandle) {
    cuda::DeviceBuffer recorded(16), kept(16);
    const auto fill = [&] { cuda::fill(recorded.data(), 7, 16, executor().stream()); };
    const auto in_queue = kernels::fill_on_kept_handle(kept, kernels::KeptHandle::in_queue, executor());
    const auto past_queue = kernels::fill_on_kept_handle(kept, kernels::KeptHandle::past_queue, executor());
    in_queue();  // allowed outside of recordings
    EXPECT_NE(complaint_of_recording(in_queue).find("missing from the graph"), std::string::npos);
    EXPECT_NE(complaint_of_recording([&] { fill(), in_queue(), fill(); }).find("kernel_testing.cu:"),
              std::string::npos);
    EXPECT_NE(complaint_of_recording(past_queue).find("has 0 nodes"), std::string::npos);
    EXPECT_EQ(complaint_of_recording(fill), "none");
    executor().synchronize();
}

TEST_P(KernelTest, RecordingsDetectWorkOnOtherStreams) {
    const cuda::Stream other;
    cuda::DeviceBuffer buffer(16);
    for (const auto* stream : {&other, &executor().uploads(), &executor().downloads()}) {
        const auto complaint = complaint_of_recording([&] { cuda::fill(buffer.data(), 7, 16, *stream); });
        EXPECT_NE(complaint.find("a stream other than"), std::string::npos) << complaint;
        EXPECT_NE(complaint.find("buffer.cpp:"), std::string::npos) << complaint;
    }
    EXPECT_NE(complaint_of_recording([] { executor().synchronize(); }).find("cannot wait for a stream"),
              std::string::npos);
    EXPECT_NE(complaint_of_recording([] {}).find("has 0 nodes"), std::string::npos);
    executor().synchronize();
}

}  // namespace
}  // namespace framewire
