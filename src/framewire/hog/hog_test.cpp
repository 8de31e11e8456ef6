#include "framewire/hog/hog.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/hog/hog_ref.hpp"
#include "framewire/hog/stages.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using HogTest = kit::BackendTest;
FRAMEWIRE_ON_EVERY_BACKEND(HogTest);

// If each backend is this close to double precision, their results differ by at most twice as much.
constexpr double tolerance = 5e-5;  // relative to the largest value

template <class Got, class Want>
void expect_near(const std::vector<Got>& got, const std::vector<Want>& want, const char* what) {
    ASSERT_EQ(got.size(), want.size()) << what;
    double largest = 0;
    for (const auto value : want) largest = std::max(largest, std::abs(static_cast<double>(value)));
    for (std::size_t i = 0; i < got.size(); ++i)
        ASSERT_LE(std::abs(static_cast<double>(got[i]) - static_cast<double>(want[i])), tolerance * largest)
            << what << " " << i << ": got " << +got[i] << ", want " << want[i];
}

// A plan and its images in the backend's memory. Values that a run does not write stay NaN.
class HogRun {
    static constexpr std::size_t guards = 64;

public:
    HogRun(Backend backend, const HogParameters& parameters, kit::GuardedImage& frames)
        : executor_(kit::executor(backend)),
          frames_(frames),
          hog_(parameters, frames.view().shape(), executor_),
          memory_(static_cast<std::size_t>(hog_.output_shape().count()) + guards) {
        if (backend == Backend::cpu) return;
        mirror_.emplace(frames);
        device_memory_ = cuda::DeviceBuffer(memory_.size() * sizeof(float));
    }

    const HogShape& shape() const { return hog_.output_shape(); }

    std::vector<float> operator()() {
        std::fill(memory_.begin(), memory_.end(), std::numeric_limits<float>::quiet_NaN());
        if (executor_.backend() == Backend::cpu) {
            hog_.run(frames_.view(), HogView<float, MemorySpace::host>(memory_.data(), shape()));
        } else if constexpr (cuda::compiled) {
            const auto& stream = executor_.stream();
            mirror_->upload(stream);
            cuda::fill(device_memory_.data(), 0xFF, device_memory_.bytes(), stream);
            hog_.run(mirror_->view(), HogView<float, MemorySpace::device>(device_memory_.as<float>(), shape()));
            cuda::download(device_memory_.data(), memory_.data(), device_memory_.bytes(), stream);
            stream.synchronize();
        }
        const auto end = memory_.begin() + static_cast<std::ptrdiff_t>(shape().count());
        for (auto guard = end; guard != memory_.end(); ++guard)
            EXPECT_TRUE(std::isnan(*guard)) << "wrote behind the end";
        return {memory_.begin(), end};
    }

private:
    Executor& executor_;
    kit::GuardedImage& frames_;
    Hog hog_;
    std::vector<float> memory_;  // the descriptors, followed by NaNs
    std::optional<kit::DeviceMirror> mirror_;
    cuda::DeviceBuffer device_memory_;
};

void check_hog(Backend backend, const HogParameters& parameters, const Shape& shape, const kit::Layout& layout,
               kit::Fill fill_with) {
    SCOPED_TRACE(fmt::format("{} on {}, {}, {}, fill {}, seed {}", hog_fields().text(parameters), to_string(backend),
                             to_string(shape), kit::to_string(layout), kit::to_string(fill_with), kit::seed()));
    kit::GuardedImage frames(shape, layout);
    kit::fill(frames.view(), fill_with, 1);
    HogRun run(backend, parameters, frames);
    std::vector<double> want;
    for (int frame = 0; frame < shape.frames; ++frame) {
        const auto one = hog_reference(parameters, frames.view().frames(frame, 1)).descriptors;
        want.insert(want.end(), one.begin(), one.end());
    }
    const auto first = run();
    expect_near(first, want, "descriptor");
    const auto second = run();
    EXPECT_EQ(std::memcmp(first.data(), second.data(), run.shape().bytes()), 0) << "a second run differs";
}

TEST_P(HogTest, MatchesTheReferenceForEveryShapeLayoutAndFill) {
    kit::for_each_instruction_set(GetParam(), [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const int channels : {3, 1})
            for (const auto& shape : kit::small_shapes(channels, 2))
                for (const auto& layout : kit::layouts())
                    for (const auto fill_with : kit::fills()) {
                        if (HasFailure()) return;  // one failure is enough
                        if (std::min(shape.height, shape.width) < 8) continue;
                        check_hog(GetParam(), {}, shape, layout, fill_with);
                        check_hog(GetParam(), {.gradient = HogGradient::central}, shape, layout, fill_with);
                        if (std::min(shape.height, shape.width) < 16) continue;
                        check_hog(GetParam(), {.gradient = HogGradient::central, .norm = HogNorm::l2hys}, shape, layout,
                                  fill_with);
                    }
    });
}

TEST_P(HogTest, MatchesTheReferenceForEveryParameter) {
    kit::for_each_instruction_set(GetParam(), [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const int cell : {4, 5, 8, 16, 31, 37, 64})
            for (const int bins : {2, 9, 18, 36})
                for (const bool signed_gradients : {false, true}) {
                    if (HasFailure()) return;
                    check_hog(GetParam(), {.cell = cell, .bins = bins, .signed_gradients = signed_gradients},
                              {1, 131, 201, 3}, {}, kit::Fill::noise);
                }
        // Histograms with few bins and with cells of multiples of 8 are computed by a different method.
        for (const int cell : {8, 24, 64})
            for (int bins = 3; bins < 9; ++bins)
                for (const bool signed_gradients : {false, true}) {
                    if (HasFailure()) return;
                    check_hog(GetParam(), {.cell = cell, .bins = bins, .signed_gradients = signed_gradients},
                              {1, 131, 201, 3}, {}, kit::Fill::noise);
                }
        for (const auto norm : {HogNorm::l2, HogNorm::l2hys})
            for (const int block : {1, 2, 3, 8})
                for (const auto fill_with : {kit::Fill::noise, kit::Fill::zeros, kit::Fill::ramp})
                    for (const int bins : {2, 5, 9, 12, 36}) {
                        if (HasFailure()) return;
                        check_hog(GetParam(), {.bins = bins, .norm = norm, .block = block}, {2, 70, 67, 3}, {},
                                  fill_with);
                    }
    });
}

// Tests the smallest gradients, for which rounding matters most.
TEST_P(HogTest, MatchesTheReferenceForFaintImages) {
    kit::for_each_instruction_set(GetParam(), [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        kit::GuardedImage image({1, 131, 201, 1}, {});
        kit::fill(image.view(), kit::Fill::noise);
        for (int y = 0; y < 131; ++y)
            for (int x = 0; x < 201; ++x) {
                auto& value = image.view().row(0, y)[x];
                value = static_cast<std::uint8_t>(77 + value % 2);
            }
        for (const int cell : {8, 16, 64})
            for (const int bins : {3, 9})
                for (const bool signed_gradients : {false, true}) {
                    SCOPED_TRACE(fmt::format("cell {}, {} bins, signed {}", cell, bins, signed_gradients));
                    const HogParameters parameters{.cell = cell, .bins = bins, .signed_gradients = signed_gradients};
                    HogRun run(GetParam(), parameters, image);
                    expect_near(run(), hog_reference(parameters, image.view()).descriptors, "descriptor");
                }
    });
}

TEST_P(HogTest, MatchesTheReferenceWithInterpolatedVotes) {
    kit::for_each_instruction_set(GetParam(), [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        HogParameters parameters{.gradient = HogGradient::central};
        for (const int cell : {4, 5, 8, 31, 64})
            for (const int bins : {2, 9, 36})
                for (const bool signed_gradients : {false, true})
                    for (const auto norm : {HogNorm::none, HogNorm::l2}) {
                        if (HasFailure()) return;
                        parameters.cell = cell;
                        parameters.bins = bins;
                        parameters.signed_gradients = signed_gradients;
                        parameters.norm = norm;
                        check_hog(GetParam(), parameters, {1, 131, 201, 3}, {}, kit::Fill::noise);
                    }
        for (const int block : {1, 2, 3, 8})
            for (const auto fill_with : {kit::Fill::noise, kit::Fill::zeros, kit::Fill::ramp})
                for (const int bins : {9, 36}) {
                    if (HasFailure()) return;
                    check_hog(GetParam(),
                              {.gradient = HogGradient::central, .bins = bins, .norm = HogNorm::l2hys, .block = block},
                              {2, 70, 67, 3}, {}, fill_with);
                }
    });
}

// Returns all combinations of votes, gamma, colour and norm that go together.
std::vector<HogParameters> spread_descriptors() {
    std::vector<HogParameters> all;
    for (const auto votes : {HogVotes::block, HogVotes::cells, HogVotes::opencv})
        for (const auto gamma : {HogGamma::report, HogGamma::none, HogGamma::sqrt})
            for (const auto colour : {HogColour::gray, HogColour::largest})
                for (const auto norm : {HogNorm::none, HogNorm::l2, HogNorm::l2hys, HogNorm::opencv})
                    if (colour == HogColour::gray || gamma != HogGamma::report)
                        all.push_back({.gradient = HogGradient::central,
                                       .votes = votes,
                                       .gamma = gamma,
                                       .colour = colour,
                                       .norm = norm});
    return all;
}

TEST_P(HogTest, MatchesTheReferenceForEveryVoteGammaAndColour) {
    kit::for_each_instruction_set(GetParam(), [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const auto& parameters : spread_descriptors())
            for (const auto& shape : {Shape{1, 40, 67, 3}, Shape{2, 33, 130, 3}, Shape{1, 35, 64, 1}})
                for (const auto fill_with : kit::fills()) {
                    if (HasFailure()) return;
                    check_hog(GetParam(), parameters, shape, kit::layouts().back(), fill_with);
                }
        for (const auto gamma : {HogGamma::none, HogGamma::sqrt})
            for (const auto norm : {HogNorm::none, HogNorm::l2hys, HogNorm::opencv}) {
                if (HasFailure()) return;
                check_hog(GetParam(), {.gamma = gamma, .norm = norm}, {1, 40, 67, 3}, {}, kit::Fill::noise);
                check_hog(GetParam(),
                          {.gradient = HogGradient::central,
                           .votes = HogVotes::cells,
                           .gamma = gamma,
                           .colour = HogColour::largest,
                           .cell = 5,
                           .bins = 12,
                           .signed_gradients = true,
                           .norm = norm,
                           .block = 3},
                          {1, 61, 79, 3}, {}, kit::Fill::noise);
            }
    });
}

// A frame and its planes, as the pyramid delivers them, have the same descriptors to the last bit.
TEST_P(HogTest, PlanesGiveTheDescriptorsOfTheirFrame) {
    auto& executor = kit::executor(GetParam());
    const Shape shape{2, 37, 83, 3};
    kit::GuardedImage frames(shape, kit::layouts().back());
    kit::fill(frames.view(), kit::Fill::noise, 2);
    kit::GuardedImage planes({6, 37, 83, 1}, {});
    for (int plane = 0; plane < 6; ++plane)
        for (int y = 0; y < 37; ++y)
            for (int x = 0; x < 83; ++x)
                planes.view().row(plane, y)[x] = frames.view().row(plane / 3, y)[3 * x + plane % 3];
    for (const auto preset : {HogPreset::people, HogPreset::opencv}) {
        Hog hog(hog_preset(preset), shape, executor);
        std::vector<std::vector<float>> of(2, std::vector<float>(static_cast<std::size_t>(hog.output_shape().count())));
        for (int i = 0; i < 2; ++i) {
            auto& image = i == 0 ? frames : planes;
            auto& out = of[static_cast<std::size_t>(i)];
            if (GetParam() == Backend::cpu) {
                hog.run(image.view(), HogView<float, MemorySpace::host>(out.data(), hog.output_shape()));
            } else if constexpr (cuda::compiled) {
                kit::DeviceMirror mirror(image);
                mirror.upload(executor.stream());
                cuda::DeviceBuffer memory(hog.output_shape().bytes());
                hog.run(mirror.view(), HogView<float, MemorySpace::device>(memory.as<float>(), hog.output_shape()));
                cuda::download(memory.data(), out.data(), memory.bytes(), executor.stream());
                executor.stream().synchronize();
            }
        }
        EXPECT_EQ(of[0], of[1]) << name_of(hog_preset_names, preset);
    }
}

// The strongest channel votes: here it is red on the left, green in the middle and blue on the right, although gray
// hardly changes.
TEST_P(HogTest, TheChannelWithTheLongestGradientVotes) {
    kit::GuardedImage image({1, 8, 24, 3}, {});
    kit::fill(image.view(), kit::Fill::zeros);
    for (int y = 0; y < 8; ++y)
        for (int x = 0; x < 24; ++x) image.view().row(0, y)[3 * x + 2 - x / 8] = y < 4 ? 0 : 16;
    HogRun run(GetParam(),
               {.gradient = HogGradient::central, .gamma = HogGamma::none, .colour = HogColour::largest, .bins = 2},
               image);
    const auto got = run();
    for (const auto value : got) EXPECT_GT(value, 100);
}

TEST_P(HogTest, MatchesTheReferenceForLargeImages) {
    check_hog(GetParam(), {}, kit::hd_shape(3, 2), {}, kit::Fill::noise);
    check_hog(GetParam(), {.cell = 32, .norm = HogNorm::l2hys}, kit::hd_shape(1, 2), {}, kit::Fill::ramp);
    check_hog(GetParam(), {.gradient = HogGradient::central, .norm = HogNorm::l2hys}, kit::hd_shape(3, 2), {},
              kit::Fill::noise);
    for (const auto preset : {HogPreset::people, HogPreset::opencv})
        check_hog(GetParam(), hog_preset(preset), kit::hd_shape(3, 2), {}, kit::Fill::noise);
}

// Returns the descriptors of one frame with the gray values `value(y, x)`.
template <class Value>
std::vector<float> descriptors_of(Backend backend, const HogParameters& parameters, int height, int width,
                                  Value value) {
    kit::GuardedImage image({1, height, width, 1}, {});
    for (int y = 0; y < height; ++y)
        for (int x = 0; x < width; ++x) image.view().row(0, y)[x] = static_cast<std::uint8_t>(value(y, x));
    HogRun run(backend, parameters, image);
    return run();
}

// Four gray values share one bin of the gamma's histogram, so the gamma leaves them unchanged. The column gradients of
// the ramp 0 1 2 3 are 4 8 8 4, because the border is replicated; their direction is between the first and the last
// bin.
TEST_P(HogTest, HorizontalRampVotesForTheFirstAndLastBin) {
    const auto got = descriptors_of(GetParam(), {.cell = 4, .bins = 9}, 4, 4, [](int, int x) { return x; });
    expect_near(got, std::vector<double>{48, 0, 0, 0, 0, 0, 0, 0, 48}, "bin");
}

TEST_P(HogTest, VerticalRampVotesForTheMiddleBin) {
    const auto got = descriptors_of(GetParam(), {.cell = 4, .bins = 9}, 4, 4, [](int y, int) { return y; });
    expect_near(got, std::vector<double>{0, 0, 0, 0, 96, 0, 0, 0, 0}, "bin");
}

// Without signs, opposite gradients have the same direction. With signs they have two: 0 and 180 degrees, between bins
// 0 and 3, and between bins 1 and 2.
TEST_P(HogTest, SignedBinsSeparateOppositeGradients) {
    const auto down = [](int, int x) { return 3 - x; };
    expect_near(descriptors_of(GetParam(), {.cell = 4, .bins = 4}, 4, 4, down), std::vector<double>{48, 0, 0, 48},
                "unsigned");
    expect_near(descriptors_of(GetParam(), {.cell = 4, .bins = 4, .signed_gradients = true}, 4, 4, down),
                std::vector<double>{0, 48, 48, 0}, "signed");
}

// The central gradients of the same ramp are 1 2 2 1, between the first and the last bin. The centre of a single cell
// of 4 pixels, and of a block of that cell, is between the second and the third pixel: both of these count 7/8, the
// outer ones 5/8, in rows as well as in columns.
TEST_P(HogTest, InterpolatedVotesAreWeightedByDistance) {
    const double votes = (5 + 14 + 14 + 5) / 8.0 * (5 + 7 + 7 + 5) / 8.0 / 2;
    expect_near(descriptors_of(GetParam(), {.gradient = HogGradient::central, .cell = 4, .bins = 2}, 4, 4,
                               [](int, int x) { return x; }),
                std::vector<double>{votes, votes}, "bin");
}

// Columns 1/8 of a cell away on either side of the edge between the first two cells have gradients. Each gives 5/8 of
// its votes to its own cell and 3/8 to the other. If the two cells form a block, both get the same.
TEST_P(HogTest, VotesAreInterpolatedBetweenCells) {
    const auto edge = [](int, int x) { return x < 4 ? 0 : 200; };
    const double votes = 200 * (5 + 7 + 7 + 5) / 8.0 / 2;
    expect_near(descriptors_of(GetParam(), {.gradient = HogGradient::central, .cell = 4, .bins = 2}, 4, 8, edge),
                std::vector<double>{votes, votes, votes, votes}, "bin");
    // The edge does not reach the third cell.
    expect_near(descriptors_of(GetParam(), {.gradient = HogGradient::central, .cell = 4, .bins = 2}, 4, 12, edge),
                std::vector<double>{votes, votes, votes, votes, 0, 0}, "bin");
}

// Only black and the brightest value occur, so the gamma changes nothing. The columns on both sides of an edge have
// gradients of 4 x 200; here one of them is in each cell.
TEST_P(HogTest, EdgeBetweenCellsVotesInBoth) {
    const auto got =
        descriptors_of(GetParam(), {.cell = 4, .bins = 2}, 5, 9, [](int, int x) { return x < 4 ? 0 : 200; });
    expect_near(got, std::vector<double>{1600, 1600, 1600, 1600}, "bin");
}

// Empty bins must be exactly zero, so that a search for them succeeds regardless of the other bins.
TEST_P(HogTest, BinsWithoutVotesAreZero) {
    kit::for_each_instruction_set(GetParam(), [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const int cell : {4, 8, 16}) {
            const auto got = descriptors_of(GetParam(), {.cell = cell, .bins = 9}, 32, 48,
                                            [](int, int x) { return x * x * 7 % 251; });
            for (std::size_t i = 0; i < got.size(); ++i)
                ASSERT_EQ(got[i] != 0, i % 9 == 0 || i % 9 == 8) << "cells of " << cell << ", value " << i;
        }
    });
}

TEST_P(HogTest, FlatImagesHaveZeroDescriptors) {
    for (const auto norm : {HogNorm::none, HogNorm::l2, HogNorm::l2hys})
        for (const int level : {0, 77, 255})
            for (const auto value : descriptors_of(GetParam(), {.norm = norm}, 24, 24, [&](int, int) { return level; }))
                ASSERT_EQ(value, 0.0f) << level;
}

TEST(Hog, IntermediateStepsMatchTheReference) {
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        for (const int channels : {1, 3})
            for (const auto& shape : kit::small_shapes(channels))
                for (const auto fill_with : kit::fills())
                    for (const auto& parameters :
                         {HogParameters{}, HogParameters{.signed_gradients = true},
                          HogParameters{.gradient = HogGradient::central, .signed_gradients = true},
                          HogParameters{.gamma = HogGamma::none}, hog_preset(HogPreset::people)}) {
                        if (testing::Test::HasFailure()) return;
                        SCOPED_TRACE(fmt::format("{}, fill {}", to_string(shape), kit::to_string(fill_with)));
                        kit::GuardedImage image(shape, kit::layouts().back());
                        kit::fill(image.view(), fill_with);
                        const auto steps = hog_steps(image.view(), parameters);
                        // The steps before the cells do not depend on the size of a cell, and the reference has no
                        // cells in images this small.
                        auto without_norm = parameters;
                        without_norm.norm = HogNorm::none;
                        const auto want = hog_reference(without_norm, image.view());
                        const auto bytes = [](const HostImage& of) {
                            return std::vector<int>(of.view().data(), of.view().data() + of.shape().bytes());
                        };
                        EXPECT_EQ(bytes(steps.gray), want.gray);
                        EXPECT_EQ(bytes(steps.gamma), want.gamma);
                        EXPECT_EQ(std::vector<int>(steps.gx.begin(), steps.gx.end()), want.gx);
                        EXPECT_EQ(std::vector<int>(steps.gy.begin(), steps.gy.end()), want.gy);
                        expect_near(steps.magnitude, want.magnitude, "magnitude");
                        expect_near(steps.direction, want.direction, "direction");
                    }
    });
}

TEST(Hog, RunsWithoutAllocating) {
    kit::GuardedImage image({2, 64, 64, 3}, {});
    kit::fill(image.view(), kit::Fill::noise);
    Executor executor(BackendChoice::cpu, 1);  // starts its threads before the run
    for (const auto& parameters :
         {HogParameters{.norm = HogNorm::l2hys},
          HogParameters{.gradient = HogGradient::central, .norm = HogNorm::l2hys}, hog_preset(HogPreset::people)}) {
        Hog hog(parameters, image.view().shape(), executor);
        std::vector<float> out(static_cast<std::size_t>(hog.output_shape().count()));
        const auto run = [&] {
            hog.run(image.view(), HogView<float, MemorySpace::host>(out.data(), hog.output_shape()));
        };
        run();
        const auto before = kit::allocations();
        run();
        EXPECT_EQ(kit::allocations(), before);
    }
}

// Chunks of rows process the cells at their edges twice; the sums must not depend on that.
TEST(Hog, DoesNotDependOnTheNumberOfThreads) {
    kit::GuardedImage image({1, 200, 90, 1}, {});
    kit::fill(image.view(), kit::Fill::noise, 3);
    for (const auto& parameters :
         {HogParameters{.gradient = HogGradient::central},
          HogParameters{.gradient = HogGradient::central, .norm = HogNorm::l2hys}, hog_preset(HogPreset::people)}) {
        std::vector<std::vector<float>> of_threads;
        for (const int threads : {1, 2, 7}) {
            Executor executor(BackendChoice::cpu, threads);
            Hog hog(parameters, image.view().shape(), executor);
            auto& out = of_threads.emplace_back(static_cast<std::size_t>(hog.output_shape().count()));
            hog.run(image.view(), HogView<float, MemorySpace::host>(out.data(), hog.output_shape()));
        }
        EXPECT_EQ(of_threads[0], of_threads[1]);
        EXPECT_EQ(of_threads[0], of_threads[2]);
    }
}

TEST(Hog, ComputesDescriptorShapes) {
    EXPECT_EQ(hog_shape({}, {4, 1080, 1920, 3}), (HogShape{4, 135, 240, 9}));
    EXPECT_EQ(hog_shape({.cell = 64, .bins = 36}, {1, 127, 64, 1}), (HogShape{1, 1, 1, 36}));
    EXPECT_EQ(hog_shape({.norm = HogNorm::l2hys, .block = 3}, {1, 128, 64, 1}), (HogShape{1, 14, 6, 81}));
}

TEST(Hog, ParametersAreParsedFromText) {
    const auto text = [](const HogParameters& parameters) { return hog_fields().text(parameters); };
    EXPECT_EQ(text(parse_hog("")), text({}));
    EXPECT_EQ(text(parse_hog("cell=16:norm=l2:block=3")), text({.cell = 16, .norm = HogNorm::l2, .block = 3}));
    auto people = hog_preset(HogPreset::people);
    EXPECT_EQ(text(parse_hog("descriptor=people")), text(people));
    people.norm = HogNorm::none;
    people.cell = 16;
    EXPECT_EQ(text(parse_hog("norm=none:cell=16:descriptor=people")), text(people));
    EXPECT_EQ(text(parse_hog("descriptor=report:norm=l2hys")), text({.norm = HogNorm::l2hys}));
    for (const auto* wrong : {"cells=8", "cell=3", "descriptor=cat", "votes=cells", "block=2", "cell=8:cell=8", "8"})
        EXPECT_THROW(parse_hog(wrong), Error) << wrong;
}

TEST(Hog, RejectsInvalidArguments) {
    auto& executor = kit::executor(Backend::cpu);
    const Shape shape{1, 64, 64, 3};
    for (const auto& parameters :
         {HogParameters{.cell = 3}, HogParameters{.cell = 65}, HogParameters{.bins = 1}, HogParameters{.bins = 37},
          HogParameters{.norm = HogNorm::l2, .block = 0}, HogParameters{.norm = HogNorm::l2, .block = 9},
          HogParameters{.gamma = HogGamma::sqrt, .colour = HogColour::largest},
          HogParameters{.gradient = HogGradient::central, .colour = HogColour::largest}})
        EXPECT_THROW(Hog(parameters, shape, executor), Error);
    for (const auto& small : {Shape{1, 1, 1, 1}, Shape{1, 7, 64, 3}, Shape{1, 64, 7, 3}})
        EXPECT_THROW(Hog({}, small, executor), Error);
    EXPECT_THROW(Hog({.norm = HogNorm::l2}, {1, 15, 64, 3}, executor), Error);
    EXPECT_NO_THROW(Hog({.block = 9}, {1, 15, 64, 3}, executor)) << "without a norm there are no blocks";

    Hog hog({}, shape, executor);
    HostImage image(shape);
    std::vector<float> out(static_cast<std::size_t>(hog.output_shape().count()));
    EXPECT_THROW(hog.run(image.view(), HogView<float, MemorySpace::host>(out.data(), HogShape{1, 8, 8, 8})), Error);
}

}  // namespace
}  // namespace framewire
