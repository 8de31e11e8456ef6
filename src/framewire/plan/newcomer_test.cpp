#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv_testing.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/rows.hpp"
#include "framewire/plan/chain_plan.hpp"
#include "framewire/plan/frame.hpp"
#include "framewire/plan/frame_plan.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

// Filters that only this file knows. Everything that plans do with filters follows from their registry entries, so a
// new filter is joined with its neighbours, runs on planes and runs by strips without a change of the plans.

namespace framewire {
namespace {

using namespace colour_testing;

// Pointwise: keeps the upper bits of each channel.
class Posterize {
public:
    Posterize(int bits, const Shape& shape, Executor& executor) : bits_(bits), shape_(shape), executor_(&executor) {}
    Shape output_shape() const { return shape_; }
    void run(const FilterImages<MemorySpace::host>& images) const {
        for_pixel_spans(executor_->pool(), images.in, images.out,
                        [&](const std::uint8_t* in, std::uint8_t* out, std::int64_t pixels) {
                            span(bits_, in, pixels * shape_.channels, out);
                        });
    }
    void run(const FilterImages<MemorySpace::device>&) const { fail(ErrorCode::internal, "only for the CPU"); }

    static void span(int bits, const std::uint8_t* in, std::int64_t bytes, std::uint8_t* out) {
        std::transform(in, in + bytes, out,
                       [bits](int value) { return static_cast<std::uint8_t>(value >> (8 - bits) << (8 - bits)); });
    }

private:
    int bits_;
    Shape shape_;
    Executor* executor_;
};

// Window: 1/4, 1/2, 1/4 along rows and columns, rounded once. It also runs by rows.
class Tent {
public:
    Tent(const Shape& shape, Executor& executor) : shape_(shape), executor_(&executor) {}
    Shape output_shape() const { return shape_; }
    void run(const FilterImages<MemorySpace::host>& images) const {
        for (int frame = 0; frame < shape_.frames; ++frame)
            run_rows(ImageRows<const std::uint8_t>(images.in.frames(frame, 1)),
                     ImageRows<std::uint8_t>(images.out.frames(frame, 1)));
    }
    void run(const FilterImages<MemorySpace::device>&) const { fail(ErrorCode::internal, "only for the CPU"); }

    bool works_by_rows() const { return executor_->backend() == Backend::cpu && shape_.frames == 1; }
    RowRange rows_needed(const RowRange& made) const {
        RowRange needed = made;
        for (int y = made.begin - 1; y <= made.end; ++y) {
            const int from = border_index(y, shape_.height, border);
            needed = {std::min(needed.begin, from), std::max(needed.end, from + 1)};
        }
        return needed;
    }
    void run_rows(const ImageRows<const std::uint8_t>& in, const ImageRows<std::uint8_t>& out) const {
        const int channels = shape_.channels;
        for (int y = out.range().begin; y < out.range().end; ++y)
            for (int x = 0; x < shape_.width; ++x)
                for (int channel = 0; channel < channels; ++channel) {
                    int sum = 0;
                    for (int down = -1; down <= 1; ++down)
                        for (int along = -1; along <= 1; ++along)
                            sum += (2 - down * down) * (2 - along * along) *
                                   in.row(border_index(
                                       y + down, shape_.height,
                                       border))[border_index(x + along, shape_.width, border) * channels + channel];
                    out.row(y)[x * channels + channel] = static_cast<std::uint8_t>((sum + 8) / 16);
                }
    }

    static constexpr auto border = Border::reflect101;

private:
    Shape shape_;
    Executor* executor_;
};

const std::vector<FilterInfo>& registry() {
    static const std::vector<FilterInfo> filters = [] {
        const auto same_shape = [](const ParameterValues&, const Shape& shape) { return shape; };
        auto all = filter_registry();
        all.push_back({.name = "posterize",
                       .summary = "",
                       .parameters = {{.name = "bits",
                                       .help = "",
                                       .type = ParameterInfo::Type::integer,
                                       .default_value = "2",
                                       .minimum = 1,
                                       .maximum = 8}},
                       .output_shape = same_shape,
                       .make = [](const ParameterValues& values, const Shape& shape,
                                  Executor& executor) -> std::unique_ptr<Filter> {
                           return std::make_unique<FilterOf<Posterize>>(static_cast<int>(values.integer("bits")), shape,
                                                                        executor);
                       },
                       .pointwise = [](const ParameterValues& values) -> std::optional<PointwiseOp> {
                           return PointwiseOp{.filter = "posterize",
                                              .values = {static_cast<int>(values.integer("bits"))},
                                              .run =
                                                  [](const PointwiseOp& op, const PointwiseSpan& span) {
                                                      Posterize::span(op.values[0], span.in,
                                                                      span.pixels * span.channels, span.out);
                                                  },
                                              .keeps_gray = true,
                                              .takes_gray = true};
                       }});
        all.push_back(
            {.name = "tent",
             .summary = "",
             .parameters = {},
             .output_shape = same_shape,
             .make = [](const ParameterValues&, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
                 return std::make_unique<FilterOf<Tent>>(shape, executor);
             },
             .kind = [](const ParameterValues&) -> FilterKind {
                 return SeparableWindow{{0.25, 0.5, 0.25}, 1, Tent::border};
             }});
        return all;
    }();
    return filters;
}

// Runs the filters of a chain on an image, each made from its registry entry.
HostImage one_by_one(const Chain& chain, HostImage image) {
    Executor executor(BackendChoice::cpu, 1);
    for (const auto& call : chain.calls) {
        const auto filter = call.filter->make(call.values, image.shape(), executor);
        HostImage result(filter->output_shape());
        filter->run(FilterImages<MemorySpace::host>{std::as_const(image).view(), {}, result.view()});
        image = std::move(result);
    }
    return image;
}

std::optional<std::string> difference(const YuvPicture& have, const YuvPicture& want) {
    for (int plane = 0; plane < want.info().planes(); ++plane)
        if (const auto place =
                kit::first_difference(image_of_plane(have.view(), plane), image_of_plane(want.view(), plane)))
            return fmt::format("plane {}: {}", plane, *place);
    return {};
}

std::string steps_of(const FramePlan& plan) {
    std::string text;
    for (const auto& step : plan.steps())
        text += fmt::format("{} [{}]{}; ", step.operation, step.format, step.reason.empty() ? "" : " " + step.reason);
    return text;
}

TEST(Newcomers, ArePartOfAPassOverPixels) {
    const auto chain = parse_chain("gray=channels=1,posterize=3,adjust=20,tent,posterize,heatmap", registry());
    for (const int threads : {1, 3})
        for (const auto& shape : {Shape{1, 37, 53, 3}, Shape{2, 5, 16, 1}, Shape{1, 360, 640, 3}}) {
            SCOPED_TRACE(fmt::format("{} with {} threads", to_string(shape), threads));
            Executor executor(BackendChoice::cpu, threads);
            ChainPlan plan({chain.text, {chain.calls.begin(), chain.calls.end() - 1}}, shape, executor);
            EXPECT_EQ(plan.joined_filters(), (std::vector<bool>{false, true, true, false, false}));
            HostImage image(shape), have(plan.output_shape());
            kit::fill(image.view(), kit::Fill::noise);
            plan.run(std::as_const(image).view(), have.view());
            const auto want = one_by_one({chain.text, {chain.calls.begin(), chain.calls.end() - 1}}, std::move(image));
            EXPECT_EQ(kit::first_difference(std::as_const(have).view(), want.view()), std::nullopt);
        }
    Executor executor(BackendChoice::cpu, 1);
    EXPECT_EQ(ChainPlan(chain, {1, 37, 53, 3}, executor).joined_filters(),
              (std::vector<bool>{false, true, true, false, false, true}));
}

// Luma is filtered as a gray image; chroma of one value keeps it.
TEST(Newcomers, RunOnPlanes) {
    Executor executor(BackendChoice::cpu, 2);
    for (const auto format : {yuv_420, yuv_422, yuv_444, yuv_gray})
        for (const auto& siting : sitings) {
            const YuvInfo info{format, codings[2], siting, 1, 66, 98};
            SCOPED_TRACE(to_string(info));
            const auto chain = parse_chain("tent,crop=iw-6:ih-4:2:2,tent", registry());
            FramePlan plan(chain, FrameFormat(info), executor);
            const auto name = to_string(format);
            EXPECT_EQ(steps_of(plan), fmt::format("tent [{0}]; crop=iw-6:ih-4:2:2 [{0}]; tent [{0}]; ", name));

            YuvPicture picture(info);
            for (int plane = 0; plane < info.planes(); ++plane)
                kit::fill(image_of_plane(picture.view(), plane), kit::Fill::noise, static_cast<std::uint64_t>(plane));
            std::optional<YuvPicture> now;
            for (const auto& call : chain.calls) {
                FramePlan one({chain.text, {call}}, FrameFormat(now ? now->info() : info), executor);
                YuvPicture next(*one.result().planes());
                const auto in = std::as_const(now ? *now : picture).view();
                one.run(in, in, PictureView<std::uint8_t, MemorySpace::host>(next.view()));
                now = std::move(next);
            }
            YuvPicture have(*plan.result().planes());
            plan.run(std::as_const(picture).view(), std::as_const(picture).view(),
                     PictureView<std::uint8_t, MemorySpace::host>(have.view()));
            EXPECT_EQ(difference(have, *now), std::nullopt);

            HostImage luma({1, info.height, info.width, 1});
            copy(image_of_plane(std::as_const(picture).view(), 0), luma.view());
            const auto want = one_by_one(chain, std::move(luma));
            EXPECT_EQ(kit::first_difference(image_of_plane(std::as_const(have).view(), 0), want.view()), std::nullopt);

            for (int plane = 1; plane < info.planes(); ++plane)
                kit::fill(image_of_plane(picture.view(), plane), kit::Fill::full);
            plan.run(std::as_const(picture).view(), std::as_const(picture).view(),
                     PictureView<std::uint8_t, MemorySpace::host>(have.view()));
            for (int plane = 1; plane < info.planes(); ++plane) {
                const auto chroma = image_of_plane(std::as_const(have).view(), plane);
                HostImage full(chroma.shape());
                kit::fill(full.view(), kit::Fill::full);
                EXPECT_EQ(kit::first_difference(chroma, std::as_const(full).view()), std::nullopt);
            }
        }
}

TEST(Newcomers, RunByStrips) {
    const auto chain = parse_chain("gray,tent,posterize=3,binarize=fixed", registry());
    for (const int threads : {1, 3})
        for (const auto& [height, width] : {std::pair{2, 3}, std::pair{64, 65}, std::pair{360, 640}}) {
            const YuvInfo info{yuv_420, codings[2], siting_left, 1, height, width};
            SCOPED_TRACE(fmt::format("{} with {} threads", to_string(info), threads));
            Executor executor(BackendChoice::cpu, threads);
            FramePlan plan(chain, FrameFormat(info), executor);
            plan.deliver(info);
            EXPECT_EQ(
                steps_of(plan),
                "convert [4:2:0 to BGR] gray needs colours; gray [BGR] by strips; tent [BGR] by strips; "
                "posterize=3 [BGR] by strips; binarize=fixed [BGR] in one pass with the filter before; by strips; "
                "convert [BGR to 4:2:0] the output takes planes; by strips; ");
            YuvPicture picture(info), have(info), want(info);
            for (int plane = 0; plane < 3; ++plane)
                kit::fill(image_of_plane(picture.view(), plane), kit::Fill::noise, static_cast<std::uint64_t>(plane));
            plan.run(std::as_const(picture).view(), std::as_const(picture).view(),
                     PictureView<std::uint8_t, MemorySpace::host>(have.view()));
            HostImage image({1, height, width, 3});
            YuvToImage(info, 3, executor).run(std::as_const(picture).view(), image.view());
            const auto filtered = one_by_one(chain, std::move(image));
            ImageToYuv(info, 3, executor).run(filtered.view(), want.view());
            EXPECT_EQ(difference(have, want), std::nullopt);
        }
}

}  // namespace
}  // namespace framewire
