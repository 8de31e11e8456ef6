#include "framewire/filters/median_histogram.hpp"
#include "framewire/core/error.hpp"
#include "framewire/filters/median.hpp"
#include "kit/filter_check.hpp"
#include "kit/gpus.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace framewire {
namespace {

// Returns the limits of a small GPU.
cuda::GpuLimits limits_of(std::string_view name) {
    return std::ranges::find(kit::small_gpus(), name, &kit::SmallGpu::name)->limits;
}

TEST(MedianHistogramBlocks, FitEveryGpu) {
    for (const auto& [name, gpu] : kit::small_gpus())
        for (int size = 3; size <= max_median_size; size += 2)
            for (const int width : {1, 5, 97, 640, 1920, 7681})
                for (const Shape& shape :
                     {Shape{1, 1, width, 1}, Shape{1, 1080, width, 3}, Shape{65535, 480, width, 3}}) {
                    SCOPED_TRACE(fmt::format("{}, size {}, {}", name, size, to_string(shape)));
                    std::optional<MedianHistogramBlocks> blocks;
                    try {
                        blocks.emplace(size, shape, gpu);
                    } catch (const Error& error) {
                        EXPECT_EQ(error.code(), ErrorCode::config);
                        ASSERT_GT(size, 231);
                        ASSERT_EQ(name, "sm_75");
                        continue;
                    }
                    const int columns = blocks->strip_px() + size - 1;
                    ASSERT_LE(blocks->shared_bytes, gpu.block_shared_bytes);
                    ASSERT_GE(blocks->shared_bytes,
                              (columns + 1) * MedianHistogramBlocks::column_bytes + blocks->strip_px());
                    ASSERT_LE(blocks->threads, MedianHistogramBlocks::most_threads);
                    ASSERT_LE(blocks->windows * MedianHistogramBlocks::threads_per_window, blocks->threads);
                    ASSERT_LE(columns, blocks->threads * MedianHistogramBlocks::columns_per_thread);
                    ASSERT_GT(blocks->windows, 0);
                    ASSERT_EQ(blocks->windows % 2, 0) << "half a warp would have no window";
                    ASSERT_GT(blocks->window_px, 0);
                    ASSERT_EQ(blocks->window_px % MedianHistogramBlocks::step_px, 0);
                    ASSERT_GE(blocks->strips * blocks->strip_px(), width);
                    ASSERT_LT((blocks->strips - 1) * blocks->strip_px(), width) << "an empty strip";
                    ASSERT_GT(blocks->rows, 0);
                }
}

TEST(MedianHistogramBlocks, ChoosesTheSizesMeasuredOnAnH200) {
    struct Case {
        int size;
        std::array<int, 6> blocks;
    };
    for (const auto& [size, want] :
         {Case{17, {256, 16, 12, 10, 270, 57040}}, Case{51, {256, 16, 12, 10, 270, 66288}},
          Case{111, {256, 16, 16, 8, 216, 100080}}, Case{255, {512, 32, 16, 4, 360, 209136}}}) {
        const MedianHistogramBlocks got(size, {32, 1080, 1920, 3}, limits_of("sm_90"));
        EXPECT_EQ((std::array{got.threads, got.windows, got.window_px, got.strips, got.rows, got.shared_bytes}), want)
            << size;
    }
}

TEST(MedianHistogramBlocks, ReportsSizesThatDoNotFit) {
    try {
        MedianHistogramBlocks(255, {1, 10, 10, 3}, limits_of("sm_75"));
        FAIL() << "256 columns of 272 bytes in 64 KiB";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::config);
        EXPECT_STREQ(error.what(),
                     "median: size 255 needs 71544 bytes of shared memory per block, but this GPU has 65536; use a "
                     "size up to 231 or the cpu backend");
    }
    EXPECT_NO_THROW(MedianHistogramBlocks(231, {1, 10, 10, 3}, limits_of("sm_75")));
    EXPECT_NO_THROW(MedianHistogramBlocks(255, {1, 10, 10, 3}, limits_of("sm_86")));
}

// Tests the limits of smaller GPUs, which the present GPU emulates: medians equal the CPU's.
class MedianOnSmallGpus : public kit::BackendTest {};
INSTANTIATE_TEST_SUITE_P(Backends, MedianOnSmallGpus, testing::Values(Backend::cuda), kit::backend_name);

TEST_P(MedianOnSmallGpus, MatchesTheCpu) {
    auto& executor = kit::executor(Backend::cuda);
    for (const auto& gpu : kit::gpus_to_test()) {
        const kit::EmulatedGpu emulated(gpu);
        const auto block_bytes = cuda::limits().block_shared_bytes;
        for (const int size : {9, 11, 13, 15, 17, 51, 111, 113, 199, 231, 245, 255}) {
            if (block_bytes == 64 * 1024 && size > 231) {
                EXPECT_THROW(Median({.size = size}, {1, 9, 40, 3}, executor), Error) << size;
                continue;
            }
            for (const int channels : {3, 1}) {
                SCOPED_TRACE(fmt::format("{} bytes, size {}, {} channels", block_bytes, size, channels));
                const Shape shape{2, 70, 331, channels};
                HostImage in(shape), got(shape), want(shape);
                kit::fill(in.view(), kit::Fill::noise, 7);
                Median({.size = size}, shape, kit::executor(Backend::cpu))
                    .run(FilterImages<MemorySpace::host>{in.view(), {}, want.view()});
                if constexpr (cuda::compiled) {
                    Median median({.size = size}, shape, executor);
                    cuda::DeviceImage device_in(shape), device_out(shape);
                    cuda::upload(in.view(), device_in.view(), executor.stream());
                    median.run(FilterImages<MemorySpace::device>{device_in.view(), {}, device_out.view()});
                    cuda::download(device_out.view(), got.view(), executor.stream());
                    executor.stream().synchronize();
                }
                ASSERT_EQ(kit::first_difference(got.view(), want.view()), std::nullopt);
            }
        }
    }
}

}  // namespace
}  // namespace framewire
