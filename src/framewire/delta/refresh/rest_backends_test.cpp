#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/delta/blocks/grid.hpp"
#include "framewire/delta/delta.hpp"
#include "framewire/delta/refresh/rest_sharpener.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <vector>

namespace framewire::delta {
namespace rest_backends_test {

using kit::DeviceTwin;
using kit::GuardedImage;

// A noisy scene with motion, blinking cells, specks and slowly changing light. In the end the scene is new and calm,
// with hardly any speck. Otherwise the early stages would never be complete everywhere, and the last one would never
// run.
class Scene {
public:
    explicit Scene(const Shape& shape) : clean_(shape), random_(static_cast<std::uint32_t>(kit::seed())) {
        kit::fill(clean_.view(), kit::Fill::ramp);
    }

    void film(int frame, HostView<std::uint8_t> camera) {
        const auto& shape = clean_.shape();
        const bool calm = frame >= 150, specks = !calm || frame % 16 == 0;
        const int noise = calm ? 2 : 6;
        for (int y = 0; y < shape.height; ++y)
            for (int i = 0; i < shape.row_bytes(); ++i) {
                const int x = i / shape.channels;
                random_ = random_ * 1664525u + 1013904223u;
                int value = clean_.view().row(0, y)[i] ^ (calm ? 0x55 : 0);
                value += static_cast<int>(random_ >> 24) % (2 * noise + 1) - noise + frame / 40;
                if (!calm && (x + 3 * frame) % 97 < 20 && y % 64 < 24) value += 60;
                if (!calm && x / 16 % 5 == 3 && y / 16 % 3 == 1) value += frame / 9 % 2 * 90;
                if (specks && random_ >> 8 < (1u << 24) / 3000) value += 50;
                camera.row(0, y)[i] = static_cast<std::uint8_t>(std::clamp(value, 0, 255));
            }
    }

private:
    HostImage clean_;
    std::uint32_t random_;
};

// One stream on one backend: the camera's picture and R, both with a given layout, and the refinement of R.
template <MemorySpace space>
class Stream {
public:
    Stream(const Shape& shape, double seconds, const kit::Layout& layout, Executor& executor)
        : executor_(&executor),
          camera_(shape, layout),
          reference_(shape, layout),
          encoder_({}, shape, executor),
          changes_(shape),
          off_(static_cast<std::size_t>(BlockGrid(shape).count()) * sizeof(std::uint32_t), executor),
          sharpener_(shape, seconds, 20, executor),
          step_(shape, executor) {
        reference_.reset(0x40);
        if constexpr (space == MemorySpace::device) {
            camera_twin_.emplace(camera_);
            reference_twin_.emplace(reference_);
            reference_twin_->upload(executor.stream());
        }
    }

    // If `blocks` is given, changes are reported per block instead of one by one.
    void next(HostView<const std::uint8_t> frame, const RestSharpener::Moment& moment,
              const std::vector<Summary>* blocks) {
        copy(frame, camera_.view());
        if constexpr (space == MemorySpace::device) camera_twin_->upload(executor_->stream());
        const View<const std::uint8_t, space> camera = in_space(camera_, camera_twin_);
        const View<std::uint8_t, space> reference = in_space(reference_, reference_twin_);
        encoder_.encode(camera, reference, changes_.view(), moment.within);
        if (!blocks)
            sharpener_.take_step(changes_.view());
        else if constexpr (space == MemorySpace::host)
            sharpener_.take_step(*blocks);
        else
            take_blocks(*blocks);
        sharpener_.sharpen(camera, reference, moment, step_);
        step_.wait();
        if (!step_.empty()) sharpener_.took(step_, 40 + step_.count() * 4 / 5);
        if constexpr (space == MemorySpace::device) reference_twin_->download(executor_->stream());
        EXPECT_FALSE(reference_.broken_guard());
    }
    void begin_anew() { sharpener_.begin_anew(); }

    const SharperStep& step() const { return step_; }
    HostView<const std::uint8_t> reference() const { return reference_.view(); }

private:
    static View<std::uint8_t, space> in_space(GuardedImage& image, std::optional<DeviceTwin>& twin) {
        if constexpr (space == MemorySpace::host)
            return image.view();
        else
            return twin->view();
    }
    void take_blocks(const std::vector<Summary>& blocks) {
        std::vector<std::uint32_t> off;
        for (const auto& of : blocks) off.push_back(of.count);
        off_.put(off.data(), off.size() * sizeof(std::uint32_t));
        sharpener_.take_blocks(off_.template as<std::uint32_t>());
    }

    Executor* executor_;
    GuardedImage camera_, reference_;
    std::optional<DeviceTwin> camera_twin_, reference_twin_;
    Encoder encoder_;
    ChangesBuffer<space> changes_;
    BackendBuffer off_;
    RestSharpener sharpener_;
    SharperStep step_;
};

void expect_equal(const SharperStep& got, const SharperStep& want) {
    ASSERT_EQ(got.count(), want.count());
    if (want.empty()) return;
    EXPECT_EQ(got.threshold(), want.threshold());
    Summary got_errors{0, 3, 1u << 30}, want_errors{0, 3, 1u << 30};
    got.add_errors_to(got_errors);
    want.add_errors_to(want_errors);
    EXPECT_EQ(got_errors.max_error, want_errors.max_error);
    EXPECT_EQ(got_errors.squared_error, want_errors.squared_error);
    EXPECT_EQ(got.changes().summaries[0].count, want.count());
    for (std::uint32_t i = 0; i < want.count(); ++i) {
        ASSERT_EQ(got.changes().positions[i], want.changes().positions[i]) << "change " << i;
        ASSERT_EQ(got.changes().differences[i], want.changes().differences[i]) << "change " << i;
    }
}

// Returns how many bytes of each block differ from R by more than the threshold.
std::vector<Summary> off_in_blocks(HostView<const std::uint8_t> camera, HostView<const std::uint8_t> reference,
                                   int within) {
    const BlockGrid grid(camera.shape());
    std::vector<Summary> blocks(static_cast<std::size_t>(grid.count()));
    for (int y = 0; y < camera.shape().height; ++y)
        for (int i = 0; i < camera.shape().row_bytes(); ++i)
            if (std::abs(camera.row(0, y)[i] - reference.row(0, y)[i]) > within)
                ++blocks[static_cast<std::size_t>(grid.block_at(i / camera.shape().channels, y))].count;
    return blocks;
}

// Runs both backends and compares them. Returns the thresholds of all refinements.
template <MemorySpace space>
std::set<int> check(const Shape& shape, double seconds, const kit::Layout& layout, bool by_blocks, Executor& executor) {
    Scene scene(shape);
    HostImage camera(shape);
    Stream<MemorySpace::host> host(shape, seconds, {}, kit::executor(Backend::cpu));
    Stream<space> device(shape, seconds, layout, executor);
    std::mt19937 random(7);
    std::set<int> thresholds;
    const int frames = kit::brief() ? 30 : 240;
    for (int frame = 0; frame < frames && !testing::Test::HasFailure(); ++frame) {
        SCOPED_TRACE(fmt::format("frame {}", frame));
        scene.film(frame, camera.view());
        const HostView<const std::uint8_t> seen = camera.view();
        const double rooms[] = {std::numeric_limits<double>::infinity(), 1e6, 700, 150, 0};
        const RestSharpener::Moment moment{frame / 25.0, frame % 11 == 7 ? 31 : 20, rooms[std::min(random() % 9, 4ul)]};
        const auto blocks = off_in_blocks(seen, host.reference(), moment.within);
        if (frame == 100) host.begin_anew(), device.begin_anew();
        host.next(seen, moment, by_blocks ? &blocks : nullptr);
        device.next(seen, moment, by_blocks ? &blocks : nullptr);
        expect_equal(device.step(), host.step());
        EXPECT_EQ(kit::first_difference(device.reference(), host.reference()), std::nullopt);
        if (!host.step().empty()) thresholds.insert(host.step().threshold());
    }
    return thresholds;
}

using RestBackendsTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(RestBackendsTest);

TEST_P(RestBackendsTest, RefinesLikeTheCpuInAnyLayout) {
    auto& executor = kit::executor(GetParam());
    executor.in_its_space([&]<MemorySpace space>() {
        const auto check_on = [&](const Shape& shape, double seconds, bool by_blocks, const kit::Layout& layout = {}) {
            if (HasFailure()) return;
            SCOPED_TRACE(fmt::format("{}, {}, {} s, by {}, seed {}", to_string(shape), kit::to_string(layout), seconds,
                                     by_blocks ? "blocks" : "changes", kit::seed()));
            const auto thresholds = check<space>(shape, seconds, layout, by_blocks, executor);
            // In tiny pictures few bytes are refined, in any stage; with 2 s there is hardly a static cell before the
            // end.
            if (shape.height < 64 || seconds > 1) return;
            EXPECT_TRUE(thresholds.contains(10));
            if (kit::brief()) return;
            EXPECT_EQ(thresholds, (std::set{10, 5, 0})) << "each stage had its turn";
        };
        if (kit::brief()) {
            check_on({1, 17, 33, 3}, 0.1, true);
            return check_on({1, 64, 64, 1}, 0.1, false);
        }
        for (const auto& shape : {Shape{1, 1, 1, 3}, Shape{1, 17, 33, 3}, Shape{1, 64, 64, 1}, Shape{1, 150, 130, 3}})
            for (const double seconds : {0.1, 0.5, 2.0})
                for (const bool by_blocks : {false, true}) check_on(shape, seconds, by_blocks);
        check_on({1, 490, 650, 3}, 0.5, false);
        for (const auto& layout : kit::layouts()) check_on({1, 70, 131, 3}, 0.2, false, layout);
    });
}

}  // namespace rest_backends_test
}  // namespace framewire::delta
