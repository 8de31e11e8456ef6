#include "framewire/plan/frame_plan.hpp"
#include "framewire/colour/yuv_testing.hpp"
#include "framewire/core/error.hpp"
#include "framewire/plan/frame.hpp"
#include "kit/filter_check.hpp"
#include "kit/host_chain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using namespace colour_testing;

// A picture on the host: an image, or planes.
class Picture {
public:
    explicit Picture(const FrameFormat& format) : format_(format) {
        if (format.planes())
            planes_ = std::make_unique<YuvPicture>(*format.planes());
        else
            image_ = HostImage(format.shape());
    }
    const FrameFormat& format() const { return format_; }
    PictureView<std::uint8_t, MemorySpace::host> view() {
        if (planes_) return planes_->view();
        return image_.view();
    }
    // The images of all planes, or the image itself.
    std::vector<HostView<std::uint8_t>> parts() {
        if (!planes_) return {image_.view()};
        std::vector<HostView<std::uint8_t>> parts;
        for (int plane = 0; plane < format_.planes()->planes(); ++plane)
            parts.push_back(image_of_plane(planes_->view(), plane));
        return parts;
    }
    void fill_with_noise(std::mt19937& random) {
        for (const auto& part : parts())
            for (int y = 0; y < part.shape().height; ++y)
                for (int x = 0; x < part.shape().row_bytes(); ++x)
                    part.row(0, y)[x] = static_cast<std::uint8_t>(random() >> 24);
    }

private:
    FrameFormat format_;
    std::unique_ptr<YuvPicture> planes_;
    HostImage image_;
};

// Returns the first difference of two pictures.
std::optional<std::string> difference(Picture& have, Picture& want) {
    if (have.format() != want.format())
        return fmt::format("{} instead of {}", to_string(have.format()), to_string(want.format()));
    const auto parts = have.parts(), wanted = want.parts();
    for (std::size_t part = 0; part < parts.size(); ++part)
        if (const auto place = kit::first_difference(HostView<const std::uint8_t>(parts[part]),
                                                     HostView<const std::uint8_t>(wanted[part])))
            return fmt::format("part {}: {}", part, *place);
    return {};
}

// Runs plans in the memory of a backend, from pictures on the host to pictures on the host. Like a frame ring, it uses
// the memory of its slots in turn.
class Runner {
public:
    Runner(const Chain& chain, const FrameFormat& source, const std::optional<YuvInfo>& sink, Executor& executor,
           int slots = 1)
        : executor_(executor), plan_(chain, source, executor) {
        plan_.deliver(sink);
        for (; slots > 0; --slots) {
            slots_.push_back({{FramePlanes(executor), {}}, {FramePlanes(executor), {}}, {}});
            if (!plan_.result().planes()) slots_.back().result = Frame(plan_.result().shape(), executor);
        }
    }
    FramePlan& plan() { return plan_; }

    Picture run(Picture& source) { return run(source, source); }
    Picture run(Picture& source, Picture& original) {
        Picture result(plan_.result());
        auto& slot = slots_[turn_++ % slots_.size()];
        executor_.in_its_space([&]<MemorySpace space>() {
            const auto in = put<space>(source, slot.in);
            const auto first = &original == &source ? in : put<space>(original, slot.original);
            if (const auto& info = plan_.result().planes()) {
                plan_.run(in, first, PictureView<std::uint8_t, space>(slot.in.planes.template result<space>(*info)));
                const auto made = slot.in.planes.download();
                slot.in.planes.wait();
                for (int plane = 0; plane < info->planes(); ++plane)
                    copy(image_of_plane(made->view(), plane), image_of_plane(result.view().planes, plane));
            } else {
                plan_.run(in, first, PictureView<std::uint8_t, space>(slot.result.template in<space>()));
                slot.result.download();
                slot.result.wait();
                copy(slot.result.host(), result.view().image);
            }
        });
        return result;
    }

private:
    // Memory for a picture of planes or an image.
    struct Place {
        FramePlanes planes;
        Frame image;
    };
    struct Slot {
        Place in, original;
        Frame result;
    };

    // Copies a picture to the memory of the backend.
    template <MemorySpace space>
    PictureView<const std::uint8_t, space> put(Picture& picture, Place& place) {
        const auto view = picture.view();
        if (view.has_planes()) return place.planes.template source<space>(view.planes);
        if (place.image.empty()) place.image = Frame(picture.format().shape(), executor_);
        copy(view.image, place.image.fill_on_host());
        place.image.upload();
        return View<const std::uint8_t, space>(place.image.template in<space>());
    }

    Executor& executor_;
    FramePlan plan_;
    std::vector<Slot> slots_;
    std::size_t turn_ = 0;
};

// Converts an image to the planes that a sink takes, if it takes planes.
Picture delivered(Picture picture, const std::optional<YuvInfo>& sink, Executor& executor) {
    if (!sink || picture.format().planes()) return picture;
    Picture converted{FrameFormat(*sink)};
    ImageToYuv(*sink, picture.format().shape().channels, executor).run(picture.view().image, converted.view().planes);
    return converted;
}

// Runs the filters of a chain one after another, each with its own plan, on whole pictures. This defines what a chain
// means. Plans keep previous frames, so one object processes one stream.
class OneByOne {
public:
    OneByOne(const Chain& chain, const FrameFormat& source) : result_(source) {
        for (const auto& call : chain.calls) {
            plans_.emplace_back(Chain{chain.text, {call}}, result_, executor_, source);
            result_ = plans_.back().result();
        }
    }

    Picture run(Picture& source, const std::optional<YuvInfo>& sink) {
        Picture now(source.format());
        for (std::size_t part = 0; part < source.parts().size(); ++part)
            copy(HostView<const std::uint8_t>(source.parts()[part]), now.parts()[part]);
        for (auto& plan : plans_) {
            Picture next(plan.result());
            plan.run(now.view(), source.view(), next.view());
            now = std::move(next);
        }
        if (!result_.planes()) return delivered(std::move(now), sink, executor_);
        Runner last({}, result_, sink, executor_);
        if (last.plan().empty() && last.plan().result() == result_) return now;
        return last.run(now);
    }

private:
    Executor executor_{BackendChoice::cpu, 1};
    FrameFormat result_;
    std::vector<FramePlan> plans_;
};

constexpr std::string_view filters[] = {"gaussian=5",
                                        "gaussian=9:border=zero",
                                        "mean=3",
                                        "median=3",
                                        "scale=iw*3/4:ih/2",
                                        "scale=iw:ih",
                                        "crop=iw-6:ih-4:2:2",
                                        "crop=iw-5:ih-3:3:1",
                                        "pad=iw+6:ih+4:2:2:orange",
                                        "flip",
                                        "flip=vertical",
                                        "flip=both",
                                        "rotate=90",
                                        "rotate=180",
                                        "rotate=10",
                                        "mosaic=7",
                                        "adjust=brightness=20:contrast=1.2",
                                        "adjust=contrast=3",
                                        "gray",
                                        "gray=channels=1",
                                        "binarize=fixed",
                                        "compare=below",
                                        "compare=split",
                                        "noise",
                                        "noise=30:mode=overlay",
                                        "heatmap",
                                        "deinterlace",
                                        "boxes=pixelate=8:background=first:blur=1:min-area=9",
                                        "boxes=background='mean:0.4':blur=3:min-area=9",
                                        "boxes=min-area=9",
                                        "dilate=3",
                                        "convolve='0 -1 0 -1 5 -1 0 -1 0'"};

std::vector<std::string_view> random_filters(std::mt19937& random) {
    std::vector<std::string_view> chain;
    for (auto count = 1 + random() % 4; count > 0; --count) chain.push_back(filters[random() % std::size(filters)]);
    return chain;
}

std::string chain_of(const std::vector<std::string_view>& names) { return fmt::format("{}", fmt::join(names, ",")); }

FrameFormat random_source(std::mt19937& random) {
    const int height = 24 + static_cast<int>(random() % 60), width = 24 + static_cast<int>(random() % 90);
    constexpr YuvFormat formats[] = {yuv_420, yuv_422, yuv_444, yuv_gray, yuv_nv12};
    const auto choice = random() % 8;
    if (choice == 0) return FrameFormat(Shape{1, height, width, 1});
    if (choice == 1) return FrameFormat(Shape{1, height, width, 3});
    return FrameFormat(YuvInfo{formats[random() % std::size(formats)], codings[random() % std::size(codings)],
                               sitings[random() % std::size(sitings)], 1, height, width});
}

// Makes the next frame of a stream: often only some rows change, as for a static camera.
void change(Picture& picture, std::mt19937& random) {
    for (const auto& part : picture.parts()) {
        const int height = part.shape().height;
        const bool all = random() % 3 == 0;
        const int begin = all ? 0 : static_cast<int>(random() % static_cast<unsigned>(height));
        const int end = all ? height : std::min(height, begin + 1 + static_cast<int>(random() % 16));
        for (int y = begin; y < end; ++y)
            for (int x = 0; x < part.shape().row_bytes(); ++x)
                part.row(0, y)[x] = static_cast<std::uint8_t>(random() >> 24);
    }
}

class FramePlans : public kit::BackendTest {
protected:
    // Tests of the CPU choose the number of threads.
    Executor& executor(int threads) {
        if (GetParam() == Backend::cuda) return kit::executor(Backend::cuda);
        return executor_.emplace(BackendChoice::cpu, threads);
    }

private:
    std::optional<Executor> executor_;
};

// Every plan gives what its filters give one by one, for several frames, whatever the backend, the sink and the
// threads.
TEST_P(FramePlans, EqualFiltersOneByOne) {
    const auto seed = ::testing::UnitTest::GetInstance()->random_seed();
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    auto& executor = this->executor(1 + static_cast<int>(random() % 3));
    // A filter with a wrong parameter would be skipped below, with every chain that has it.
    for (const auto& filter : filters)
        ASSERT_NO_THROW(FramePlan(parse_chain(filter), FrameFormat(Shape{1, 24, 24, 3}), executor)) << filter;
    for (int round = 0; round < 300; ++round) {
        const auto text = chain_of(random_filters(random));
        const auto source = random_source(random);
        SCOPED_TRACE(fmt::format("seed {}, round {}: {} of {}", seed, round, text, to_string(source)));
        const auto chain = parse_chain(text);
        std::optional<YuvInfo> sink;
        std::unique_ptr<Runner> runner;
        try {
            const auto shape = FramePlan(chain, source, executor).result().shape();
            if (random() % 3)
                sink = YuvInfo{random() % 2 ? yuv_420 : yuv_444,
                               codings[random() % std::size(codings)],
                               random() % 2 && source.planes() ? source.planes()->siting : siting_left,
                               1,
                               shape.height,
                               shape.width};
            runner = std::make_unique<Runner>(chain, source, sink, executor);
        } catch (const Error& error) {
            ASSERT_EQ(error.code(), ErrorCode::usage) << error.what();  // a filter that does not take such an image
            continue;
        }
        OneByOne one_by_one(chain, source);
        Picture picture(source);
        picture.fill_with_noise(random);
        for (int frame = 0; frame < 3; ++frame) {
            if (frame > 0) change(picture, random);
            auto have = runner->run(picture);
            auto want = one_by_one.run(picture, have.format().planes());
            ASSERT_EQ(difference(have, want), std::nullopt) << "frame " << frame;
        }
    }
}

// The frames of a batch are independent streams: each one's results are those of its own plans, whatever the backend
// and the threads.
TEST_P(FramePlans, BatchesEqualFramesOneByOne) {
    const auto seed = ::testing::UnitTest::GetInstance()->random_seed();
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    for (int round = 0; round < 150; ++round) {
        auto& executor = this->executor(1 + static_cast<int>(random() % 4));
        const auto text = chain_of(random_filters(random));
        const Shape one{1, 24 + static_cast<int>(random() % 60), 24 + static_cast<int>(random() % 90),
                        random() % 2 ? 3 : 1};
        if (text.find("boxes") != text.npos) continue;  // takes the frames of a batch as one stream
        const auto batch = one.with_frames(2 + static_cast<int>(random() % 4));
        SCOPED_TRACE(fmt::format("seed {}, round {}: {} of {}", seed, round, text, to_string(batch)));
        const auto chain = parse_chain(text);
        std::optional<kit::HostChain> together;
        std::vector<std::unique_ptr<OneByOne>> alone;
        std::vector<Picture> frames;
        try {
            together.emplace(chain, batch, executor);
            for (int frame = 0; frame < batch.frames; ++frame) {
                alone.push_back(std::make_unique<OneByOne>(chain, FrameFormat(one)));
                frames.emplace_back(FrameFormat(one)).fill_with_noise(random);
            }
        } catch (const Error& error) {
            ASSERT_EQ(error.code(), ErrorCode::usage) << error.what();  // a filter that does not take such an image
            continue;
        }
        HostImage in(batch), have(together->output_shape());
        for (int time = 0; time < 5; ++time) {  // long enough for a GPU to record a graph and to replay it
            for (int frame = 0; frame < batch.frames; ++frame) {
                auto& picture = frames[static_cast<std::size_t>(frame)];
                if (time > 0) change(picture, random);
                copy(HostView<const std::uint8_t>(picture.view().image), in.view().frames(frame, 1));
            }
            together->process(std::as_const(in).view(), have.view());
            for (int frame = 0; frame < batch.frames; ++frame) {
                const auto at = static_cast<std::size_t>(frame);
                auto want = alone[at]->run(frames[at], {});
                ASSERT_EQ(kit::first_difference(std::as_const(have).view().frames(frame, 1),
                                                HostView<const std::uint8_t>(want.view().image)),
                          std::nullopt)
                    << "time " << time << ", frame " << frame;
            }
        }
    }
}

// Filters that change nothing may be anywhere in a chain. On planes, a median needs colours, and cells of one pixel
// interpolate chroma and average it again.
TEST_P(FramePlans, IdentitiesChangeNothing) {
    constexpr std::string_view identities[] = {"crop=iw:ih", "flip,flip",   "flip=vertical,flip=vertical",
                                               "adjust",     "scale=iw:ih", "pad=iw:ih",
                                               "mean=1",     "gaussian=1",  "median=1",
                                               "mosaic=1"};
    constexpr std::size_t on_images_only = 2;  // at the end
    const auto seed = ::testing::UnitTest::GetInstance()->random_seed();
    std::mt19937 random(static_cast<std::uint32_t>(seed));
    auto& executor = this->executor(1 + static_cast<int>(random() % 3));
    for (int round = 0; round < 200; ++round) {
        const auto source = random_source(random);
        auto chain = random_filters(random);
        const auto text = chain_of(chain);
        const auto choices = std::size(identities) - (source.planes() ? on_images_only : 0);
        for (auto count = 1 + random() % 2; count > 0; --count)
            chain.insert(chain.begin() + static_cast<std::ptrdiff_t>(random() % (chain.size() + 1)),
                         identities[random() % choices]);
        const auto with = chain_of(chain);
        SCOPED_TRACE(
            fmt::format("seed {}, round {}: {} instead of {}, of {}", seed, round, with, text, to_string(source)));
        std::optional<YuvInfo> sink;
        std::unique_ptr<Runner> runner, runner_with;
        try {
            const auto shape = FramePlan(parse_chain(text), source, executor).result().shape();
            if (random() % 2) sink = YuvInfo{yuv_420, codings[0], siting_left, 1, shape.height, shape.width};
            runner = std::make_unique<Runner>(parse_chain(text), source, sink, executor);
            runner_with = std::make_unique<Runner>(parse_chain(with), source, sink, executor);
        } catch (const Error& error) {
            ASSERT_EQ(error.code(), ErrorCode::usage) << error.what();
            continue;
        }
        Executor host(BackendChoice::cpu, 1);
        Picture picture(source);
        picture.fill_with_noise(random);
        for (int frame = 0; frame < 3; ++frame) {
            if (frame > 0) change(picture, random);
            auto have = delivered(runner_with->run(picture), sink, host),
                 want = delivered(runner->run(picture), sink, host);
            ASSERT_EQ(difference(have, want), std::nullopt) << "frame " << frame;
        }
    }
}

// An image in BGR instead of planes is converted to planes if the first filter runs on them.
TEST_P(FramePlans, TakeImagesInsteadOfPlanes) {
    auto& executor = this->executor(2);
    const YuvInfo info{yuv_420, codings[0], siting_left, 1, 40, 60};
    std::mt19937 random(1);
    Picture image(FrameFormat(Shape{1, 40, 60, 3})), planes{FrameFormat(info)};
    image.fill_with_noise(random);
    ImageToYuv(info, 3, executor).run(image.view().image, planes.view().planes);
    for (const auto* text : {"gaussian=5", "gaussian=5,median=3", "gaussian=3,compare"}) {
        SCOPED_TRACE(text);
        Runner runner(parse_chain(text), FrameFormat(info), {}, executor);
        auto have = runner.run(image), want = runner.run(planes);
        EXPECT_EQ(difference(have, want), std::nullopt);
    }
}

// If the first filter runs on images, an image in BGR stays as it is, whatever the backend and the sink: with strips,
// too. Pictures of both kinds take turns, more often than a ring has slots.
TEST_P(FramePlans, KeepImagesForFiltersOfImages) {
    auto& executor = this->executor(2);
    Executor on_cpu(BackendChoice::cpu, 1);
    const YuvInfo info{yuv_420, codings[0], siting_left, 1, 40, 60};
    std::mt19937 random(1);
    for (const std::optional<YuvInfo>& sink : {std::optional<YuvInfo>(), std::optional(info)})
        for (const auto* text : {"", "median=3", "median=3,mosaic=8", "binarize=fixed", "binarize=fixed,gaussian=3"}) {
            SCOPED_TRACE(fmt::format("'{}' to {}", text, sink ? "planes" : "images"));
            if (sink && !*text) continue;  // planes go to the sink as they are
            const auto chain = parse_chain(text);
            Runner runner(chain, FrameFormat(info), sink, executor, 3);
            for (int frame = 0; frame < 12; ++frame) {
                Picture image(FrameFormat(Shape{1, 40, 60, 3})), planes{FrameFormat(info)};
                image.fill_with_noise(random);
                ImageToYuv(info, 3, on_cpu).run(image.view().image, planes.view().planes);
                runner.run(planes);
                auto have = delivered(runner.run(image), sink, on_cpu);
                auto want = delivered(Runner(chain, image.format(), {}, on_cpu).run(image), sink, on_cpu);
                ASSERT_EQ(difference(have, want), std::nullopt) << "frame " << frame;
            }
        }
}

// After a change of the rate, the original can be an image although the filtered picture has planes.
TEST_P(FramePlans, JoinAnOriginalThatIsAnImage) {
    auto& executor = this->executor(2);
    const YuvInfo info{yuv_420, codings[0], siting_left, 1, 40, 60};
    std::mt19937 random(1);
    Picture filtered{FrameFormat(info)}, original(FrameFormat(Shape{1, 40, 60, 3})), original_planes{FrameFormat(info)};
    for (auto* const picture : {&filtered, &original}) picture->fill_with_noise(random);
    ImageToYuv(info, 3, executor).run(original.view().image, original_planes.view().planes);
    for (const auto* text : {"compare", "compare,median=3", "gaussian=3,compare=below"}) {
        SCOPED_TRACE(text);
        Runner runner(parse_chain(text), FrameFormat(info), {}, executor);
        for (int frame = 0; frame < 4; ++frame) {
            auto have = runner.run(filtered, original), want = runner.run(filtered, original_planes);
            EXPECT_EQ(difference(have, want), std::nullopt);
        }
    }
}

// On a GPU, frames are replayed from what was recorded for the slots of a ring, of which there may be more than graphs.
// Settings change on the way.
TEST_P(FramePlans, StayTheSameForManyFrames) {
    constexpr int frames = 60, change = 40;
    std::mt19937 random(7);
    const FrameFormat planes(YuvInfo{yuv_420, codings[0], siting_left, 1, 40, 66}), image(Shape{1, 40, 66, 3});
    for (const auto* text :
         {"gaussian=5", "gaussian=5,median=3", "adjust=brightness=20,gaussian=3", "gray,binarize=fixed",
          "mosaic=7,adjust=10", "scale=iw/2:ih/2,heatmap", "noise,flip", "gaussian=3,compare"})
        for (const auto& source : {planes, image})
            for (const bool to_planes : {true, false})
                for (const int slots : {3, static_cast<int>(RecordedRuns::most) + 3}) {
                    SCOPED_TRACE(
                        fmt::format("{} of {}, planes {}, {} slots", text, to_string(source), to_planes, slots));
                    const auto chain = parse_chain(text);
                    auto& executor = this->executor(2);
                    Executor one(BackendChoice::cpu, 1);
                    const auto shape = FramePlan(chain, source, one).result().shape();
                    std::optional<YuvInfo> sink;
                    if (to_planes) sink = YuvInfo{yuv_420, codings[0], siting_left, 1, shape.height, shape.width};
                    Runner runner(chain, source, sink, executor, slots);
                    Runner alone(chain, source, runner.plan().result().planes(), one);
                    for (int frame = 0; frame < frames; ++frame) {
                        if (frame == change) {
                            const Adjustment settings{.brightness = -30};
                            ASSERT_EQ(runner.plan().set_adjustment(settings), alone.plan().set_adjustment(settings));
                        }
                        Picture picture(source);
                        picture.fill_with_noise(random);
                        auto have = runner.run(picture), want = alone.run(picture);
                        if (have.format().planes() && !want.format().planes()) {
                            Picture converted(have.format());
                            ImageToYuv(*have.format().planes(), want.format().shape().channels, one)
                                .run(want.view().image, converted.view().planes);
                            want = std::move(converted);
                        }
                        ASSERT_EQ(difference(have, want), std::nullopt) << "frame " << frame;
                    }
                }
}

FRAMEWIRE_ON_EVERY_BACKEND(FramePlans);

std::string steps_of(const FramePlan& plan) {
    std::string text;
    for (const auto& step : plan.steps())
        text += fmt::format("{} [{}]{}; ", step.operation, step.format, step.reason.empty() ? "" : " " + step.reason);
    return text;
}

TEST(FramePlan, DescribesItsSteps) {
    Executor executor(BackendChoice::cpu, 1);
    const YuvInfo info{yuv_420, codings[0], siting_left, 1, 40, 60};
    const auto plan_of = [&](const char* text, const FrameFormat& source, const std::optional<YuvInfo>& sink) {
        FramePlan plan(parse_chain(text), source, executor);
        plan.deliver(sink);
        return steps_of(plan);
    };
    EXPECT_EQ(plan_of("gaussian=5", FrameFormat(info), info), "gaussian=5 [4:2:0]; ");
    EXPECT_EQ(plan_of("gaussian=5, median=3 ,mean=3", FrameFormat(info), {}),
              "gaussian=5 [4:2:0]; convert [4:2:0 to BGR] median needs colours; median=3 [BGR]; mean=3 [BGR]; ");
    EXPECT_EQ(plan_of("flip,flip", FrameFormat(info), info), "flip [4:2:0]; flip [4:2:0]; ");
    EXPECT_EQ(plan_of("flip", FrameFormat(info), info), "flip [4:2:0]; convert [4:2:0] chroma right to left; ");
    EXPECT_EQ(
        plan_of("gray", FrameFormat(info), info),
        "convert [4:2:0 to BGR] gray needs colours; gray [BGR] by strips; convert [BGR to 4:2:0] the output takes "
        "planes; by strips; ");
    EXPECT_EQ(plan_of("gray,binarize=fixed,median", FrameFormat(info), info),
              "convert [4:2:0 to BGR] gray needs colours; gray [BGR]; binarize=fixed [BGR] in one pass with the filter "
              "before; median [BGR]; convert [BGR to 4:2:0] the output takes planes; ");
    EXPECT_EQ(plan_of("flip", FrameFormat(info), {}), "convert [4:2:0 to BGR] the output takes images; flip [BGR]; ");
    EXPECT_EQ(plan_of("gaussian=5", FrameFormat(Shape{1, 40, 60, 1}), {}), "gaussian=5 [gray]; ");
    auto other = info;
    other.coding = codings[1];
    EXPECT_EQ(
        plan_of("mean=3", FrameFormat(info), other),
        fmt::format("mean=3 [4:2:0]; convert [4:2:0 to BGR] the output takes 4:2:0, {}; convert [BGR to 4:2:0] the "
                    "output takes planes; by strips; ",
                    to_string(codings[1])));
}

}  // namespace
}  // namespace framewire
