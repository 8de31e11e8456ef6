#include "framewire/codec/rate_control.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <functional>
#include <limits>
#include <vector>

namespace framewire::codec {
namespace {

// Model of a camera with small frames, and of the viewer's reference picture. A delta frame takes 2 bytes per byte that
// is off by more than the threshold. Changes that a threshold withholds remain withheld until a lower threshold sends
// them.
class Scene {
public:
    static constexpr int size = 6000;

    Scene() : camera_(size), held_(size) {}

    /// Draws a frame: the first `moving` bytes are random, the others within `noise` of `level`.
    void film(int level, int noise, int moving = 0) {
        for (int i = 0; i < size; ++i)
            camera_[at(i)] = i < moving
                                 ? static_cast<int>(random() % 256)
                                 : level + static_cast<int>(random() % static_cast<unsigned>(2 * noise + 1)) - noise;
    }
    std::int64_t step(int threshold) {
        std::int64_t bytes = 10;
        for (int i = 0; i < size; ++i)
            if (std::abs(camera_[at(i)] - held_[at(i)]) > threshold) {
                held_[at(i)] = camera_[at(i)];
                bytes += 2;
            }
        return bytes;
    }

private:
    static std::size_t at(int i) { return static_cast<std::size_t>(i); }
    unsigned random() { return (state_ = state_ * 1664525u + 1013904223u) >> 8; }

    std::vector<int> camera_, held_;
    unsigned state_ = 1;
};

struct Trace {
    std::vector<int> thresholds;
    std::vector<double> bits;  // size of each delta frame in bits
    std::vector<std::int64_t> over;

    int highest(std::size_t from, std::size_t to) const {
        return *std::max_element(thresholds.begin() + std::ptrdiff_t(from), thresholds.begin() + std::ptrdiff_t(to));
    }
    int lowest(std::size_t from, std::size_t to) const {
        return *std::min_element(thresholds.begin() + std::ptrdiff_t(from), thresholds.begin() + std::ptrdiff_t(to));
    }
    /// Returns the maximum number of bits in any second within these frames.
    double busiest(std::size_t from, std::size_t to, std::size_t frames_a_second) const {
        double most = 0;
        for (auto i = from; i + frames_a_second <= to; ++i) {
            double sum = 0;
            for (auto j = i; j < i + frames_a_second; ++j) sum += bits[j];
            most = std::max(most, sum);
        }
        return most;
    }
    /// Returns how often the threshold changes between rising and falling.
    int turns(std::size_t from, std::size_t to) const {
        int count = 0, direction = 0;
        for (auto i = from + 1; i < to; ++i) {
            const int moved = thresholds[i] - thresholds[i - 1];
            if (moved == 0) continue;
            count += direction != 0 && (moved > 0) != (direction > 0);
            direction = moved;
        }
        return count;
    }
};

struct Run {
    RateLimits limits{.bits_per_second = 200'000};
    int threshold = 10;
    int frames = 600;
    double rate = 30;
    int late = 0;       // delay in frames until the size of a frame is reported
    int unwatched = 1;  // number of initial frames without a viewer: nothing is sent, R is the camera's picture
    std::function<double(int)> time{};
};

// Runs a stream; film(scene, frame) draws each frame.
template <class Film>
Trace run(const Run& how, Film&& film) {
    RateControl control(how.limits, how.threshold, how.rate);
    Scene scene;
    Trace trace;
    struct Step {
        double seconds;
        int threshold;
        std::int64_t bytes;
    };
    std::deque<Step> under_way;
    for (int frame = 0; frame < how.frames; ++frame) {
        film(scene, frame);
        const double seconds = how.time ? how.time(frame) : frame / how.rate;
        const int threshold = control.threshold(seconds);
        const auto bytes = frame < how.unwatched ? (scene.step(0), 0) : scene.step(threshold);
        trace.thresholds.push_back(threshold);
        trace.bits.push_back(8.0 * static_cast<double>(bytes));
        under_way.push_back({seconds, threshold, bytes});
        if (static_cast<int>(under_way.size()) > how.late) {
            control.took(under_way.front().seconds, under_way.front().threshold, under_way.front().bytes);
            under_way.pop_front();
        }
        trace.over.push_back(control.over());
        EXPECT_GE(threshold, how.threshold) << "frame " << frame;
        EXPECT_LE(threshold, how.limits.greatest_threshold(how.threshold)) << "frame " << frame;
    }
    return trace;
}

TEST(RateControl, QuietStreamSettlesAtTheMinimumThreshold) {
    const auto trace = run({}, [](Scene& scene, int) { scene.film(100, 5); });
    EXPECT_EQ(trace.thresholds[0], 10) << "a whole picture";
    EXPECT_EQ(trace.thresholds[1], 28) << "of a bucket that is half full";
    EXPECT_EQ(trace.highest(45, 600), 10);
    EXPECT_EQ(trace.over.back(), 0);
}

// Noise of 40 causes differences of up to 80, which take 1.6 Mbit/s at a threshold of 10.
TEST(RateControl, HoldsTheRateUnderNoiseWithoutOscillating) {
    for (const double rate : {5.0, 12.0, 30.0, 120.0})
        for (const double bits : {30'000.0, 100'000.0, 400'000.0}) {
            SCOPED_TRACE(testing::Message() << bits << " bits at " << rate << " frames per second");
            const auto frames = static_cast<int>(20 * rate);
            const auto second = static_cast<std::size_t>(rate), all = static_cast<std::size_t>(frames);
            const auto trace =
                run({.limits = {.bits_per_second = bits, .threshold_max = 90}, .frames = frames, .rate = rate},
                    [](Scene& scene, int) { scene.film(100, 40); });
            EXPECT_GT(trace.busiest(0, 5 * second, second), 0);
            EXPECT_LE(trace.busiest(5 * second, all, second), bits);
            EXPECT_GE(trace.busiest(5 * second, all, second), 0.7 * bits) << "what may be used is used";
            EXPECT_LE(trace.highest(5 * second, all) - trace.lowest(5 * second, all), 10);
            EXPECT_LE(trace.turns(5 * second, all), frames / 4);
        }
}

// Viewers are there from the first frame, or join later. Noise of 40 fills even the second half of the bucket.
TEST(RateControl, LimitsTheRateInTheFirstSecond) {
    for (const int noise : {20, 40})
        for (const double rate : {12.0, 30.0, 120.0})
            for (const double bits : {60'000.0, 100'000.0, 400'000.0})
                for (const int unwatched : {1, 200}) {
                    SCOPED_TRACE(testing::Message()
                                 << noise << ", " << bits << " bits at " << rate << " frames per second");
                    const auto trace = run({.limits = {.bits_per_second = bits, .threshold_max = 90},
                                            .frames = static_cast<int>(3 * rate) + unwatched,
                                            .rate = rate,
                                            .unwatched = unwatched},
                                           [&](Scene& scene, int) { scene.film(100, noise); });
                    const auto second = static_cast<std::size_t>(rate), begin = static_cast<std::size_t>(unwatched);
                    const auto first = trace.busiest(begin, begin + second, second);
                    EXPECT_LE(first, (noise == 20 ? 1.0 : 1.2) * bits);
                }
}

TEST(RateControl, ReturnsToTheMinimumThresholdAfterMotion) {
    const auto trace =
        run({}, [](Scene& scene, int frame) { scene.film(100, 5, frame >= 100 && frame < 250 ? 600 : 0); });
    EXPECT_EQ(trace.highest(45, 100), 10);
    EXPECT_GT(trace.highest(100, 250), 30);
    EXPECT_LE(trace.busiest(160, 250, 30), 200'000) << "a second after it began";
    EXPECT_EQ(trace.highest(250 + 4 * 30, 600), 10) << "four seconds after its end";
    for (std::size_t i = 1; i < trace.thresholds.size(); ++i)
        EXPECT_LE(trace.thresholds[i - 1] - trace.thresholds[i], 3) << "in small steps, frame " << i;
}

// A scene cut is one unpredictable large delta frame. The scene is quiet afterwards, so the threshold must soon return.
TEST(RateControl, RecoversFromASceneCut) {
    const auto trace = run({.limits = {.bits_per_second = 60'000}},
                           [](Scene& scene, int frame) { scene.film(frame < 100 ? 60 : 200, 5); });
    EXPECT_EQ(trace.highest(45, 101), 10);
    EXPECT_EQ(trace.thresholds[101], 64);
    EXPECT_EQ(trace.highest(101 + 5 * 30, 600), 10);
    EXPECT_EQ(trace.turns(101, 600), 0);
    EXPECT_EQ(trace.over.back(), 0) << "within the greatest threshold it takes next to nothing";
}

// Changes smaller than the threshold in force are withheld and sent together later, but only once.
TEST(RateControl, SendsWithheldChangesOnce) {
    const auto trace = run({.limits = {.bits_per_second = 60'000}}, [](Scene& scene, int frame) {
        scene.film(frame < 150 ? 100 : 140, 3, frame >= 100 && frame < 200 ? 600 : 0);
    });
    int bursts = 0;
    for (std::size_t i = 201; i < 600; ++i) bursts += trace.bits[i] > 20'000;
    EXPECT_GE(bursts, 1);
    EXPECT_LE(bursts, 3) << "noise spreads it over neighbouring thresholds";
    EXPECT_EQ(trace.highest(600 - 60, 600), 10);
}

TEST(RateControl, CountsFramesOverTheRateAtTheMaximumThreshold) {
    const auto trace = run({.limits = {.bits_per_second = 20'000, .threshold_max = 30}},
                           [](Scene& scene, int) { scene.film(100, 60); });
    EXPECT_EQ(trace.lowest(30, 600), 30);
    EXPECT_GT(trace.over.back(), 500);
    const auto held = run({}, [](Scene& scene, int) { scene.film(100, 40); });
    EXPECT_EQ(held.over.back(), 0);
}

// The threshold oscillates in this case, with an amplitude that depends on when the viewer joins. The test averages the
// amplitude over ten join times.
TEST(RateControl, LimitsTheRateWithFramesInFlight) {
    int swings = 0;
    const std::vector<int> begins{1, 2, 3, 5, 8, 13, 21, 40, 77, 100};
    for (const int unwatched : begins) {
        const auto trace =
            run({.limits = {.bits_per_second = 200'000, .threshold_max = 90}, .late = 6, .unwatched = unwatched},
                [](Scene& scene, int) { scene.film(100, 40); });
        EXPECT_LE(trace.busiest(300, 600, 30), 300'000) << unwatched;
        swings += trace.highest(300, 600) - trace.lowest(300, 600);
    }
    EXPECT_LE(swings, 30 * static_cast<int>(begins.size()));
}

// An implausible time counts as one frame interval. During a plausible gap, the bucket drains.
TEST(RateControl, ToleratesImplausibleTimestamps) {
    const auto film = [](Scene& scene, int) { scene.film(100, 40); };
    const auto want = run({}, film);
    const double nan = std::numeric_limits<double>::quiet_NaN(), far = std::numeric_limits<double>::max();
    for (const auto& time : {std::function<double(int)>([](int) { return 0.0; }),
                             {[nan](int) { return nan; }},
                             {[far](int frame) { return frame % 2 ? far : -far; }},
                             {[](int frame) { return -frame / 30.0; }}})
        EXPECT_EQ(run({.time = time}, film).thresholds, want.thresholds);
    const auto cut = [](Scene& scene, int frame) { scene.film(frame < 300 ? 60 : 200, 5); };
    EXPECT_GT(run({}, cut).thresholds[301], 10);
    EXPECT_EQ(run({.time = [](int frame) { return frame / 30.0 + (frame <= 300 ? 0 : 60); }}, cut).highest(45, 600),
              10);
}

TEST(RateControl, RejectsInvalidLimits) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const double bits : {0.0, -1.0, 999.0, 2e12, nan})
        EXPECT_THROW(validate({.bits_per_second = bits}, 20), Error) << bits;
    const double bits = 1e6;
    EXPECT_THROW(validate({bits, 19}, 20), Error);
    EXPECT_THROW(validate({bits, 255}, 20), Error);
    EXPECT_THROW(validate({bits}, -1), Error);
    EXPECT_THROW(RateControl({bits}, 20, 0), Error);
    EXPECT_THROW(RateControl({bits}, 20, nan), Error);
    EXPECT_NO_THROW(validate({bits, 20}, 20));
    EXPECT_EQ(RateLimits{bits}.greatest_threshold(20), 64);
    EXPECT_EQ(RateLimits{bits}.greatest_threshold(100), 100);
    EXPECT_EQ((RateLimits{bits, 30}.greatest_threshold(20)), 30);
}

TEST(RateControl, MinimumThresholdCanBeChanged) {
    RateControl control({.bits_per_second = 1e9, .threshold_max = 40}, 20, 30);
    const auto threshold_at = [&](int first) {
        int threshold = 0;
        for (int frame = first; frame < first + 200; ++frame) {
            threshold = control.threshold(frame / 30.0);
            control.took(frame / 30.0, threshold, 10);
        }
        return threshold;
    };
    EXPECT_EQ(threshold_at(0), 20);
    control.set_least(35);
    EXPECT_GE(control.threshold(200 / 30.0), 35) << "at once";
    EXPECT_EQ(threshold_at(201), 35);
    control.set_least(3);
    EXPECT_EQ(threshold_at(500), 3) << "as it sinks after a rise";
    EXPECT_THROW(control.set_least(41), Error);
    EXPECT_THROW(control.set_least(-1), Error);
    EXPECT_EQ(threshold_at(800), 3);
}

// The room is the number of bytes that can be sent without raising the threshold. It is 0 initially, because the bucket
// is half full, while the threshold is above the minimum, and after the room has been used.
TEST(RateControl, ReportsTheRemainingBudget) {
    RateControl control({.bits_per_second = 80'000}, 10, 10);
    double seconds = 0;
    const auto frames = [&](int count, std::int64_t bytes) {
        for (int frame = 0; frame < count; ++frame, seconds += 0.1)
            control.took(seconds, control.threshold(seconds), bytes);
    };
    frames(1, 100);
    EXPECT_EQ(control.room_bytes(), 0);
    frames(30, 100);
    const double room = control.room_bytes();
    EXPECT_GT(room, 500);
    EXPECT_LT(room, 1000);
    frames(1, 900 + static_cast<int>(room));
    EXPECT_LT(control.room_bytes(), 100);
    frames(20, 5000);
    EXPECT_GT(control.threshold(seconds), 10);
    EXPECT_EQ(control.room_bytes(), 0);
}

}  // namespace
}  // namespace framewire::codec
