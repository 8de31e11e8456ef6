#include "framewire/plan/chain_plan.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/buffer.hpp"
#include "kit/allocations.hpp"
#include "kit/filter_check.hpp"
#include "kit/host_chain.hpp"
#include "kit/images.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire {
namespace {

// Filter that returns the previous frame, which makes the state of a plan visible.
class Delay {
public:
    Delay(const Shape& shape, Executor& executor) : shape_(shape), executor_(&executor) {}
    Shape output_shape() const { return shape_; }
    void run(const FilterImages<MemorySpace::host>& images) const { copy(images.previous, images.out); }
    void run(const FilterImages<MemorySpace::device>& images) const {
        cuda::copy(images.previous, images.out, executor_->stream());
    }

private:
    Shape shape_;
    Executor* executor_;
};

// Returns the real filters and two test filters: delay, and one that rejects gray images.
const std::vector<FilterInfo>& registry() {
    static const std::vector<FilterInfo> filters = [] {
        auto all = filter_registry();
        const auto make = [](const ParameterValues&, const Shape& shape,
                             Executor& executor) -> std::unique_ptr<Filter> {
            return std::make_unique<FilterOf<Delay>>(shape, executor);
        };
        all.push_back({.name = "delay",
                       .summary = "",
                       .parameters = {},
                       .needs_previous = true,
                       .output_shape = [](const ParameterValues&, const Shape& shape) { return shape; },
                       .make = make});
        all.push_back({.name = "colours",
                       .summary = "",
                       .parameters = {},
                       .needs_previous = true,
                       .output_shape = [](const ParameterValues&, const Shape& shape) -> Shape {
                           if (shape.channels == 3) return shape;
                           fail(ErrorCode::usage, "a gray image has {} channel; allowed: BGR images", shape.channels);
                       },
                       .make = make});
        return all;
    }();
    return filters;
}

constexpr Shape frame{1, 37, 53, 3};

HostImage noise(const Shape& shape, std::uint64_t salt) {
    HostImage image(shape);
    kit::fill(image.view(), kit::Fill::noise, salt);
    return image;
}

std::optional<std::string> difference(const HostImage& got, const HostImage& want) {
    return kit::first_difference(got.view(), want.view());
}

class ChainPlanTest : public kit::BackendTest {
protected:
    Executor& executor() { return kit::executor(GetParam()); }
    kit::HostChain processor(const char* text, const Shape& shape = frame) {
        return {parse_chain(text, registry()), shape, executor()};
    }
};

FRAMEWIRE_ON_EVERY_BACKEND(ChainPlanTest);

TEST_P(ChainPlanTest, MatchesTheFiltersRunOneByOne) {
    const char* const texts[] = {"gray", "delay", "gray=average", "delay", "gray=channels=1", "delay"};
    std::string chain_text;
    std::vector<kit::HostChain> one_by_one;
    Shape shape = frame;
    for (const char* text : texts) {
        chain_text += (chain_text.empty() ? "" : ",") + std::string(text);
        one_by_one.push_back(processor(text, shape));
        shape = one_by_one.back().output_shape();
    }
    auto whole = processor(chain_text.c_str());
    EXPECT_EQ(whole.output_shape(), (Shape{1, 37, 53, 1}));
    ASSERT_EQ(whole.output_shape(), shape);

    for (std::uint64_t index = 0; index < 8; ++index) {
        const auto in = noise(frame, index);
        HostImage got(shape);
        whole.process(in.view(), got.view());
        auto step = noise(frame, index);
        for (auto& filter : one_by_one) {
            HostImage next(filter.output_shape());
            filter.process(step.view(), next.view());
            step = std::move(next);
        }
        EXPECT_EQ(difference(got, step), std::nullopt) << "frame " << index;
    }
}

TEST_P(ChainPlanTest, GivesEachFilterItsOwnPreviousInput) {
    auto delay = processor("delay,delay");  // the first frame also serves as the one before it
    HostImage out(frame);
    const std::uint64_t expected[] = {0, 0, 0, 1, 2, 3};
    for (std::uint64_t index = 0; index < 6; ++index) {
        delay.process(noise(frame, index).view(), out.view());
        EXPECT_EQ(difference(out, noise(frame, expected[index])), std::nullopt) << "frame " << index;
    }
}

TEST_P(ChainPlanTest, TreatsBatchesAsIndependentStreams) {
    const auto batch = frame.with_frames(3);
    auto together = processor("delay,gray", batch);
    auto alone = processor("delay,gray", frame);
    for (std::uint64_t index = 0; index < 3; ++index) {
        const auto in = noise(batch, index);
        HostImage got(batch), want(frame);
        together.process(in.view(), got.view());
        alone.process(in.view().frames(1, 1), want.view());
        EXPECT_EQ(kit::first_difference(got.view().frames(1, 1), want.view()), std::nullopt) << "frame " << index;
    }
}

// A chain that hides people must show nobody before it has a background. On CUDA the same images are used repeatedly,
// so that a graph replaces the chain as early as possible.
TEST_P(ChainPlanTest, HidesEverythingUntilThereIsABackground) {
    struct Case {
        const char* background;
        int hidden;
    };
    // Noise is not blurred if the background allows a choice.
    for (const auto& [background, hidden] :
         {Case{"first:blur=1", 1}, Case{"'mean:0.4':blur=1", 3}, Case{"mixture", 5}, Case{"adaptive", 8}}) {
        auto hides = processor(fmt::format("gray,boxes=pixelate=8:background={}", background).c_str());
        auto all = processor("gray,mosaic=8"), nothing = processor("gray");
        const auto still = noise(frame, 1);
        HostImage got(frame), want(frame);
        for (int index = 0; index < hidden + 3; ++index) {
            hides.process(still.view(), got.view());
            (index < hidden ? all : nothing).process(still.view(), want.view());
            EXPECT_EQ(difference(got, want), std::nullopt) << background << ", frame " << index;
        }
    }
}

// Applies the filters of a chain one after another. A plan must give the same result, whatever it joins.
class OneByOne {
public:
    OneByOne(const Chain& chain, Shape shape) {
        for (const auto& call : chain.calls) {
            filters_.push_back(call.filter->make(call.values, shape, kit::executor(Backend::cpu)));
            needs_previous_.push_back(call.filter->needs_previous);
            shape = filters_.back()->output_shape();
        }
        previous_.resize(filters_.size());
    }

    void set_adjustment(const Adjustment& adjustment) {
        for (auto& filter : filters_)
            if (filter->set_adjustment(adjustment)) return;
    }

    HostImage run(HostImage image) {
        for (std::size_t index = 0; index < filters_.size(); ++index) {
            HostImage out(filters_[index]->output_shape());
            auto& previous = previous_[index];
            filters_[index]->run(FilterImages<MemorySpace::host>{
                image.view(),
                needs_previous_[index] ? (previous ? *previous : image).view() : HostView<const std::uint8_t>{},
                out.view()});
            previous = std::move(image);
            image = std::move(out);
        }
        return image;
    }

private:
    std::vector<std::unique_ptr<Filter>> filters_;
    std::vector<bool> needs_previous_;
    std::vector<std::optional<HostImage>> previous_;
};

constexpr const char* joined_chains[] = {
    "gray,binarize=fixed:level=90",
    "heatmap",
    "noise=40",
    "gray=average:channels=1,noise=30:mode=overlay",
    "gray=channels=1,heatmap,gray=channels=1",
    "adjust=10:saturation=1.5,gray,heatmap,gray",
    "gray=average,adjust=20:contrast=1.3:saturation=1.9,adjust=-5,heatmap,noise=3",
    "gray,gray=average,heatmap,heatmap,gray,adjust=4",
    "adjust=20:contrast=1.4:saturation=1.7:gain=0.9,gray=average,adjust=contrast=2,binarize=fixed",
    "adjust=saturation=0.2,noise=10:mode=overlay,heatmap,gray,noise=5,adjust=-30",
    "noise=1,noise=2,noise=3,noise=4,noise=5",  // more states than a pass supports
    // more filters than a pass supports
    "gray=channels=1,gray=channels=3,gray,gray,gray,gray,gray,gray=channels=1,heatmap",
    "adjust=10,delay,heatmap,delay,gray,binarize=fixed",  // other filters between pointwise ones
    "gray,binarize=otsu,adjust=5",
    "adjust=5,delay,gray,adjust=-5,binarize=fixed",
};

TEST_P(ChainPlanTest, JoinedFiltersMatchSeparateFilters) {
    for (const char* text : joined_chains)
        for (const auto& shape :
             {frame, frame.with_frames(3), Shape{1, 1, 1, 3}, Shape{2, 5, 16, 1}, Shape{1, 120, 161, 3}}) {
            SCOPED_TRACE(std::string(text) + " on " + to_string(shape));
            const auto chain = parse_chain(text, registry());
            kit::HostChain joined(chain, shape, executor());
            OneByOne alone(chain, shape);
            for (std::uint64_t index = 0; index < 6; ++index) {
                if (index == 4) {  // change the settings while the chain runs
                    const Adjustment other{.brightness = -12, .contrast = 0.7, .saturation = 2, .gain = 1.5};
                    EXPECT_EQ(joined.plan().set_adjustment(other),
                              std::string_view(text).find("adjust") != std::string_view::npos);
                    alone.set_adjustment(other);
                }
                HostImage got(joined.output_shape());
                joined.process(noise(shape, index).view(), got.view());
                ASSERT_EQ(difference(got, alone.run(noise(shape, index))), std::nullopt) << "frame " << index;
            }
        }
}

// A pass on the CPU is faster than its filters one by one, although it computes the same, because the gray image that a
// heatmap reads, and the previous gray image, have one channel.
TEST(PointwisePass, KeepsGrayInOneChannelForAHeatmap) {
    const auto op = [](const char* text) {
        const auto call = parse_chain(text, registry()).calls.front();
        return call.filter->pointwise(call.values).value();
    };
    const auto gray = op("gray"), heatmap = op("heatmap"), adjust = op("adjust"), noise = op("noise");
    const auto state = [](std::vector<PointwiseOp> ops) {
        return PointwisePass(std::move(ops), frame, kit::executor(Backend::cpu)).state_shapes().at(0).channels;
    };
    EXPECT_EQ(state({adjust, gray, heatmap}), 1);
    EXPECT_EQ(state({gray, adjust, heatmap}), 1);
    EXPECT_EQ(state({adjust, heatmap}), 3);
    EXPECT_EQ(state({gray, noise}), 3);
    EXPECT_EQ(PointwisePass({adjust, gray}, frame, kit::executor(Backend::cpu)).output_shape().channels, 3);
}

// The images have gaps and odd addresses and alternate: neither a pass nor a graph may rely on earlier images.
TEST_P(ChainPlanTest, AcceptsAlternatingLayouts) {
    const auto chain = parse_chain("adjust=20,heatmap,gray", registry());
    const auto batch = frame.with_frames(2);
    ChainPlan plan(chain, batch, executor());
    OneByOne alone(chain, batch);
    std::uint64_t index = 0;
    for (int turn = 0; turn < 2; ++turn)
        for (const auto& layout : kit::layouts()) {
            kit::GuardedImage in(batch, layout), out(batch, layout);
            std::optional<kit::DeviceMirror> device_in, device_out;
            if (GetParam() == Backend::cuda) {
                device_in.emplace(in);
                device_out.emplace(out);
            }
            for (int times = 0; times < 4; ++times, ++index) {  // often enough for a graph to be recorded and replayed
                copy(noise(batch, index).view(), in.view());
                if (GetParam() == Backend::cpu) {
                    plan.run(HostView<const std::uint8_t>(in.view()), out.view());
                } else {
                    device_in->upload(executor().stream());
                    device_out->upload(executor().stream());
                    plan.run(DeviceView<const std::uint8_t>(device_in->view()), device_out->view());
                    device_out->download(executor().stream());
                }
                ASSERT_EQ(kit::first_difference(out.view(), alone.run(noise(batch, index)).view()), std::nullopt)
                    << kit::to_string(layout) << ", frame " << index;
                ASSERT_EQ(out.broken_guard(), std::nullopt);
            }
        }
}

// Frames of a ring alternate. There are more pairs of frames than graphs, and settings change in between.
TEST_P(ChainPlanTest, AlternatingFramesMatchSingleFrames) {
    const auto chain = parse_chain("gaussian=3,adjust=20,heatmap,gray", registry());
    ChainPlan plan(chain, frame, executor());
    OneByOne alone(chain, frame);
    constexpr int recorded = RecordedRuns::most;
    for (const int slots : {1, 3, recorded, recorded + 3}) {
        std::vector<Frame> in, out;
        for (int slot = 0; slot < slots; ++slot) {
            in.emplace_back(frame, executor());
            out.emplace_back(plan.output_shape(), executor());
        }
        std::vector<HostImage> want;
        const auto check = [&](int number) {
            auto& got = out[static_cast<std::size_t>(number % slots)];
            got.wait();
            ASSERT_EQ(kit::first_difference(std::as_const(got).host(), want[static_cast<std::size_t>(number)].view()),
                      std::nullopt)
                << slots << " slots, frame " << number;
        };
        const int frames = 3 * slots + 5;
        for (int number = 0; number < frames; ++number) {
            if (number >= slots) check(number - slots);
            if (number == 2 * slots) {
                const Adjustment other{.brightness = slots, .gain = 1.25};
                plan.set_adjustment(other);
                alone.set_adjustment(other);
            }
            auto image = noise(frame, static_cast<std::uint64_t>(number));
            auto& place = in[static_cast<std::size_t>(number % slots)];
            copy(std::as_const(image).view(), place.host());
            want.push_back(alone.run(std::move(image)));
            place.upload();
            plan.run(place, out[static_cast<std::size_t>(number % slots)]);
            out[static_cast<std::size_t>(number % slots)].download();
        }
        for (int number = frames - slots; number < frames; ++number) check(number);
    }
}

// Repeats the run until a graph has been recorded and replayed.
TEST_P(ChainPlanTest, CombinesTheResultWithTheOriginalFrame) {
    const auto chain = parse_chain("gray=channels=1,compare=above", registry());
    ChainPlan plan(chain, frame, executor());
    ASSERT_EQ(plan.output_shape(), (Shape{1, 2 * frame.height, frame.width, 3}));
    Frame in(frame, executor()), out(plan.output_shape(), executor());
    auto gray = processor("gray");
    for (std::uint64_t index = 0; index < 5; ++index) {
        const auto image = noise(frame, index);
        HostImage want(frame);
        gray.process(image.view(), want.view());
        copy(image.view(), in.host());
        in.upload();
        plan.run(in, out);
        out.download();
        out.wait();
        const auto rows = [&](int first) {
            return HostView<const std::uint8_t>(std::as_const(out).host().row(0, first), frame);
        };
        ASSERT_EQ(kit::first_difference(rows(0), image.view()), std::nullopt) << index;
        ASSERT_EQ(kit::first_difference(rows(frame.height), std::as_const(want).view()), std::nullopt) << index;
    }
}

TEST_P(ChainPlanTest, AcceptsAnOriginalOfAnotherSize) {
    const Shape large{1, 50, 60, 3};
    ChainPlan plan(parse_chain("gray=channels=1,compare", registry()), frame, executor(), large);
    ASSERT_EQ(plan.output_shape(), (Shape{1, 50, 60 + frame.width, 3}));
    Frame in(frame, executor()), out(plan.output_shape(), executor());
    Frame originals[2]{Frame(large, executor()), Frame(large, executor())};
    for (std::uint64_t index = 0; index < 8; ++index) {
        auto& original = originals[index % 2];
        const auto image = noise(large, index);
        copy(image.view(), original.host());
        copy(noise(frame, 100 + index).view(), in.host());
        original.upload();
        in.upload();
        plan.run(in, original, out);
        out.download();
        out.wait();
        for (int y = 0; y < large.height; ++y)
            ASSERT_TRUE(std::equal(image.view().row(0, y), image.view().row(0, y) + large.row_bytes(),
                                   std::as_const(out).host().row(0, y)))
                << index << " " << y;
    }
}

TEST(ChainPlan, RejectsFiltersThatChangeTheRate) {
    Executor cpu(BackendChoice::cpu);
    EXPECT_THROW(ChainPlan(parse_chain("gray,fps=5"), frame, cpu), Error);
}

TEST_P(ChainPlanTest, RejectsInvalidAdjustmentsAndKeepsTheOldOnes) {
    auto plan = processor("adjust=10,gray");
    EXPECT_THROW(plan.plan().set_adjustment({.gain = 9}), Error);
    HostImage out(frame);
    plan.process(noise(frame, 1).view(), out.view());
    EXPECT_EQ(difference(out, OneByOne(parse_chain("adjust=10,gray"), frame).run(noise(frame, 1))), std::nullopt);
    EXPECT_FALSE(processor("gray,heatmap").plan().set_adjustment({}));
}

TEST_P(ChainPlanTest, EmptyChainCopiesTheFrame) {
    auto nothing = processor("");
    EXPECT_TRUE(nothing.plan().empty());
    const auto in = noise(frame, 1);
    HostImage out(frame);
    nothing.process(in.view(), out.view());
    EXPECT_EQ(difference(out, in), std::nullopt);
}

TEST_P(ChainPlanTest, RejectsMismatchedShapes) {
    auto gray = processor("gray=channels=1");
    const auto in = noise(frame, 1);
    HostImage right(frame.with_channels(1)), wrong(frame);
    EXPECT_THROW(gray.process(in.view(), wrong.view()), Error);
    EXPECT_THROW(gray.process(right.view(), right.view()), Error);
    gray.process(in.view(), right.view());
}

TEST_P(ChainPlanTest, ReportsResultsOfFilters) {
    auto chain = processor("mosaic=4096,gray,delay,binarize=otsu,mosaic=4096");
    EXPECT_TRUE(chain.plan().figures().empty()) << "before the first frame";
    HostImage out(frame);
    for (int run = 0; run < 3; ++run) chain.process(noise(frame, 1).view(), out.view());
    const auto found = chain.plan().figures();
    ASSERT_EQ(found.size(), 3u);
    EXPECT_EQ(found[0].filter, "mosaic");
    EXPECT_EQ(found[0].figures.size(), 3u);
    EXPECT_EQ(found[1].filter, "binarize");
    ASSERT_EQ(found[1].figures.size(), 1u);
    EXPECT_EQ(found[1].figures[0].name, "threshold");
    EXPECT_EQ(found[1].figures[0].value, 0) << "the first mosaic left one value";
    EXPECT_EQ(found[2].figures[0].value, 255);
}

// A binarize filter reports its threshold both when joined with its neighbours and on its own.
TEST_P(ChainPlanTest, ReportsResultsOfJoinedFilters) {
    const auto chain =
        parse_chain("gray,binarize=fixed:level=90,adjust=5,binarize=fixed:level=7,delay,binarize=fixed", registry());
    const auto batch = frame.with_frames(2);
    kit::HostChain joined(chain, batch, executor());
    EXPECT_TRUE(joined.plan().figures().empty()) << "before the first frame";
    HostImage out(batch);
    joined.process(noise(batch, 1).view(), out.view());
    const auto found = joined.plan().figures();
    ASSERT_EQ(found.size(), 3u);
    const double levels[] = {90, 7, 128};
    for (std::size_t index = 0; index < 3; ++index) {
        EXPECT_EQ(found[index].filter, "binarize");
        ASSERT_EQ(found[index].figures.size(), 2u);
        for (int of = 0; of < 2; ++of) {
            const auto& figure = found[index].figures[static_cast<std::size_t>(of)];
            EXPECT_EQ(figure.name, "threshold");
            EXPECT_EQ(figure.frame, of);
            EXPECT_EQ(figure.value, levels[index]);
        }
    }
}

TEST_P(ChainPlanTest, RunsWithoutAllocating) {
    for (const char* text : {"delay,adjust,gray,delay,noise,gray=channels=1,heatmap",
                             "mosaic=7,binarize=otsu,mosaic=7:zone='3,4,20,9',binarize=two-peaks,binarize=sauvola"}) {
        auto chain = processor(text);
        const auto in = noise(frame, 1);
        HostImage out(chain.output_shape());
        for (int run = 0; run < 3; ++run) chain.process(in.view(), out.view());  // a GPU records and replays a graph
        const auto before = kit::allocations();
        for (int run = 0; run < 10; ++run) chain.process(in.view(), out.view());
        EXPECT_EQ(kit::allocations(), before) << text;
    }
}

TEST(ChainPlan, ReportsThePositionOfAFilterThatRejectsItsInput) {
    try {
        ChainPlan(parse_chain("gray=channels=1, colours", registry()), frame, kit::executor(Backend::cpu));
        FAIL() << "accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_STREQ(error.what(),
                     "filters, column 18: filter 'colours': a gray image has 1 channel; allowed: BGR images\n  "
                     "gray=channels=1, colours\n                   ^");
    }
}

TEST(ChainPlan, RejectsInvalidShapes) {
    EXPECT_THROW(ChainPlan(Chain{}, Shape{1, 0, 5, 3}, kit::executor(Backend::cpu)), Error);
}

TEST(ChainPlan, RejectsMemoryOfTheOtherBackend) {
    ChainPlan plan(Chain{}, frame, kit::executor(Backend::cpu));
    EXPECT_THROW(plan.run(DeviceView<const std::uint8_t>(nullptr, frame), DeviceView<std::uint8_t>(nullptr, frame)),
                 Error);
}

constexpr Shape hd_frame{1, 720, 1280, 3};

TEST(ChainCost, IsZeroForAnEmptyChain) {
    const auto cost = cost_of(parse_chain(""), hd_frame);
    EXPECT_EQ(cost.output, hd_frame);
    EXPECT_EQ(cost.largest, hd_frame);
    EXPECT_EQ(cost.bytes, 0);
    EXPECT_EQ(cost.frame_seconds, 0);
}

TEST(ChainCost, FindsTheLargestImageInTheChain) {
    const auto cost = cost_of(parse_chain("gray=channels=1,scale=4096:2048,scale=64:32"), hd_frame);
    EXPECT_EQ(cost.output, (Shape{1, 32, 64, 1}));
    EXPECT_EQ(cost.largest, (Shape{1, 2048, 4096, 1}));
    EXPECT_EQ(cost.largest_at, 16);
    EXPECT_GT(cost.bytes, 4096 * 2048);
}

TEST(ChainCost, GrowsWithEachFilter) {
    std::string text = "median=255";
    const auto one = cost_of(parse_chain(text), hd_frame);
    for (std::size_t filter = 1; filter < max_chain_filters; ++filter) text += ",median=255";
    const auto all = cost_of(parse_chain(text), hd_frame);
    EXPECT_EQ(all.bytes, static_cast<std::int64_t>(max_chain_filters) * one.bytes);
    EXPECT_NEAR(all.frame_seconds, static_cast<double>(max_chain_filters) * one.frame_seconds, 1e-6);
}

TEST(ChainCost, RejectsChainsWithInvalidSizes) {
    EXPECT_THROW(cost_of(parse_chain("crop=9000:9000"), hd_frame), Error);
    EXPECT_THROW(cost_of(parse_chain("scale=1000%,scale=1000%"), hd_frame), Error);
}

// The filters come from the registry, so that a new filter that keeps more memory has to declare it.
TEST(ChainCost, EstimateCoversTheAllocationsOfEveryFilter) {
    Executor executor(BackendChoice::cpu, 2);
    for (const auto& filter : filter_registry()) {
        if (filter.rate) continue;  // a filter that changes the rate has no plan
        std::vector<std::string> texts{std::string(filter.name)};
        if (!filter.examples.empty()) texts.assign(filter.examples.begin(), filter.examples.end());
        for (auto& text : texts) {
            // Test machines may have no installed fonts.
            if (const auto* font = std::getenv("FRAMEWIRE_TEST_FONT"); font && text.starts_with("text="))
                text.replace(0, 5, fmt::format("text=font={}:text=", font));
            const auto chain = parse_chain(text);
            if (split_at_rate(chain).rate) continue;
            const auto estimated = cost_of(chain, hd_frame).bytes;
            const auto before = kit::allocated_bytes();
            ChainPlan plan(chain, hd_frame, executor);
            HostImage in(hd_frame), out(plan.output_shape());
            std::fill_n(in.view().data(), hd_frame.bytes(), std::uint8_t{100});
            plan.run(std::as_const(in).view(), out.view());
            const auto images = hd_frame.bytes() + plan.output_shape().bytes();
            const auto kept = kit::allocated_bytes() - before - images;
            constexpr std::int64_t tables = 4'000'000;  // glyphs, windows etc.; does not depend on the frame's size
            EXPECT_LE(kept, estimated + tables) << text;
        }
    }
}

}  // namespace
}  // namespace framewire
