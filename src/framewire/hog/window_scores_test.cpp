#include "framewire/hog/window_scores.hpp"
#include "framewire/core/error.hpp"
#include "framewire/hog/hog_ref.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/gpus.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <vector>

namespace framewire {
namespace {

using WindowScoresTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(WindowScoresTest);

WindowModel random_model(const HogParameters& hog, int width_px, int height_px) {
    WindowModel model{.hog = hog, .width_px = width_px, .height_px = height_px, .weights = {}, .bias = -0.25f};
    std::mt19937_64 random(kit::seed());
    std::normal_distribution<float> weight(0, 0.1f);
    model.weights.resize(static_cast<std::size_t>(window_shape(model).count()));
    for (auto& value : model.weights) value = weight(random);
    return model;
}

// Returns descriptors with values from 0 to 1, as after an l2hys norm.
std::vector<float> random_descriptors(const HogShape& shape) {
    std::mt19937_64 random(kit::seed() + 1);
    std::uniform_real_distribution<float> value(0, 1);
    std::vector<float> descriptors(static_cast<std::size_t>(shape.count()));
    for (auto& one : descriptors) one = value(random);
    return descriptors;
}

// Returns the scores of a backend, followed by NaNs that must not be overwritten.
std::vector<float> scores_of(Executor& executor, const WindowModel& model, const std::vector<float>& descriptors,
                             const HogShape& shape) {
    constexpr std::size_t guards = 32;
    const WindowScores scores(model, executor);
    const auto count = static_cast<std::size_t>(scores.grid(shape).count());
    std::vector<float> out(count + guards, std::numeric_limits<float>::quiet_NaN());
    if (executor.backend() == Backend::cpu) {
        // The contents of the margin must not affect the scores.
        auto memory = descriptors;
        memory.resize(memory.size() + window_scores_margin_bytes / sizeof(float), 1e6f);
        scores.run(HogView<const float, MemorySpace::host>(memory.data(), shape), out.data());
    } else if constexpr (cuda::compiled) {
        const auto& stream = executor.stream();
        const cuda::DeviceBuffer device_in(shape.bytes()), device_out(out.size() * sizeof(float));
        cuda::upload(descriptors.data(), device_in.data(), shape.bytes(), stream);
        cuda::fill(device_out.data(), 0xFF, device_out.bytes(), stream);
        scores.run(HogView<const float, MemorySpace::device>(device_in.as<float>(), shape), device_out.as<float>());
        cuda::download(device_out.data(), out.data(), device_out.bytes(), stream);
        stream.synchronize();
    }
    for (std::size_t i = count; i < out.size(); ++i) EXPECT_TRUE(std::isnan(out[i])) << "wrote behind the end";
    out.resize(count);
    return out;
}

void check_scores(Executor& executor, const WindowModel& model, int rows, int columns) {
    const HogShape shape{1, rows, columns, window_shape(model).values};
    SCOPED_TRACE(fmt::format("{}: a window of {}x{} of cells of {}, {} bins, norm {}, in {} x {}, seed {}",
                             to_string(executor.backend()), model.width_px, model.height_px, model.hog.cell,
                             model.hog.bins, static_cast<int>(model.hog.norm), rows, columns, kit::seed()));
    const auto descriptors = random_descriptors(shape);
    const auto want =
        window_scores_reference(model, HogView<const float, MemorySpace::host>(descriptors.data(), shape));
    const auto got = scores_of(executor, model, descriptors, shape);
    ASSERT_EQ(got.size(), want.size());
    double most = 0;  // largest possible score, because no value is above 1
    for (const float weight : model.weights) most += std::abs(static_cast<double>(weight));
    for (std::size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-6 * most) << "window " << i;
    const auto again = scores_of(executor, model, descriptors, shape);
    EXPECT_EQ(std::memcmp(got.data(), again.data(), got.size() * sizeof(float)), 0) << "a second run differs";
}

TEST_P(WindowScoresTest, MatchTheReferenceForEveryGrid) {
    const auto model = random_model({.norm = HogNorm::l2hys}, 32, 48);
    kit::for_each_instruction_set(GetParam(), [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        const auto window = window_shape(model);
        for (int rows = 0; rows < 9; ++rows)
            for (int columns = 0; columns < 19; ++columns) {
                if (HasFatalFailure()) return;
                check_scores(kit::executor(GetParam()), model, window.rows + rows, window.columns + columns);
            }
    });
}

TEST_P(WindowScoresTest, MatchTheReferenceForEveryDescriptor) {
    kit::for_each_instruction_set(GetParam(), [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const int bins : {2, 9, 36})
            for (const auto norm : {HogNorm::none, HogNorm::l2})
                for (const int block : {1, 2, 3}) {
                    if (HasFatalFailure()) return;
                    const HogParameters hog{.cell = 4, .bins = bins, .norm = norm, .block = block};
                    check_scores(kit::executor(GetParam()), random_model(hog, 12, 20), 17, 23);
                    check_scores(kit::executor(GetParam()), random_model(hog, 12, 12), 11, 70);
                }
        check_scores(kit::executor(GetParam()), random_model({.norm = HogNorm::l2hys}, 64, 128), 60, 101);
    });
}

// The descriptors under some windows do not fit a GPU's shared memory and are processed in parts.
TEST_P(WindowScoresTest, MatchTheReferenceForLargeWindows) {
    const HogParameters hog{.cell = 4, .norm = HogNorm::l2hys};
    check_scores(kit::executor(GetParam()), random_model(hog, 72, 160), 58, 70);
    if (GetParam() == Backend::cpu) return;
    auto limits = cuda::limits();
    limits.block_shared_bytes = 48 * 1024;
    const kit::EmulatedGpu small{std::optional(limits)};
    check_scores(kit::executor(Backend::cuda), random_model(hog, 72, 160), 58, 70);
    check_scores(kit::executor(Backend::cuda), random_model({.norm = HogNorm::l2hys}, 64, 128), 31, 45);
}

// With a single nonzero weight, the score of a window is the value at that place.
TEST_P(WindowScoresTest, EachWeightAppliesToItsDescriptorValue) {
    auto model = random_model({.cell = 4, .bins = 3}, 12, 8);
    const HogShape window = window_shape(model), shape{1, 4, 11, 3};
    ASSERT_EQ(window, (HogShape{1, 2, 3, 3}));
    const auto descriptors = random_descriptors(shape);
    model.bias = 0.5f;
    for (int at = 0; at < window.count(); ++at) {
        std::fill(model.weights.begin(), model.weights.end(), 0.0f);
        model.weights[static_cast<std::size_t>(at)] = 1;
        const auto got = scores_of(kit::executor(GetParam()), model, descriptors, shape);
        const int row = at / 9, of_row = at % 9;
        for (int y = 0; y < 3; ++y)
            for (int x = 0; x < 9; ++x)
                ASSERT_EQ(got[static_cast<std::size_t>(9 * y + x)],
                          descriptors[static_cast<std::size_t>((y + row) * 33 + x * 3 + of_row)] + 0.5f)
                    << "weight " << at;
    }
}

TEST(WindowScores, DoNotDependOnTheNumberOfThreads) {
    const auto model = random_model({.norm = HogNorm::l2hys}, 64, 128);
    const HogShape shape{1, 41, 37, 36};
    auto descriptors = random_descriptors(shape);
    descriptors.resize(descriptors.size() + window_scores_margin_bytes / sizeof(float), 0);
    std::vector<std::vector<float>> of_threads;
    for (const int threads : {1, 2, 5}) {
        Executor executor(BackendChoice::cpu, threads);
        const WindowScores scores(model, executor);
        of_threads.emplace_back(static_cast<std::size_t>(scores.grid(shape).count()));
        scores.run(HogView<const float, MemorySpace::host>(descriptors.data(), shape), of_threads.back().data());
    }
    EXPECT_EQ(of_threads[0], of_threads[1]);
    EXPECT_EQ(of_threads[0], of_threads[2]);
}

TEST(WindowScores, ComputeTheWindowGrid) {
    const WindowScores scores(random_model({.norm = HogNorm::l2hys}, 64, 128), kit::executor(Backend::cpu));
    const auto count = [&](int rows, int columns) { return scores.grid({1, rows, columns, 36}).count(); };
    EXPECT_EQ(count(15, 7), 1);
    EXPECT_EQ(count(134, 239), 120 * 233);
    EXPECT_EQ(count(14, 239), 0);
    EXPECT_EQ(count(134, 6), 0);
    EXPECT_THROW(scores.grid({1, 15, 7, 9}), Error);
    EXPECT_THROW(scores.grid({2, 15, 7, 36}), Error);
}

TEST(WindowScores, RejectInvalidModels) {
    auto& executor = kit::executor(Backend::cpu);
    auto model = random_model({.norm = HogNorm::l2hys}, 64, 128);
    model.weights.pop_back();
    EXPECT_THROW(WindowScores(model, executor), Error);
    model.weights.push_back(std::numeric_limits<float>::infinity());
    EXPECT_THROW(WindowScores(model, executor), Error);
}

}  // namespace
}  // namespace framewire
