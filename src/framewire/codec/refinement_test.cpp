#include "framewire/codec/refinement.hpp"
#include "framewire/codec/blocks.hpp"
#include "framewire/codec/bounded_packer.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/encoder_ref.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <random>
#include <set>
#include <utility>
#include <vector>

namespace framewire::codec {
namespace rest_backends_test {

using kit::DeviceMirror;
using kit::GuardedImage;

// A noisy scene with motion, blinking cells, specks and slowly changing light. At the end, the scene changes and
// becomes calm, with hardly any specks. Otherwise, the early stages would never be complete everywhere, and the last
// stage would never run.
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

// A stream on one backend: the camera's picture and R, both with a given layout, and the refinement of R.
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
          refiner_(shape, seconds, 20, executor),
          step_(shape, executor) {
        reference_.reset(0x40);
        if constexpr (space == MemorySpace::device) {
            camera_mirror_.emplace(camera_);
            reference_mirror_.emplace(reference_);
            reference_mirror_->upload(executor.stream());
        }
    }

    // If `blocks` is given, changes are reported per block instead of in detail.
    void next(HostView<const std::uint8_t> frame, const Refiner::Moment& moment, const std::vector<Summary>* blocks) {
        copy(frame, camera_.view());
        if constexpr (space == MemorySpace::device) camera_mirror_->upload(executor_->stream());
        const View<const std::uint8_t, space> camera = in_space(camera_, camera_mirror_);
        const View<std::uint8_t, space> reference = in_space(reference_, reference_mirror_);
        encoder_.encode(camera, reference, changes_.view(), moment.within);
        blocks ? take_blocks(*blocks) : take_changes();
        refiner_.refine(camera, reference, moment, step_);
        step_.wait();
        if (!step_.empty()) refiner_.took(step_, 40 + step_.count() * 4 / 5);
        if constexpr (space == MemorySpace::device) reference_mirror_->download(executor_->stream());
        EXPECT_FALSE(reference_.broken_guard());
    }
    void begin_again() { refiner_.begin_again(); }

    const RefinementDelta& step() const { return step_; }
    HostView<const std::uint8_t> reference() const { return reference_.view(); }

private:
    static View<std::uint8_t, space> in_space(GuardedImage& image, std::optional<DeviceMirror>& mirror) {
        if constexpr (space == MemorySpace::host)
            return image.view();
        else
            return mirror->view();
    }
    void take_changes() {
        const auto changes = changes_.view();
        if constexpr (space == MemorySpace::host)
            refiner_.take_cells(count_cells_reference(changes, camera_.view().shape()), changes.summaries[0].count);
        else
            refiner_.take_step(changes);
    }
    void take_blocks(const std::vector<Summary>& blocks) {
        if constexpr (space == MemorySpace::host) {
            refiner_.take_step(blocks);
        } else {
            std::vector<std::uint32_t> off;
            for (const auto& of : blocks) off.push_back(of.count);
            off_.put(off.data(), off.size() * sizeof(std::uint32_t));
            refiner_.take_blocks(off_.template as<std::uint32_t>());
        }
    }

    Executor* executor_;
    GuardedImage camera_, reference_;
    std::optional<DeviceMirror> camera_mirror_, reference_mirror_;
    Encoder encoder_;
    ChangesBuffer<space> changes_;
    BackendBuffer off_;
    Refiner refiner_;
    RefinementDelta step_;
};

void expect_equal(const RefinementDelta& got, const RefinementDelta& want) {
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
        const Refiner::Moment moment{frame / 25.0, frame % 11 == 7 ? 31 : 20, rooms[std::min(random() % 9, 4ul)]};
        const auto blocks = off_in_blocks(seen, host.reference(), moment.within);
        if (frame == 100) host.begin_again(), device.begin_again();
        host.next(seen, moment, by_blocks ? &blocks : nullptr);
        device.next(seen, moment, by_blocks ? &blocks : nullptr);
        expect_equal(device.step(), host.step());
        EXPECT_EQ(kit::first_difference(device.reference(), host.reference()), std::nullopt);
        if (!host.step().empty()) thresholds.insert(host.step().threshold());
    }
    return thresholds;
}

using RefinementBackendsTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(RefinementBackendsTest);

TEST_P(RefinementBackendsTest, MatchesTheCpuInEveryLayout) {
    auto& executor = kit::executor(GetParam());
    executor.in_its_space([&]<MemorySpace space>() {
        const auto check_on = [&](const Shape& shape, double seconds, bool by_blocks, const kit::Layout& layout = {}) {
            if (HasFailure()) return;
            SCOPED_TRACE(fmt::format("{}, {}, {} s, by {}, seed {}", to_string(shape), kit::to_string(layout), seconds,
                                     by_blocks ? "blocks" : "changes", kit::seed()));
            const auto thresholds = check<space>(shape, seconds, layout, by_blocks, executor);
            // In tiny pictures, few bytes are refined in any stage. With 2 s, there are hardly any static cells before
            // the end.
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

namespace rest_refiner_test {

constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr int threshold = 20;
constexpr double frame_seconds = 1.0 / 30;

// A stream with a noisy camera, R, and a viewer that receives all changes of R.
class Stream {
public:
    explicit Stream(const Shape& shape, double noise, double refresh = 1,
                    Executor& executor = kit::executor(Backend::cpu))
        : clean(shape),
          camera(shape),
          reference(shape),
          viewer(shape),
          changes(shape),
          step(shape, executor),
          refiner(shape, refresh, threshold, executor),
          packer_(shape),
          unpacker_(shape),
          noise_(100003) {
        std::mt19937 random(5);
        std::normal_distribution<double> normal(0, noise);
        for (auto& of : noise_) of = static_cast<int>(std::lround(normal(random)));
        kit::fill(clean.view(), kit::Fill::ramp);
        film();
        copy(std::as_const(camera).view(), reference.view());
        copy(std::as_const(camera).view(), viewer.view());
    }

    void film() {
        const auto bytes = clean.shape().bytes();
        for (std::int64_t i = 0; i < bytes; ++i)
            camera.view().data()[i] = static_cast<std::uint8_t>(
                std::clamp(clean.view().data()[i] + noise_[noise_at_++ % noise_.size()], 0, 255));
    }

    // Processes the next frame. `room` is the number of bytes that may be sent in addition to its delta frame.
    void next(int within = threshold, double room = infinite) {
        film();
        encode_reference(within, std::as_const(camera).view(), reference.view(), changes.view());
        apply(changes.view(), within);
        refiner.take_cells(count_cells_reference(changes.view(), clean.shape()), changes.view().summaries[0].count);
        seconds += frame_seconds;
        auto errors = changes.view().summaries[0];
        refiner.refine(std::as_const(camera).view(), reference.view(), {seconds, within, room, stream_bytes}, step);
        step.add_errors_to(errors);
        sent = 0;
        if (!step.empty()) {
            sent = apply(step.changes(), step.threshold());
            refiner.took(step, sent);
            total += sent;
        }
        EXPECT_EQ(kit::first_difference(std::as_const(viewer).view(), std::as_const(reference).view()), std::nullopt);
        check(within, errors);
    }
    void run(double for_seconds) {
        for (int i = 0; i < std::lround(for_seconds / frame_seconds); ++i) next();
    }

    // Returns the mean squared error of R compared with the scene without noise.
    double error() const {
        double sum = 0;
        const auto bytes = clean.shape().bytes();
        for (std::int64_t i = 0; i < bytes; ++i) {
            const double off = std::as_const(reference).view().data()[i] - std::as_const(clean).view().data()[i];
            sum += off * off;
        }
        return sum / static_cast<double>(bytes);
    }

    HostImage clean, camera, reference, viewer;
    HostChanges changes;
    RefinementDelta step;
    Refiner refiner;
    double seconds = 0;
    double stream_bytes = infinite;    // size of the stream without refinement
    std::int64_t sent = 0, total = 0;  // bytes of refinement in the last frame, and in total

private:
    std::int64_t apply(const ChangesView<MemorySpace::host>& of, int coded_within) {
        std::vector<std::uint8_t> packed;
        packer_.pack_changes(of, coded_within, packed);
        unpacker_.apply_changes(packed, viewer.view());
        return std::ssize(packed);
    }

    // Checks that every byte is within the frame's threshold and that the reported errors are correct.
    void check(int within, const Summary& errors) {
        int furthest = 0;
        std::uint64_t squares = 0;
        for (std::int64_t i = 0; i < clean.shape().bytes(); ++i) {
            const int off = std::as_const(camera).view().data()[i] - std::as_const(reference).view().data()[i];
            furthest = std::max(furthest, std::abs(off));
            squares += static_cast<std::uint64_t>(off * off);
        }
        EXPECT_LE(furthest, within);
        EXPECT_LE(static_cast<std::uint32_t>(furthest), errors.max_error);
        EXPECT_LE(errors.max_error, static_cast<std::uint32_t>(within));
        EXPECT_EQ(errors.squared_error, squares);
    }

    Packer packer_;
    Unpacker unpacker_;
    std::vector<int> noise_;  // used cyclically
    std::size_t noise_at_ = 0;
};

TEST(Refiner, RemovesNoiseFromAStaticScene) {
    for (const auto& shape : {Shape{1, 150, 130, 3}, Shape{1, 128, 200, 1}}) {
        Stream stream(shape, 4);
        stream.run(0.9);
        const double before = stream.error();
        EXPECT_EQ(stream.total, 0) << "nothing rests for a second yet";
        stream.run(40);
        EXPECT_LT(stream.error(), before / 16) << "12 dB";
        EXPECT_LT(stream.error(), 1.2);
    }
}

TEST(Refiner, ConvergesToTheRoundedMean) {
    const Shape shape{1, 64, 64, 1};
    Stream stream(shape, 0);
    // Every other frame is brighter by 5, so the mean lies in the middle.
    for (int i = 0; i < shape.bytes(); ++i) stream.reference.view().data()[i] = stream.viewer.view().data()[i] = 100;
    for (int frame = 0; frame < 600; ++frame) {
        std::fill_n(stream.clean.view().data(), shape.bytes(), static_cast<std::uint8_t>(110 + frame % 2 * 5));
        stream.next();
    }
    for (int i = 0; i < shape.bytes(); ++i) ASSERT_NEAR(stream.reference.view().data()[i], 112.5, 1.5);
    const auto total = stream.total;
    stream.run(10);
    EXPECT_EQ(stream.total, total) << "it is as sharp as can be";
}

TEST(Refiner, MotionRestartsTheRefinementOfACell) {
    const Shape shape{1, 64, 192, 3};
    Stream stream(shape, 0);
    const auto bytes = static_cast<std::size_t>(shape.bytes());
    // R has a ghost everywhere, and the upper half of one cell blinks.
    for (std::size_t i = 0; i < bytes; ++i)
        stream.reference.view().data()[i] = stream.viewer.view().data()[i] =
            static_cast<std::uint8_t>(stream.clean.view().data()[i] ^ 8);
    const int top = 16, left = 64 * 3, cell_bytes = 16 * 3;
    const auto ghost = [&](bool inside) {
        int off = 0;
        for (int y = 0; y < shape.height; ++y)
            for (int x = 0; x < shape.row_bytes(); ++x) {
                const bool in_cell = y >= top && y < top + 16 && x >= left && x < left + cell_bytes;
                if (in_cell == inside) off += stream.reference.view().row(0, y)[x] != stream.clean.view().row(0, y)[x];
            }
        return off;
    };
    for (int frame = 0; frame < 1200; ++frame) {
        for (int y = top; y < top + 8; ++y)
            for (int x = left; x < left + cell_bytes; ++x)
                stream.clean.view().row(0, y)[x] = static_cast<std::uint8_t>(frame / 10 % 2 * 255);
        stream.next();
    }
    EXPECT_EQ(ghost(false), 0);
    EXPECT_EQ(ghost(true), 8 * cell_bytes);
    stream.run(10);
    EXPECT_EQ(ghost(true), 0) << "it rests at last";
}

TEST(Refiner, StaysWithinTheThresholdOfEveryFrame) {
    Stream stream({1, 130, 140, 3}, 6, 0.2);
    std::mt19937 random(3);
    for (int frame = 0; frame < 300; ++frame) {
        if (frame % 40 == 0)  // some bytes change suddenly
            for (int i = 0; i < 3000; ++i)
                stream.clean.view().data()[random() % static_cast<unsigned>(stream.clean.shape().bytes())] ^= 0x35;
        if (frame % 7 == 0)  // light changes slowly
            for (std::int64_t i = 0; i < stream.clean.shape().bytes(); ++i)
                if (auto& byte = stream.clean.view().data()[i]; byte < 250) ++byte;
        const int within[] = {20, 20, 20, 33, 20, 64, 20};
        stream.next(within[frame % 7]);
    }
    EXPECT_GT(stream.total, 0);
}

TEST(Refiner, StaysWithinItsBitrate) {
    Stream stream({1, 192, 256, 3}, 4);
    std::vector<std::int64_t> sent;
    for (int frame = 0; frame < 450; ++frame) {
        stream.next();
        sent.push_back(stream.sent);
    }
    const double each_second = 192 * 256 / 16.0;
    for (std::size_t at = 0; at + 30 <= sent.size(); ++at) {
        std::int64_t sum = 0;
        for (std::size_t i = at; i < at + 30; ++i) sum += sent[i];
        EXPECT_LT(static_cast<double>(sum), 3 * each_second) << at;
    }
    EXPECT_LT(static_cast<double>(stream.total), 17 * each_second);
    EXPECT_GT(static_cast<double>(stream.total), 5 * each_second);
}

// Refinement may take a tenth of the stream's bytes or a hundredth of a bit per pixel and second, whichever is more.
TEST(Refiner, StaysWithinItsShareOfTheStream) {
    constexpr int frames = 900;
    for (const double each_frame : {0.0, 60.0, 400.0}) {
        SCOPED_TRACE(each_frame);
        Stream stream({1, 192, 256, 3}, 4);
        stream.stream_bytes = 0;
        for (int frame = 0; frame < frames; ++frame) {
            stream.stream_bytes += each_frame;
            stream.next();
        }
        const double least = 0.01 / 8 * 192 * 256 * frames * frame_seconds;
        const double allowed = std::max(0.1 * stream.stream_bytes, least);
        constexpr double one_step = 1500;  // allowance, because a refinement may be larger than expected
        EXPECT_LT(static_cast<double>(stream.total), allowed + one_step);
        EXPECT_GT(static_cast<double>(stream.total), allowed / 4);
    }
}

// The light in fully refined cells becomes brighter by less than the threshold.
TEST(Refiner, RefinedCellsFollowSlowChanges) {
    for (const int brighter : {8, 15}) {
        Stream stream({1, 128, 128, 3}, 1, 0.2);
        stream.run(30);  // refinement takes this long because its bitrate is limited
        const auto sharp = stream.total;
        stream.run(10);
        EXPECT_LT(stream.total - sharp, sharp / 4) << "noise brings little when it is looked at again";
        for (std::int64_t at = 0; at < stream.clean.shape().bytes(); ++at)
            stream.clean.view().data()[at] =
                static_cast<std::uint8_t>(std::min(255 - 8, stream.clean.view().data()[at] + brighter));
        stream.run(60);
        EXPECT_LT(stream.error(), 2);
    }
}

TEST(Refiner, SendsNothingWithoutBudget) {
    Stream stream({1, 128, 128, 3}, 4);
    for (int frame = 0; frame < 200; ++frame) stream.next(threshold, frame % 2 ? 0 : 60);
    EXPECT_EQ(stream.total, 0);
    for (int frame = 0; frame < 400; ++frame) {
        stream.next(threshold, 3000);
        EXPECT_LT(stream.sent, 4500);
    }
    EXPECT_GT(stream.total, 0);
}

TEST(Refiner, RestartsOnRequest) {
    Stream stream({1, 64, 64, 3}, 4);
    for (int frame = 0; frame < 200; ++frame) {
        stream.next();
        if (frame % 25 == 24) stream.refiner.begin_again();
    }
    EXPECT_EQ(stream.total, 0);
}

// Times may leap far ahead, go backwards, or be no numbers.
TEST(Refiner, ToleratesImplausibleTimestamps) {
    Stream stream({1, 64, 64, 3}, 4);
    const double infinity = infinite, none = std::numeric_limits<double>::quiet_NaN();
    for (const double leap : {-100.0, 1e9, -infinity, none, 5.0, infinity, none}) {
        stream.seconds = leap;
        for (int frame = 0; frame < 5; ++frame) stream.next();
    }
    stream.seconds = 7;
    stream.run(10);
    EXPECT_GT(stream.total, 0);
}

TEST(Refiner, RefinesTheReferenceOfABoundedPacker) {
    const Shape shape{1, 128, 128, 1};
    Stream stream(shape, 3);
    BoundedPacker packer(shape, 1);
    std::vector<std::uint8_t> packed;
    packer.pack_first(std::as_const(stream.camera).view(), stream.reference.view(), threshold, packed);
    const double before = stream.error();
    for (int frame = 0; frame < 300; ++frame) {
        stream.film();
        packed.clear();
        auto errors = packer.pack_step(std::as_const(stream.camera).view(), stream.reference.view(), threshold, packed);
        stream.refiner.take_step(packer.blocks());
        stream.refiner.refine(std::as_const(stream.camera).view(), stream.reference.view(),
                              {frame * 0.1, threshold, infinite}, stream.step);
        stream.step.add_errors_to(errors);
        EXPECT_LE(errors.max_error, static_cast<std::uint32_t>(threshold));
        EXPECT_EQ(kit::first_difference(std::as_const(stream.camera).view(), std::as_const(stream.reference).view(),
                                        threshold),
                  std::nullopt);
        if (!stream.step.empty()) stream.refiner.took(stream.step, stream.step.count());
    }
    EXPECT_LT(stream.error(), before / 8);
}

TEST(Refiner, RunsWithoutAllocating) {
    Executor executor(BackendChoice::cpu, 1);  // one thread, because starting threads allocates
    Stream stream({1, 128, 128, 3}, 4, 1, executor);
    stream.run(3);
    const auto changed = count_cells_reference(stream.changes.view(), stream.clean.shape());
    const auto before = kit::allocations();
    for (int frame = 0; frame < 60; ++frame) {
        stream.refiner.take_cells(changed, stream.changes.view().summaries[0].count);
        stream.refiner.refine(std::as_const(stream.camera).view(), stream.reference.view(),
                              {stream.seconds += frame_seconds, threshold, infinite}, stream.step);
        if (!stream.step.empty()) stream.refiner.took(stream.step, 100);
    }
    EXPECT_EQ(kit::allocations(), before);
}

TEST(Refiner, RejectsInvalidArguments) {
    const Shape shape{1, 64, 64, 3};
    auto& executor = kit::executor(Backend::cpu);
    for (const double seconds : {0.0, 0.05, -1.0, 3601.0, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_THROW(Refiner(shape, seconds, 20, executor), Error) << seconds;
    EXPECT_THROW(Refiner(shape, 1, 255, executor), Error);
    EXPECT_THROW(Refiner({2, 64, 64, 3}, 1, 20, executor), Error);
    Refiner refiner(shape, 1, 20, executor);
    EXPECT_THROW(refiner.take_cells(std::vector<std::uint16_t>(15), 0), Error) << "the frame has 16 cells";
}

}  // namespace rest_refiner_test
}  // namespace framewire::codec
