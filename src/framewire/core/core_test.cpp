#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <mutex>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace framewire {
namespace {

// A device view must not reach host code, and a read-only view must not reach code that writes.
static_assert(!std::is_convertible_v<DeviceView<std::uint8_t>, HostView<std::uint8_t>>);
static_assert(!std::is_convertible_v<HostView<std::uint8_t>, DeviceView<const std::uint8_t>>);
static_assert(!std::is_convertible_v<HostView<const std::uint8_t>, HostView<std::uint8_t>>);
static_assert(std::is_convertible_v<HostView<std::uint8_t>, HostView<const std::uint8_t>>);
static_assert(!std::is_copy_constructible_v<HostBuffer> && !std::is_copy_constructible_v<HostImage>);

template <class Call>
std::string message_of(Call&& call) {
    try {
        call();
    } catch (const Error& error) {
        return error.what();
    }
    return "no error";
}

TEST(Shape, FormatsAsTextAndCountsBytesIn64Bits) {
    EXPECT_EQ(to_string(Shape{1, 1080, 1920, 3}), "1920x1080 BGR");
    EXPECT_EQ(to_string(Shape{32, 4, 5, 1}), "5x4 gray x 32");
    EXPECT_EQ((Shape{100, 16384, 16384, 3}.bytes()), 80530636800);
}

TEST(Shape, RejectsShapesOutsideTheLimits) {
    EXPECT_EQ(message_of([] {
                  validate(Shape{1, 16385, 4, 3}, "the frame");
              }),
              "the frame is 4x16385; allowed: sides of 1 to 16384 pixels");
    EXPECT_EQ(message_of([] {
                  validate(Shape{1, 4, 4, 2}, "the frame");
              }),
              "the frame has 2 channels; allowed: 1 (gray) and 3 (BGR)");
    EXPECT_EQ(message_of([] {
                  validate(Shape{0, 4, 4, 3}, "the frame");
              }),
              "the frame has 0 frames; at least 1 is needed");
    EXPECT_EQ(message_of([] { validate(Shape{1, 16384, 1, 1}, "the frame"); }), "no error");
}

TEST(View, AddressesPaddedRows) {
    std::vector<std::uint8_t> memory(1000);
    const HostView<std::uint8_t> view(memory.data(), {2, 3, 4, 3}, 20, 100);
    EXPECT_EQ(view.row(1, 2) - memory.data(), 140);
    EXPECT_EQ(view.batch_row(4), view.row(1, 1));
    EXPECT_EQ(view.frames(1, 1).row(0, 0), view.row(1, 0));
    EXPECT_FALSE(view.dense());
    EXPECT_TRUE((HostView<std::uint8_t>(memory.data(), {2, 3, 4, 3}).dense()));
}

TEST(View, RejectsInvalidStridesShapesAndPointers) {
    std::vector<std::uint8_t> memory(1000);
    const Shape shape{2, 3, 4, 3};
    const auto check = [&](std::int64_t row, std::int64_t frame) {
        return message_of(
            [&] { validate(HostView<std::uint8_t>(memory.data(), shape, row, frame), shape, "the image"); });
    };
    EXPECT_EQ(check(12, 36), "no error");
    EXPECT_EQ(check(20, 52), "no error") << "the last row needs no gap behind it";
    EXPECT_EQ(check(11, 36), "the image has a row stride of 11 bytes; a row needs 12");
    EXPECT_EQ(check(12, 35), "the image has a frame stride of 35 bytes; a frame needs 36");
    EXPECT_EQ(message_of([&] {
                  validate(HostView<std::uint8_t>(memory.data(), {1, 3, 4, 3}), shape, "the image");
              }),
              "the image is 4x3 BGR; expected 4x3 BGR x 2");
    EXPECT_EQ(message_of([&] { validate(HostView<std::uint8_t>(nullptr, shape), shape, "the image"); }),
              "the image is a null pointer");
}

TEST(Buffer, IsAlignedAndMovable) {
    HostBuffer one(100);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.data()) % 64, 0u);
    const auto* data = one.data();
    HostBuffer two = std::move(one);
    EXPECT_EQ(two.data(), data);
    EXPECT_EQ(one.data(), nullptr);
    one = std::move(two);
    EXPECT_EQ(one.data(), data);
    EXPECT_EQ(HostBuffer(0).data(), nullptr);
}

#ifdef __linux__
// Returns how many pages of the buffer are resident.
std::ptrdiff_t pages_there(const HostBuffer& buffer) {
    const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> there(buffer.bytes() / page_bytes);
    EXPECT_EQ(::mincore(buffer.data(), there.size() * page_bytes, there.data()), 0);
    return std::ranges::count_if(there, [](unsigned char page) { return page & 1; });
}

TEST(Buffer, SparseMemoryCommitsOnlyTouchedPages) {
    std::string pages;
    std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), pages);
    if (pages.find("[always]") != std::string::npos) GTEST_SKIP() << "all memory has large pages here";
    constexpr std::size_t bytes = 64 << 20;  // large enough that the allocator maps it directly
    const HostBuffer buffer(bytes, sparse_memory());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 64, 0u);
    buffer.data()[bytes / 2] = 1;
    buffer.data()[bytes - 1] = 1;
    EXPECT_GE(pages_there(buffer), 2);
    EXPECT_LT(pages_there(buffer), 256);  // half of a large page, in pages of 4 KiB
}
#endif

TEST(Buffer, ReportsTheSizeOfAFailedAllocation) {
    EXPECT_EQ(message_of([] { HostBuffer(std::size_t{1} << 62); }),
              "not enough memory for a buffer of 4611686018427387904 bytes");
}

TEST(ThreadPool, ChunksDoNotDependOnTheNumberOfThreads) {
    for (const int threads : {1, 2, 5}) {
        const ThreadPool pool(threads);
        EXPECT_EQ(pool.threads(), threads);
        std::mutex mutex;
        std::set<std::vector<std::int64_t>> pieces;
        pool.for_chunks(10, 4, [&](std::int64_t chunk, std::int64_t begin, std::int64_t end) {
            const std::lock_guard lock(mutex);
            pieces.insert({chunk, begin, end});
        });
        EXPECT_EQ(pieces, (std::set<std::vector<std::int64_t>>{{0, 0, 4}, {1, 4, 8}, {2, 8, 10}}));
        pool.for_chunks(0, 4, [](auto...) { FAIL() << "nothing to do"; });
    }
}

TEST(ThreadPool, RethrowsExceptionsFromTheBody) {
    const ThreadPool pool(2);
    EXPECT_EQ(message_of([&] {
                  pool.for_chunks(100, 1, [](std::int64_t chunk, auto...) {
                      if (chunk == 50) fail(ErrorCode::internal, "at {}", chunk);
                  });
              }),
              "at 50");
}

TEST(ThreadPool, RejectsAnInvalidNumberOfThreads) {
    EXPECT_THROW(ThreadPool(-1), Error);
    EXPECT_THROW(ThreadPool(1025), Error);
    EXPECT_GE(ThreadPool(0).threads(), 1);
}

}  // namespace
}  // namespace framewire
