#include "framewire/delta/shared/shared_encoder.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/delta/delta_ref.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace framewire::delta {
namespace shared_encoder_test {

class SharedEncoderTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (const auto reason = kit::why_not(Backend::cuda)) GTEST_SKIP() << *reason;
    }
};

// A stream with R and changes of its own, beside what the formula says of it.
class Stream {
public:
    Stream(const Shape& shape, std::int64_t landing_capacity, unsigned seed)
        : random_(static_cast<unsigned>(kit::seed()) + seed),
          frame_(shape, cuda::pinned_memory()),
          got_reference_(shape, cuda::pinned_memory()),
          want_reference_(shape),
          want_(shape),
          landing_(1, landing_capacity, cuda::pinned_memory()),
          current_(shape),
          reference_(shape),
          changes_(shape) {
        kit::fill(frame_.view(), kit::Fill::noise, seed);
        copy(frame_.view(), want_reference_.view());
        cuda::upload(frame_.view(), reference_.view(), own_);
        own_.synchronize();
    }

    // The next frame, of any share of changes, within any threshold.
    void step(SharedEncoder& encoder) {
        const auto changed = random_() % 3 == 0 ? random_() % 100 : random_() % 4;
        auto* bytes = frame_.view().data();
        for (std::int64_t i = 0; i < frame_.shape().bytes(); ++i)
            bytes[i] = static_cast<std::uint8_t>(random_() % 100 < changed ? random_() : bytes[i] + random_() % 3);
        const int threshold = static_cast<int>(random_() % 4 == 0 ? random_() % 255 : random_() % 30);
        cuda::upload(frame_.view(), current_.view(), own_);
        own_.synchronize();
        if (random_() % 2) std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));
        encoder.encode({current_.view(), reference_.view(), changes_.view(), landing_.view(), threshold});
        encode_reference(threshold, frame_.view(), want_reference_.view(), want_.view());
        check();
    }

    void check_reference() {
        cuda::download(reference_.view(), got_reference_.view(), own_);
        own_.synchronize();
        ASSERT_EQ(kit::first_difference(got_reference_.view(), want_reference_.view()), std::nullopt);
    }

private:
    void check() const {
        const auto got = landing_.view(), want = want_.view();
        const auto& summary = want.summaries[0];
        ASSERT_EQ(got.summaries[0].count, summary.count);
        ASSERT_EQ(got.summaries[0].max_error, summary.max_error);
        ASSERT_EQ(got.summaries[0].squared_error, summary.squared_error);
        const auto landed = static_cast<std::size_t>(std::min<std::int64_t>(summary.count, got.capacity));
        ASSERT_EQ(std::memcmp(got.positions, want.positions, landed * sizeof(std::uint32_t)), 0);
        ASSERT_EQ(std::memcmp(got.differences, want.differences, landed), 0);
    }

    std::mt19937 random_;
    cuda::Stream own_;
    HostImage frame_, got_reference_, want_reference_;
    HostChanges want_, landing_;
    cuda::DeviceImage current_, reference_;
    DeviceChanges changes_;
};

TEST_F(SharedEncoderTest, GivesEachStreamWhatItHasAlone) {
    const int frames = kit::brief() ? 4 : 40;
    constexpr int streams = 8;
    for (const auto& shape : {Shape{1, 1, 1, 3}, Shape{1, 75, 101, 1}, Shape{1, 120, 160, 3}})
        for (const int most_under_way : {1, 2}) {
            SCOPED_TRACE(fmt::format("{}, {} under way", to_string(shape), most_under_way));
            SharedEncoder encoder(shape, most_under_way);
            {
                std::vector<std::jthread> threads;
                for (unsigned seed = 0; seed < streams; ++seed)
                    threads.emplace_back([&, seed] {
                        SCOPED_TRACE(fmt::format("stream {}", seed));
                        // Some come later and some go sooner.
                        std::this_thread::sleep_for(std::chrono::milliseconds(seed % 3));
                        Stream stream(shape, std::max<std::int64_t>(1, shape.bytes() / (1 + seed)), seed);
                        for (int frame = 0; frame < frames - static_cast<int>(seed % 4); ++frame) {
                            stream.step(encoder);
                            if (::testing::Test::HasFatalFailure()) return;
                        }
                        stream.check_reference();
                    });
            }
            const auto counts = encoder.counts();
            EXPECT_EQ(counts.frames, streams * frames - 2 * (0 + 1 + 2 + 3));
            EXPECT_LE(counts.launches, counts.frames);
        }
}

TEST_F(SharedEncoderTest, RefusesWhatIsNotAllowed) {
    EXPECT_THROW(SharedEncoder({2, 8, 8, 3}), Error);
    EXPECT_THROW(SharedEncoder({1, 0, 8, 3}), Error);
    const Shape shape{1, 8, 8, 3}, wider{1, 8, 16, 3};
    SharedEncoder encoder(shape);
    cuda::DeviceImage current(shape), reference(shape), other(wider);
    DeviceChanges changes(shape), few(1, 4);
    HostChanges landing(shape, cuda::pinned_memory());
    const auto encode = [&](DeviceView<const std::uint8_t> frame, const DeviceChanges& found, int threshold) {
        encoder.encode({frame, reference.view(), found.view(), landing.view(), threshold});
    };
    EXPECT_THROW(encode(other.view(), changes, 20), Error);
    EXPECT_THROW(encode(current.view(), few, 20), Error);
    EXPECT_THROW(encode(current.view(), changes, -1), Error);
    EXPECT_THROW(encode(current.view(), changes, 255), Error);
    const DeviceView<const std::uint8_t> with_gaps(other.view().data(), shape, wider.row_bytes(), wider.bytes());
    EXPECT_THROW(encode(with_gaps, changes, 20), Error);
    EXPECT_EQ(encoder.counts().launches, 0);
}

TEST_F(SharedEncoderTest, IsOneForEachShapeAsLongAsItIsHeld) {
    SharedEncoders encoders;
    const auto small = encoders.of({1, 8, 8, 3});
    EXPECT_EQ(encoders.of({1, 8, 8, 3}), small);
    EXPECT_NE(encoders.of({1, 8, 8, 1}), small);
    EXPECT_EQ(small.use_count(), 1);
}

TEST(SharedEncoderAnywhere, IsThereWhereAGpuIs) {
    if (kit::why_not(Backend::cuda))
        EXPECT_THROW(SharedEncoder({1, 8, 8, 3}), Error);
    else
        EXPECT_NO_THROW(SharedEncoder({1, 8, 8, 3}));
}

}  // namespace shared_encoder_test
}  // namespace framewire::delta
