#include "framewire/core/error.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/cuda/buffer.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/cuda/executor.hpp"
#include "framewire/cuda/foreign.hpp"
#include "kit/filter_check.hpp"
#include "kit/gpus.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

namespace framewire {
namespace {

class CudaTest : public kit::BackendTest {};
INSTANTIATE_TEST_SUITE_P(Backends, CudaTest, testing::Values(Backend::cuda), kit::backend_name);

TEST(Executor, UsesTheCpuOnRequest) {
    Executor executor(BackendChoice::cpu, 3);
    EXPECT_EQ(executor.backend(), Backend::cpu);
    EXPECT_EQ(executor.pool().threads(), 3);
    EXPECT_EQ(&executor.frame_memory(), &heap_memory());
    EXPECT_THROW(executor.stream(), Error);
}

TEST(Executor, CudaBackendNeverFallsBackToTheCpu) {
    if (!cuda::devices().empty()) {
        EXPECT_EQ(Executor(BackendChoice::cuda).backend(), Backend::cuda);
        EXPECT_EQ(Executor(BackendChoice::automatic).backend(), Backend::cuda);
        return;
    }
    EXPECT_FALSE(cuda::why_no_device().empty());
    EXPECT_EQ(Executor(BackendChoice::automatic).backend(), Backend::cpu);
    try {
        Executor executor(BackendChoice::cuda);
        FAIL() << "an executor without a GPU";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::config);
        EXPECT_NE(std::string(error.what()).find(cuda::why_no_device()), std::string::npos) << error.what();
    }
}

TEST(Executor, ParsesBackendNames) {
    EXPECT_EQ(parse_backend("auto"), BackendChoice::automatic);
    EXPECT_EQ(parse_backend("cpu"), BackendChoice::cpu);
    EXPECT_EQ(parse_backend("cuda"), BackendChoice::cuda);
    EXPECT_THROW(parse_backend("gpu"), Error);
}

TEST(Executor, ReportsOnlyOutermostSteps) {
    Executor executor(BackendChoice::cpu, 1);
    std::vector<std::string> reported;
    executor.time_steps([&](std::string_view name, double) { reported.emplace_back(name); });
    executor.step("whole", [&] { executor.step("part", [] {}); });
    EXPECT_THROW(executor.step("broken", [] { fail(ErrorCode::internal, "in a step"); }), Error);
    executor.step("next", [] {});
    EXPECT_EQ(reported, (std::vector<std::string>{"whole", "next"}));
}

class BackendMemoryTest : public kit::BackendTest {};
FRAMEWIRE_ON_EVERY_BACKEND(BackendMemoryTest);

TEST_P(BackendMemoryTest, FillsUploadsAndDownloadsBytes) {
    auto& executor = kit::executor(GetParam());
    BackendBuffer buffer(1000, executor);
    EXPECT_EQ(buffer.bytes(), 1000u);
    buffer.fill(7);
    buffer.fill(9, 3);
    std::vector<std::uint8_t> got(1000), want(1000, 7);
    std::fill_n(want.begin(), 3, std::uint8_t{9});
    buffer.get(got.data(), got.size());
    EXPECT_EQ(got, want);
    std::fill_n(want.begin(), 500, std::uint8_t{1});
    buffer.put(want.data(), 500);
    buffer.get(got.data(), got.size());
    EXPECT_EQ(got, want);

    const BackendBuffer empty(0, executor);
    empty.fill(1);
    empty.get(nullptr, 0);
    EXPECT_EQ(empty.bytes(), 0u);
}

TEST_P(BackendMemoryTest, CopiesPaddedImages) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{2, 17, 31, 3};
    kit::GuardedImage from(shape, {5, 3, 1});
    kit::fill(from.view(), kit::Fill::noise);
    BackendImage image(shape, executor);
    image.put(from.view());
    HostImage back(shape);
    executor.in_its_space([&]<MemorySpace space>() {
        const auto there = std::as_const(image).view<space>();
        if constexpr (space == MemorySpace::host)
            copy(there, back.view());
        else
            cuda::download(there, back.view(), executor.stream());
    });
    executor.synchronize();
    EXPECT_EQ(kit::first_difference(back.view(), from.view()), std::nullopt);
    EXPECT_THROW(BackendImage({1, 0, 4, 3}, executor), Error);
}

TEST_P(BackendMemoryTest, MirroredBufferHasOneObjectPerSpace) {
    auto& executor = kit::executor(GetParam());
    cuda::MirroredBuffer<BufferIn> mirror(executor, std::size_t{64});
    EXPECT_EQ(mirror.host().bytes(), 64u);
    EXPECT_EQ(mirror.device().bytes(), GetParam() == Backend::cuda ? 64u : 0u);
    EXPECT_EQ(mirror.in<MemorySpace::host>().data(), mirror.host().data());
    EXPECT_EQ(std::as_const(mirror).in<MemorySpace::device>().data(), mirror.device().data());
}

TEST_P(BackendMemoryTest, RejectsMemoryOfTheOtherSpace) {
    const auto& executor = kit::executor(GetParam());
    const auto message = [&](auto&& call) -> std::string {
        try {
            call();
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::internal);
            return error.what();
        }
        return {};
    };
    const auto host = message([&] { executor.require_space<MemorySpace::host>("a test"); });
    const auto device = message([&] { executor.require_space<MemorySpace::device>("a test"); });
    EXPECT_EQ(host, GetParam() == Backend::cpu ? "" : "a test cannot use host memory on the cuda backend");
    EXPECT_EQ(device, GetParam() == Backend::cuda ? "" : "a test cannot use GPU memory on the cpu backend");
}

TEST_P(CudaTest, CopiesPaddedImagesBothWays) {
    const auto& stream = kit::executor(Backend::cuda).stream();
    for (const auto& layout : kit::layouts()) {
        const Shape shape{3, 17, 31, 3};
        kit::GuardedImage from(shape, layout), to(shape, {5, 3, 1});
        kit::fill(from.view(), kit::Fill::noise);
        cuda::DeviceImage device(shape), second(shape);
        cuda::upload(from.view(), device.view(), stream);
        cuda::copy(device.view(), second.view(), stream);
        cuda::download(second.view(), to.view(), stream);
        stream.synchronize();
        EXPECT_EQ(kit::first_difference(to.view(), from.view()), std::nullopt);
        EXPECT_FALSE(to.broken_guard());
    }
}

TEST_P(CudaTest, FramesInPinnedMemoryRoundTrip) {
    auto& executor = kit::executor(Backend::cuda);
    HostImage pinned({1, 8, 8, 3}, executor.frame_memory());
    EXPECT_EQ(&executor.frame_memory(), &cuda::pinned_memory());
    kit::fill(pinned.view(), kit::Fill::ramp);
    cuda::DeviceImage device(pinned.shape());
    cuda::upload(pinned.view(), device.view(), executor.stream());
    HostImage back(pinned.shape());
    cuda::download(device.view(), back.view(), executor.stream());
    executor.stream().synchronize();
    EXPECT_EQ(kit::first_difference(back.view(), pinned.view()), std::nullopt);
}

TEST_P(CudaTest, GraphReplaysRecordedWork) {
    const auto& stream = kit::executor(Backend::cuda).stream();
    cuda::DeviceBuffer a(16), b(16);
    cuda::fill(a.data(), 1, 16, stream);
    const cuda::Graph graph(stream, [&] { cuda::copy(a.data(), b.data(), 16, stream); });
    cuda::fill(a.data(), 7, 16, stream);
    graph.launch(stream);
    std::uint8_t back[16];
    cuda::download(b.data(), back, 16, stream);
    stream.synchronize();
    EXPECT_EQ(back[15], 7);
}

// Each branch moves a byte along in two steps; the work recorded after the branches reads them all.
TEST_P(CudaTest, GraphBranchesForkAndJoin) {
    constexpr std::size_t branches = 40;
    const auto& stream = kit::executor(Backend::cuda).stream();
    cuda::DeviceBuffer first(branches), second(branches), third(branches), all(branches);
    for (auto* buffer : {&first, &second, &third, &all}) cuda::fill(buffer->data(), 0, branches, stream);
    EXPECT_FALSE(cuda::is_recording(stream));
    const cuda::Graph graph(stream, [&] {
        EXPECT_TRUE(cuda::is_recording(stream));
        cuda::fill(first.data(), 7, branches, stream);
        cuda::record_branches(stream, branches, [&](int branch) {
            if (branch == 3) return;  // an empty branch
            cuda::copy(first.data() + branch, second.data() + branch, 1, stream);
            cuda::copy(second.data() + branch, third.data() + branch, 1, stream);
        });
        cuda::copy(third.data(), all.data(), branches, stream);
    });
    graph.launch(stream);
    std::vector<std::uint8_t> back(branches), want(branches, 7);
    want[3] = 0;
    cuda::download(all.data(), back.data(), branches, stream);
    stream.synchronize();
    EXPECT_EQ(back, want);
}

TEST_P(CudaTest, StreamIsUsableAfterAFailedRecording) {
    const auto& stream = kit::executor(Backend::cuda).stream();
    EXPECT_THROW(cuda::Graph(stream, [] { fail(ErrorCode::internal, "while recording"); }), Error);
    stream.synchronize();
}

// An operation may keep the stream of its plan: its commands go to the same place as the stream's other work at
// that time.
TEST_P(CudaTest, RecordsWorkOnAStoredStreamReference) {
    const auto& executor = kit::executor(Backend::cuda);
    cuda::DeviceBuffer buffer(16);
    cuda::fill(buffer.data(), 1, 16, executor.stream());
    const auto operation = [&buffer, &stream = executor.stream()] { cuda::fill(buffer.data(), 7, 16, stream); };
    const auto graph = executor.record(operation);
    std::uint8_t back = 0;
    const auto first_byte = [&] {
        cuda::download(buffer.data(), &back, 1, executor.stream());
        executor.synchronize();
        return back;
    };
    EXPECT_EQ(first_byte(), 1);
    graph.launch(executor.stream());
    EXPECT_EQ(first_byte(), 7);
}

// Workers of a frame copy and record events on its stream while the thread that starts frames records.
TEST_P(CudaTest, OtherThreadsCanQueueWorkDuringRecording) {
    const auto& executor = kit::executor(Backend::cuda);
    cuda::DeviceBuffer recorded(16), run(16);
    cuda::fill(recorded.data(), 1, 16, executor.stream());
    std::uint8_t of_run = 0, of_recorded = 0;
    const auto graph = executor.record([&] {
        cuda::fill(recorded.data(), 7, 16, executor.stream());
        std::thread([&] {
            cuda::Event filled;
            cuda::fill(run.data(), 5, 16, executor.stream());
            filled.record(executor.stream());
            cuda::download(run.data(), &of_run, 1, executor.stream());
            executor.synchronize();
        }).join();
    });
    EXPECT_EQ(of_run, 5);
    const auto first_recorded = [&] {
        cuda::download(recorded.data(), &of_recorded, 1, executor.stream());
        executor.synchronize();
        return of_recorded;
    };
    EXPECT_EQ(first_recorded(), 1);
    graph.launch(executor.stream());
    EXPECT_EQ(first_recorded(), 7);
}

TEST_P(CudaTest, EventsSynchronizeStreams) {
    const auto& first = kit::executor(Backend::cuda).stream();
    const cuda::Stream second;
    cuda::DeviceBuffer buffer(1 << 20);
    cuda::Event begin, end;
    begin.record(first);
    cuda::fill(buffer.data(), 3, buffer.bytes(), first);
    end.record(first);
    end.make_wait(second);
    std::uint8_t back = 0;
    cuda::download(buffer.data() + buffer.bytes() - 1, &back, 1, second);
    second.synchronize();
    EXPECT_EQ(back, 3);
    EXPECT_GE(end.milliseconds_since(begin), 0.0f);
}

// Each side fills the buffer after the other one; without the order, the last fill could come first.
TEST_P(CudaTest, ForeignStreamsAreKeptInOrder) {
    const auto& own = kit::executor(Backend::cuda).stream();
    const cuda::Stream foreign;
    void* const handle = cuda::foreign_handles(foreign).stream;
    cuda::DeviceBuffer buffer(std::size_t{1} << 26);
    cuda::ForeignOrder order;
    for (int round = 1; round < 20; ++round) {
        cuda::fill(buffer.data(), 2 * round, buffer.bytes(), foreign);
        order.enter(handle, own);
        cuda::fill(buffer.data() + buffer.bytes() / 2, 2 * round + 1, buffer.bytes() / 2, own);
        order.leave(own, handle);
        std::uint8_t first = 0, last = 0;
        cuda::download(buffer.data(), &first, 1, foreign);
        cuda::download(buffer.data() + buffer.bytes() - 1, &last, 1, foreign);
        foreign.synchronize();
        EXPECT_EQ(first, 2 * round);
        EXPECT_EQ(last, 2 * round + 1);
    }
    order.enter(nullptr, own);  // the default stream
    order.leave(own, nullptr);
    own.synchronize();
}

TEST_P(CudaTest, KnowsTheMemoryOfAGpu) {
    const auto& executor = kit::executor(Backend::cuda);
    const cuda::DeviceBuffer buffer(64);
    EXPECT_TRUE(cuda::is_device_memory(buffer.data(), *executor.gpu()));
    EXPECT_TRUE(cuda::is_device_memory(buffer.data() + 63, *executor.gpu()));
    EXPECT_FALSE(cuda::is_device_memory(buffer.data(), *executor.gpu() + 1));
    const HostImage pageable({1, 4, 4, 1}), pinned({1, 4, 4, 1}, executor.frame_memory());
    EXPECT_FALSE(cuda::is_device_memory(pageable.view().data(), 0));
    EXPECT_FALSE(cuda::is_device_memory(pinned.view().data(), 0));
    EXPECT_FALSE(cuda::is_device_memory(nullptr, 0));
}

TEST_P(CudaTest, FailedAllocationIsReportedOnce) {
    try {
        cuda::DeviceBuffer buffer(std::size_t{1} << 50);
        FAIL() << "a petabyte on a GPU";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::config) << error.what();
    }
    // The next call must not report the error again.
    kit::executor(Backend::cuda).stream().synchronize();
    cuda::DeviceBuffer buffer(16);
}

TEST_P(CudaTest, ReportsTheGpuNameAndMemory) {
    const auto devices = cuda::devices();
    ASSERT_FALSE(devices.empty());
    EXPECT_FALSE(devices[0].name.empty());
    EXPECT_GT(devices[0].memory_bytes, 0);
    EXPECT_TRUE(cuda::why_no_device().empty());
}

TEST(Devices, WhyFailedNamesAMissingGpu) {
    EXPECT_FALSE(cuda::why_failed(static_cast<int>(cuda::devices().size())).empty());
    EXPECT_FALSE(cuda::why_failed(-1).empty());
}

TEST_P(CudaTest, ExecutorUsesTheChosenGpu) {
    for (const auto& gpu : cuda::devices()) {
        EXPECT_EQ(cuda::why_failed(gpu.index), "");
        const Executor executor(BackendChoice::cuda, 1, gpu.index);
        EXPECT_EQ(executor.gpu(), gpu.index);
        EXPECT_EQ(executor.stream().device(), gpu.index);
        EXPECT_EQ(executor.uploads().device(), gpu.index);
        EXPECT_EQ(executor.downloads().device(), gpu.index);
        EXPECT_EQ(cuda::current_device(), gpu.index);
    }
    EXPECT_EQ(Executor(BackendChoice::cpu, 1, 7).gpu(), std::nullopt);
    EXPECT_THROW(Executor(BackendChoice::cuda, 1, static_cast<int>(cuda::devices().size())), Error);
}

// With one GPU, both executors use it. A new thread's current GPU is 0.
TEST_P(CudaTest, AnyThreadMayUseExecutorsOfDifferentGpus) {
    const int last = static_cast<int>(cuda::devices().size()) - 1;
    const Executor first(BackendChoice::cuda, 1, 0), second(BackendChoice::cuda, 1, last);
    std::jthread([&] {
        const BackendBuffer of_second(100, second), of_first(100, first);
        EXPECT_EQ(cuda::current_device(), 0);
        cuda::Transfer up(second), down(first);
        of_first.fill(1);
        of_second.fill(2);
        std::vector<std::uint8_t> from_first(100), from_second(100);
        of_second.get(from_second.data(), from_second.size());
        EXPECT_EQ(cuda::current_device(), last);
        of_first.get(from_first.data(), from_first.size());
        EXPECT_EQ(from_first, std::vector<std::uint8_t>(100, 1));
        EXPECT_EQ(from_second, std::vector<std::uint8_t>(100, 2));
        const auto graph = second.record([&] { of_second.fill(3); });
        of_first.fill(4);
        graph.launch(second.stream());
        second.synchronize();
        of_second.get(from_second.data(), from_second.size());
        EXPECT_EQ(from_second, std::vector<std::uint8_t>(100, 3));
    });
}

TEST_P(CudaTest, LimitsCanOnlyBeLowered) {
    cuda::use_device(0);
    const auto all = cuda::devices().front().limits;
    EXPECT_GE(all.compute_major * 10 + all.compute_minor, 75);
    EXPECT_GE(all.multiprocessors, 1);
    EXPECT_GE(all.multiprocessor_threads, 1024);
    EXPECT_GE(all.block_shared_bytes, 64 * 1024);
    EXPECT_GE(all.multiprocessor_shared_bytes, all.block_shared_bytes);
    {
        const kit::EmulatedGpu larger{std::optional(cuda::GpuLimits{99, 0, 1 << 20, 1 << 20, 1 << 30, 1 << 30})};
        EXPECT_TRUE(cuda::limits() == all);
        const cuda::GpuLimits least{7, 5, 1, 512, 48 * 1024, 64 * 1024};
        const kit::EmulatedGpu small{std::optional(least)};
        EXPECT_TRUE(cuda::limits() == least);
    }
}

TEST_P(CudaTest, TooLittleMemoryIsAnErrorThatSaysHowMuchIsNeeded) {
    cuda::use_device(0);
    for (int turn = 0; turn < 2; ++turn) {
        try {
            const cuda::DeviceBuffer buffer(std::size_t{1} << 50);
            FAIL() << "a petabyte";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::config);
            EXPECT_TRUE(std::string_view(error.what())
                            .starts_with("GPU 0 has too little memory: 1125899907 MB are needed at once, and "))
                << error.what();
        }
    }
    EXPECT_NO_THROW(cuda::DeviceBuffer(1000));
    EXPECT_EQ(cuda::why_failed(0), "");
}

}  // namespace
}  // namespace framewire
