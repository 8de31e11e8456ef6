#include "framewire/plan/planar_filter.hpp"
#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv_testing.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/error.hpp"
#include "framewire/filters/compare.hpp"
#include "framewire/plan/chain_plan.hpp"
#include "framewire/plan/frame_plan.hpp"
#include "kit/filter_check.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace framewire {
namespace {

using namespace colour_testing;

constexpr YuvCoding coding{YuvMatrix::bt709, false};

YuvInfo info_of(const YuvFormat& format, const ChromaSiting& siting, int height, int width) {
    return {format, coding, siting, 1, height, width};
}

YuvInfo of_size(YuvInfo info, const Shape& shape) {
    info.height = shape.height;
    info.width = shape.width;
    return info;
}

HostView<const std::uint8_t> plane_of(const HostYuv<const std::uint8_t>& picture, int plane) {
    const auto& own = picture.planes[static_cast<std::size_t>(plane)];
    const Shape shape{1, picture.info.plane_rows(plane), static_cast<int>(picture.info.plane_row_bytes(plane)), 1};
    return {own.data, shape, own.row_stride_bytes, own.row_stride_bytes * shape.height};
}

struct Place {
    double x, y;
};

// Returns the site of a sample of chroma, in pixels from the upper left corner of the first one.
Place place_of(const YuvInfo& info, int x, int y) {
    const auto chroma = info.format.chroma;
    return {site(x, chroma != ChromaSampling::s444, info.siting.centred_x) + 0.5,
            site(y, chroma == ChromaSampling::s420, info.siting.centred_y) + 0.5};
}

// Which sample of chroma sits at such a place, mostly between two.
Place sample_at(const YuvInfo& info, const Place& place) {
    const auto first = place_of(info, 0, 0), next = place_of(info, 1, 1);
    return {(place.x - first.x) / (next.x - first.x), (place.y - first.y) / (next.y - first.y)};
}

// Returns the place in the image that a place of the result comes from.
Place back(const PlaneMap& map, const Place& place) {
    const double x = place.x - map.x0, y = place.y - map.y0, area = map.xx * map.yy - map.xy * map.yx;
    return {(map.yy * x - map.xy * y) / area, (map.xx * y - map.yx * x) / area};
}

double linear_at(HostView<const std::uint8_t> plane, const Place& at) {
    const auto sample = [&](int x, int y) {
        const auto& shape = plane.shape();
        return plane.row(0, std::clamp(y, 0, shape.height - 1))[std::clamp(x, 0, shape.width - 1)];
    };
    const int x = static_cast<int>(std::floor(at.x)), y = static_cast<int>(std::floor(at.y));
    const double right = at.x - x, down = at.y - y;
    return (1 - down) * ((1 - right) * sample(x, y) + right * sample(x + 1, y)) +
           down * ((1 - right) * sample(x, y + 1) + right * sample(x + 1, y + 1));
}

// A chain whose filters all run on planes.
class OnPlanes {
public:
    // Returns nothing for other chains.
    static std::optional<OnPlanes> of(const Chain& chain, const YuvInfo& from, const YuvInfo& to, Executor& executor) {
        OnPlanes planes(std::make_unique<FramePlan>(chain, FrameFormat(from), executor));
        if (!planes.plan_->result().planes()) return std::nullopt;
        planes.plan_->deliver(to);
        if (planes.plan_->result() != FrameFormat(to)) return std::nullopt;
        return planes;
    }
    std::shared_ptr<const YuvPicture> run(const HostYuv<const std::uint8_t>& from) {
        auto result = std::make_shared<YuvPicture>(*plan_->result().planes());
        plan_->run(from, from, PictureView<std::uint8_t, MemorySpace::host>(result->view()));
        return result;
    }
    std::vector<ChainFigures> figures() const { return plan_->figures(); }

private:
    explicit OnPlanes(std::unique_ptr<FramePlan> plan) : plan_(std::move(plan)) {}
    std::unique_ptr<FramePlan> plan_;
};

// A picture and what a chain makes of it.
struct Made {
    YuvInfo from, to;
    GuardedYuv picture;
    ChainPlan of_luma;  // the same chain for gray images
    std::shared_ptr<const YuvPicture> result;
};

Made make(const char* filters, const YuvInfo& from, Executor& executor, const std::function<void(GuardedYuv&)>& fill) {
    const auto chain = parse_chain(filters);
    ChainPlan of_luma(chain, {1, from.height, from.width, 1}, executor);
    const auto to = of_size(from, of_luma.output_shape());
    Made made{from, to, GuardedYuv(from, {.offset_bytes = 1, .row_padding_bytes = 7}, Backend::cpu), std::move(of_luma),
              nullptr};
    fill(made.picture);
    auto planes = OnPlanes::of(chain, from, to, executor);
    if (!planes) throw std::runtime_error("a filter needs colours");
    made.result = planes->run(made.picture.host());
    return made;
}

void expect_luma_of_gray_chain(Made& made) {
    HostImage want(made.of_luma.output_shape());
    made.of_luma.run(plane_of(made.picture.host(), 0), want.view());
    EXPECT_EQ(kit::first_difference(plane_of(made.result->view(), 0), want.view()), std::nullopt);
}

// Calls `check(plane, x, y, have, at)` for each sample of chroma; `at` is the sample of the image that it comes from.
template <class Check>
void for_each_chroma(const Made& made, Check&& check) {
    for (int plane = 1; plane < made.to.planes(); ++plane) {
        const auto have = plane_of(std::as_const(*made.result).view(), plane);
        for (int y = 0; y < have.shape().height; ++y)
            for (int x = 0; x < have.shape().width; ++x)
                check(plane, x, y, have.row(0, y)[x],
                      sample_at(made.from, back(made.of_luma.placement(), place_of(made.to, x, y))));
    }
}

const auto noise = [](GuardedYuv& picture) { picture.fill(kit::Fill::noise, 3); };

// Luma as gray images; chroma of each place from the nearest samples there, for all sitings, sides and parts of
// vectors.
TEST(PlanarFilter, MovesChromaWithItsPixels) {
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        Executor executor(BackendChoice::cpu, 2);
        for (const auto format : {yuv_420, yuv_422, yuv_444})
            for (const auto& siting : sitings)
                for (const auto* filters : {"rotate=90", "rotate=270", "rotate=180", "flip", "flip=vertical",
                                            "crop=iw-5:ih-6:3:5", "crop=iw-4:ih-4:2:2,rotate=90:size=whole"})
                    for (const auto& [height, width] : {std::pair{70, 134}, std::pair{131, 67}, std::pair{8, 9}}) {
                        const auto from = info_of(format, siting, height, width);
                        const bool turns = std::string_view(filters).find("90") != std::string_view::npos ||
                                           std::string_view(filters).find("270") != std::string_view::npos;
                        if (turns && format == yuv_422) continue;
                        SCOPED_TRACE(fmt::format("{}: {}", filters, to_string(from)));
                        auto made = make(filters, from, executor, noise);
                        expect_luma_of_gray_chain(made);
                        for_each_chroma(made, [&](int plane, int x, int y, int have, const Place& at) {
                            // Cropped pictures do not show the samples outside of the crop.
                            if (std::string_view(filters).starts_with("crop=iw-4") &&
                                (std::min(x, y) < 2 || x + 3 > made.to.chroma_width() ||
                                 y + 3 > made.to.chroma_height()))
                                return;
                            ASSERT_NEAR(have, linear_at(plane_of(made.picture.host(), plane), at), 0.52)
                                << plane << ": " << x << ',' << y;
                        });
                        if (::testing::Test::HasFailure()) return;
                    }
    });
}

// A colour that grows evenly from left to right and down does so in the result, at the places where chroma sits there.
TEST(PlanarFilter, ScalesChromaAtItsSites) {
    Executor executor(BackendChoice::cpu, 2);
    for (const auto format : {yuv_420, yuv_422, yuv_444})
        for (const auto& siting : sitings)
            for (const auto* filters :
                 {"scale=50%:50%:area", "scale=50%:50%:bilinear", "scale=iw*4/3:ih*3/2", "scale=iw*2/3:ih/2:lanczos",
                  "scale=iw/3:ih*2", "scale=iw*5/4:ih*3/4:bilinear,crop=120:100:32:4"}) {
                const auto from = info_of(format, siting, 150, 203);
                SCOPED_TRACE(fmt::format("{}: {}", filters, to_string(from)));
                const auto colour = [&](int plane, const Place& at) {
                    return plane == 1 ? 25 + at.x * 0.87131 + at.y * 0.31713 : 230 - at.y * 0.7371 - at.x * 0.4113;
                };
                auto made = make(filters, from, executor, [&](GuardedYuv& picture) {
                    picture.fill(kit::Fill::noise, 1);
                    for (int plane = 1; plane < 3; ++plane)
                        for (int y = 0; y < from.chroma_height(); ++y)
                            for (int x = 0; x < from.chroma_width(); ++x)
                                picture.host().planes[static_cast<std::size_t>(plane)].row(0, y)[x] =
                                    static_cast<std::uint8_t>(std::lround(colour(plane, {1.0 * x, 1.0 * y})));
                });
                expect_luma_of_gray_chain(made);
                constexpr double rim = 10;  // whose samples are repeated beyond the picture
                double errors[3] = {}, count = 0;
                for_each_chroma(made, [&](int plane, int x, int y, int have, const Place& at) {
                    if (at.x < rim || at.x > from.chroma_width() - rim || at.y < rim ||
                        at.y > from.chroma_height() - rim)
                        return;
                    ASSERT_NEAR(have, colour(plane, at), 1.6) << plane << ": " << x << ',' << y;
                    errors[plane] += have - colour(plane, at);
                    ++count;
                });
                // A quarter of a sample from its place one of them would be off by .18 everywhere; means of four,
                // rounded half up, are by .12.
                for (const int plane : {1, 2}) EXPECT_NEAR(errors[plane] / (count / 2), 0, 0.14);
                if (::testing::Test::HasFailure()) return;
            }
}

// A picture whose colours BGR has: noise near gray, and blocks of other colours.
void paint_in_gamut(GuardedYuv& picture) {
    picture.fill(kit::Fill::noise, 5);
    const auto info = picture.host().info;
    const bool full = info.coding.full_range;
    for (int plane = 0; plane < info.planes(); ++plane)
        for (int y = 0; y < info.plane_rows(plane); ++y) {
            auto* row = picture.host().planes[static_cast<std::size_t>(plane)].row(0, y);
            for (int x = 0; x < static_cast<int>(info.plane_row_bytes(plane)); ++x) {
                const bool block = (x / 5 + y / 3) % 3 == 0;
                row[x] = static_cast<std::uint8_t>(plane == 0 ? 90 + row[x] % (full ? 70 : 60)
                                                   : block    ? 128 + (plane == 1 ? 24 : -20)
                                                              : 116 + row[x] % 24);
            }
        }
}

// Each sample within 2 of the way over BGR, and all of them near it: a peak signal-to-noise ratio of so many dB.
void expect_as_by_way_of_bgr(const Made& made, const char* filters, Executor& executor, double least_db) {
    const auto& info = made.from;
    ChainPlan whole(parse_chain(filters), {1, info.height, info.width, 3}, executor);
    HostImage image({1, info.height, info.width, 3}), filtered(image.shape());
    YuvPicture want(info);
    YuvToImage(info, 3, executor).run(made.picture.host(), image.view());
    whole.run(image.view(), filtered.view());
    ImageToYuv(info, 3, executor).run(filtered.view(), want.view());
    for (int plane = 0; plane < 3; ++plane) {
        const auto have = plane_of(std::as_const(*made.result).view(), plane),
                   by_bgr = plane_of(std::as_const(want).view(), plane);
        double squares = 0;
        for (int y = 0; y < have.shape().height; ++y)
            for (int x = 0; x < have.shape().width; ++x) {
                const int difference = have.row(0, y)[x] - by_bgr.row(0, y)[x];
                ASSERT_LE(std::abs(difference), 2) << plane << ": " << x << ',' << y;
                squares += difference * difference;
            }
        EXPECT_GT(10 * std::log10(255.0 * 255 * have.shape().width * have.shape().height / squares), least_db) << plane;
    }
}

// Means on planes equal those through BGR, except for the rounding of BGR: chroma and borders of all sitings
// and sides.
TEST(PlanarFilter, ComputesTheSameMeansAsThroughBgr) {
    Executor executor(BackendChoice::cpu, 2);
    std::size_t turn = 0;
    for (const auto format : {yuv_420, yuv_422, yuv_444})
        for (const auto& siting : sitings)
            for (const auto* filters : {"gaussian=5", "gaussian=31:sigma=5", "gaussian=6:sigma=1.3:border=replicate",
                                        "gaussian=0:sigma=10", "gaussian=9:rounding=opencv", "mean=3", "mean=4",
                                        "mean=21:border=replicate", "mosaic=16", "mosaic=7", "mosaic=500", "mosaic=1"})
                for (const auto& [height, width] : {std::pair{72, 134}, std::pair{67, 131}, std::pair{3, 5}}) {
                    auto info = info_of(format, siting, height, width);
                    info.coding = codings[turn++ % std::size(codings)];
                    SCOPED_TRACE(fmt::format("{}: {}", filters, to_string(info)));
                    auto made = make(filters, info, executor, paint_in_gamut);
                    expect_luma_of_gray_chain(made);
                    expect_as_by_way_of_bgr(made, filters, executor, height > 10 ? 48 : 42);
                    if (::testing::Test::HasFailure()) return;
                }
}

// So are levels, where the colours stay inside of BGR. On the way there and back coarse chroma is smoothed, which
// planes spare it: there each sample is what one as fine as luma becomes.
TEST(PlanarFilter, AdjustsLevelsAsThroughBgr) {
    Executor executor(BackendChoice::cpu, 2);
    for (const auto& own : codings)
        for (const auto* filters : {"adjust=brightness=20:contrast=1.2", "adjust=gain=0.8", "adjust=brightness=-30",
                                    "adjust=saturation=0.4", "adjust=contrast=0.5:saturation=1.3"}) {
            auto fine = info_of(yuv_444, siting_left, 67, 131), coarse = info_of(yuv_420, siting_left, 134, 262);
            fine.coding = coarse.coding = own;
            SCOPED_TRACE(fmt::format("{}: {}", filters, to_string(fine)));
            const bool saturates = std::string_view(filters).find("saturation") != std::string_view::npos;
            if (saturates && own.matrix != YuvMatrix::bt601) {
                EXPECT_FALSE(OnPlanes::of(parse_chain(filters), fine, fine, executor)) << "another gray";
                continue;
            }
            const auto made = make(filters, fine, executor, paint_in_gamut);
            expect_as_by_way_of_bgr(made, filters, executor, 46);
            const auto halved = make(filters, coarse, executor, [&](GuardedYuv& picture) {
                picture.fill(kit::Fill::noise, 1);
                for (int plane = 1; plane < 3; ++plane) {
                    const auto samples = plane_of(made.picture.host(), plane);
                    for (int y = 0; y < samples.shape().height; ++y)
                        std::copy_n(samples.row(0, y), samples.shape().width,
                                    picture.host().planes[static_cast<std::size_t>(plane)].row(0, y));
                }
            });
            for (int plane = 1; plane < 3; ++plane)
                EXPECT_EQ(kit::first_difference(plane_of(std::as_const(*halved.result).view(), plane),
                                                plane_of(std::as_const(*made.result).view(), plane)),
                          std::nullopt);
        }
}

// A mosaic tells the means of the picture's channels, on planes too.
TEST(PlanarFilter, ReportsTheResultsOfAMosaic) {
    Executor executor(BackendChoice::cpu, 2);
    for (const auto format : {yuv_420, yuv_422, yuv_444})
        for (const auto& own : codings) {
            auto info = info_of(format, siting_left, 67, 131);
            info.coding = own;
            SCOPED_TRACE(to_string(info));
            GuardedYuv picture(info, {}, Backend::cpu);
            paint_in_gamut(picture);
            auto planes = OnPlanes::of(parse_chain("flip,mosaic=16"), info, info, executor);
            ASSERT_TRUE(planes);
            EXPECT_TRUE(planes->figures().empty()) << "before the first run";
            planes->run(picture.host());
            ChainPlan whole(parse_chain("flip,mosaic=16"), {1, 67, 131, 3}, executor);
            HostImage image({1, 67, 131, 3}), filtered(image.shape());
            YuvToImage(info, 3, executor).run(picture.host(), image.view());
            whole.run(image.view(), filtered.view());
            const auto have = planes->figures(), want = whole.figures();
            ASSERT_EQ(have.size(), 1U);
            EXPECT_EQ(have[0].filter, "mosaic");
            ASSERT_EQ(have[0].figures.size(), want.at(0).figures.size());
            for (std::size_t at = 0; at < 3; ++at) {
                EXPECT_EQ(have[0].figures[at].name, want[0].figures[at].name);
                EXPECT_NEAR(have[0].figures[at].value, want[0].figures[at].value, 0.8);
            }
        }
}

TEST(PlanarFilter, ChromaMeansAreTheSameForEveryInstructionSet) {
    Executor executor(BackendChoice::cpu, 2);
    const auto info = info_of(yuv_420, siting_left, 77, 331);
    std::shared_ptr<const YuvPicture> first;
    kit::for_each_instruction_set(Backend::cpu, [&](const std::string& instruction_set) {
        SCOPED_TRACE(instruction_set);
        const auto made = make("gaussian=31:sigma=5", info, executor, noise);
        if (!first) first = made.result;
        for (int plane = 0; plane < 3; ++plane)
            EXPECT_EQ(kit::first_difference(plane_of(std::as_const(*made.result).view(), plane),
                                            plane_of(std::as_const(*first).view(), plane)),
                      std::nullopt);
    });
}

// Each plane as gray images are put beside each other.
TEST(PlanarFilter, PutsTheOriginalBesideTheResult) {
    Executor executor(BackendChoice::cpu, 2);
    for (const auto format : {yuv_420, yuv_422, yuv_444})
        for (const auto& [words, parameters] : {std::pair{"left", CompareParameters{CompareMode::left}},
                                                {"right", CompareParameters{CompareMode::right}},
                                                {"above", CompareParameters{CompareMode::above}},
                                                {"below", CompareParameters{CompareMode::below}},
                                                {"split:at=25", CompareParameters{CompareMode::split, 25}}}) {
            const auto from = info_of(format, siting_left, 70, 136);
            SCOPED_TRACE(fmt::format("{}: {}", words, to_string(from)));
            const auto alone = make("gaussian=5", from, executor, noise);
            const auto chain = parse_chain(fmt::format("gaussian=5,compare={}", words));
            const auto shape = ChainPlan(chain, {1, from.height, from.width, 3}, executor).output_shape();
            auto planes = OnPlanes::of(chain, from, of_size(from, shape), executor);
            ASSERT_TRUE(planes);
            const auto have = planes->run(alone.picture.host());
            for (int plane = 0; plane < 3; ++plane) {
                const auto original = plane_of(alone.picture.host(), plane),
                           filtered = plane_of(std::as_const(*alone.result).view(), plane);
                const Compare compare(parameters, filtered.shape(), original.shape(), executor);
                HostImage want(compare.output_shape());
                compare.run({filtered, {}, want.view(), original});
                EXPECT_EQ(kit::first_difference(plane_of(std::as_const(*have).view(), plane), want.view()),
                          std::nullopt)
                    << plane;
            }
        }
}

bool draws_on(const ImageArea& area, const YuvInfo& info, int plane, int y, int x) {
    const int each_x = plane && info.format.chroma != ChromaSampling::s444 ? 2 : 1;
    const int each_y = plane && info.format.chroma == ChromaSampling::s420 ? 2 : 1;
    return x * each_x < area.columns.end && (x + 1) * each_x > area.columns.begin && y * each_y < area.rows.end &&
           (y + 1) * each_y > area.rows.begin;
}

// FRAMEWIRE_TEST_FONT names a font file if fontconfig knows none.
std::string with_test_font(std::string filters) {
    const char* font = std::getenv("FRAMEWIRE_TEST_FONT");
    if (!font) return filters;
    for (std::size_t at = 0; (at = filters.find(":x=", at)) != std::string::npos;) {
        const auto option = fmt::format(":font='{}'", font);
        filters.insert(at, option);
        at += option.size() + 1;
    }
    return filters;
}

// Text changes only the samples under it, to those of the conversion to BGR and back.
TEST(PlanarFilter, KeepsPixelsThatAreNotDrawnOn) {
    Executor executor(BackendChoice::cpu, 2);
    for (const auto format : {yuv_420, yuv_422, yuv_444})
        for (const auto& siting : sitings)
            for (const auto* filters :
                 {"text=ab:x=5:y=3:size=20", "text=ab:x=31:y=41:size=16:box=black@0.5", "text=' ':x=3:y=3"}) {
                const auto info = info_of(format, siting, 97, 131);
                SCOPED_TRACE(fmt::format("{}: {}", filters, to_string(info)));
                const auto chain = parse_chain(with_test_font(filters));
                const Shape shape{1, info.height, info.width, 3};
                ChainPlan whole(chain, shape, executor);
                auto planes = OnPlanes::of(chain, info, info, executor);
                ASSERT_TRUE(planes);
                GuardedYuv picture(info, {}, Backend::cpu);
                picture.fill(kit::Fill::noise, 1);
                HostImage image(shape), filtered(shape);
                YuvPicture over_images(info);
                YuvToImage(info, 3, executor).run(picture.host(), image.view());
                whole.run(image.view(), filtered.view());
                ImageToYuv(info, 3, executor).run(filtered.view(), over_images.view());

                const auto& call = chain.calls.front();
                const auto area = *call.filter->make(call.values, shape, executor)->changed_area();
                const auto have = planes->run(picture.host());
                int drawn = 0;
                for (int plane = 0; plane < info.planes(); ++plane) {
                    const auto at = static_cast<std::size_t>(plane);
                    for (int y = 0; y < info.plane_rows(plane); ++y)
                        for (int x = 0; x < static_cast<int>(info.plane_row_bytes(plane)); ++x) {
                            const bool is_drawn = draws_on(area, info, plane, y, x);
                            const auto* want = is_drawn ? over_images.view().planes[at].row(0, y)
                                                        : picture.host().planes[at].row(0, y);
                            drawn += is_drawn;
                            ASSERT_EQ(have->view().planes[at].row(0, y)[x], want[x]) << plane << ": " << x << ',' << y;
                        }
                }
                EXPECT_EQ(drawn > 0, std::string_view(filters) != "text=' ':x=3:y=3");
            }
}

TEST(PlanarFilter, KeepsUniformColours) {
    Executor executor(BackendChoice::cpu, 2);
    for (const auto* filters : {"rotate=90", "flip", "scale=iw*3:ih*2:lanczos", "scale=20%:30%:area", "scale=17:1000",
                                "gaussian=31:sigma=5", "mean=7"}) {
        const auto made = make(filters, info_of(yuv_420, siting_left, 50, 75), executor,
                               [](GuardedYuv& picture) { picture.fill(kit::Fill::full, 0); });
        for_each_chroma(made, [](int, int, int, int have, const Place&) { ASSERT_EQ(have, 255); });
    }
}

// Mirroring and turning only move samples, so that going back restores the picture, wherever chroma is sited.
TEST(PlanarFilter, IsLosslessIfSamplesOnlyMove) {
    Executor executor(BackendChoice::cpu, 2);
    for (const auto& siting : sitings)
        for (const auto& [filters, height, width] : {std::tuple{"rotate=90,rotate=270", 66, 98},
                                                     {"rotate=-90,flip,rotate=90,flip=vertical", 66, 98},
                                                     {"rotate=90,rotate=90,rotate=90,rotate=90", 66, 98},
                                                     {"pad=iw+8:ih+6:4:2,crop=iw-8:ih-6:4:2", 66, 98},
                                                     {"flip,flip", 66, 98},
                                                     {"flip=both,flip=vertical,flip", 66, 98},
                                                     {"crop=iw:ih,scale=iw:ih,adjust,pad=iw:ih,mean=1", 66, 98}}) {
            SCOPED_TRACE(filters);
            const auto info = info_of(yuv_420, siting, height, width);
            SCOPED_TRACE(to_string(info));
            const auto made = make(filters, info, executor, noise);
            for (int plane = 0; plane < 3; ++plane)
                EXPECT_EQ(kit::first_difference(plane_of(std::as_const(*made.result).view(), plane),
                                                plane_of(made.picture.host(), plane)),
                          std::nullopt);
        }
}

// Identities change nothing, whatever is beside them.
TEST(PlanarFilter, EqualsTheChainWithIdentities) {
    Executor executor(BackendChoice::cpu, 2);
    for (const auto& siting : sitings)
        for (const std::string filters : {"gaussian=5", "mean=4", "mosaic=7", "scale=50%", "adjust=contrast=1.2",
                                          "crop=iw-5:ih-6:3:5", "flip", "rotate=90"})
            for (const auto* identity : {"crop=iw:ih", "flip,flip", "flip=vertical,flip=vertical",
                                         "flip=both,flip=both", "adjust", "scale=iw:ih", "pad=iw:ih"}) {
                const auto info = info_of(yuv_420, siting, 66, 98);
                SCOPED_TRACE(fmt::format("{} and {}: {}", filters, identity, to_string(info)));
                const auto alone = make(filters.c_str(), info, executor, noise);
                for (const auto& with :
                     {fmt::format("{},{}", filters, identity), fmt::format("{},{}", identity, filters)}) {
                    const auto made = make(with.c_str(), info, executor, noise);
                    for (int plane = 0; plane < 3; ++plane)
                        EXPECT_EQ(kit::first_difference(plane_of(std::as_const(*made.result).view(), plane),
                                                        plane_of(std::as_const(*alone.result).view(), plane)),
                                  std::nullopt)
                            << with << ", plane " << plane;
                }
            }
}

TEST(PlanarFilter, ConvertsTheCodingLast) {
    Executor executor(BackendChoice::cpu, 2);
    const auto from = info_of(yuv_420, siting_left, 120, 200);
    const auto chain = parse_chain("scale=50%");
    const auto same = of_size(from, {1, 60, 100, 3});
    auto other = same;
    other.coding = {YuvMatrix::bt601, false};
    auto plain = OnPlanes::of(chain, from, same, executor), recoded = OnPlanes::of(chain, from, other, executor);
    ASSERT_TRUE(plain && recoded);
    GuardedYuv picture(from, {}, Backend::cpu);
    noise(picture);
    HostImage image({1, 60, 100, 3});
    YuvPicture want(other);
    YuvToImage(same, 3, executor).run(plain->run(picture.host())->view(), image.view());
    ImageToYuv(other, 3, executor).run(image.view(), want.view());
    const auto have = recoded->run(picture.host());
    for (int plane = 0; plane < 3; ++plane)
        EXPECT_EQ(kit::first_difference(plane_of(have->view(), plane), plane_of(std::as_const(want).view(), plane)),
                  std::nullopt);
}

TEST(PlanarFilter, NeedsColoursForOtherFilters) {
    Executor executor(BackendChoice::cpu, 2);
    const auto from = info_of(yuv_420, siting_left, 40, 60);
    const auto is_of = [&](const char* filters, const YuvInfo& to, std::optional<YuvInfo> own = {}) {
        return OnPlanes::of(parse_chain(filters), own.value_or(from), to, executor).has_value();
    };
    EXPECT_TRUE(is_of("rotate=90", of_size(from, {1, 60, 40, 3})));
    EXPECT_TRUE(is_of("pad=64:44:2:2", of_size(from, {1, 44, 64, 3})));
    EXPECT_TRUE(is_of("gaussian=31:sigma=5,mean", from));
    EXPECT_FALSE(is_of("gaussian=5:border=zero", from)) << "which is no black of planes";
    EXPECT_FALSE(is_of("mean=65", from)) << "which is wide";
    EXPECT_TRUE(is_of("adjust=brightness=20:contrast=1.2,mosaic", from));
    EXPECT_FALSE(is_of("adjust=contrast=2.1", from)) << "which is steep";
    EXPECT_FALSE(is_of("mosaic=8:zone='0,0,16,16'", from)) << "which leaves the rest as it is";
    EXPECT_FALSE(is_of("gaussian,gray", from));
    EXPECT_TRUE(is_of("gaussian,compare,flip=vertical", of_size(from, {1, 40, 120, 3})));
    const auto centred = info_of(yuv_420, siting_centre, 40, 60);
    EXPECT_TRUE(is_of("flip,compare=split", centred, centred));
    EXPECT_FALSE(is_of("flip,compare=split", from)) << "whose halves have chroma at other places";
    EXPECT_FALSE(is_of("gaussian,compare=split:at=15", from)) << "which splits a sample of chroma";
    EXPECT_FALSE(is_of("scale=50%,compare", of_size(from, {1, 40, 90, 3}))) << "which leaves some of it black";
    const auto odd = info_of(yuv_420, siting_left, 41, 61);
    EXPECT_FALSE(is_of("gaussian,compare", of_size(odd, {1, 41, 122, 3}), odd)) << "whose seam is within a sample";
    EXPECT_FALSE(is_of("gray,compare", of_size(from, {1, 40, 120, 3})));
    EXPECT_FALSE(is_of("rotate=90", from)) << "which is not its size";
    EXPECT_FALSE(is_of("rotate=90:size=same", from)) << "which blends";
    EXPECT_FALSE(is_of("rotate=7:size=same", from));
    EXPECT_FALSE(is_of("flip,gray", from));
    EXPECT_FALSE(is_of("pad=65:45:1:1", of_size(from, {1, 45, 65, 3}))) << "whose rim shares samples with the picture";
    EXPECT_TRUE(is_of("flip", centred)) << "whose chroma is interpolated";
    const auto turned = info_of(yuv_422, siting_left, 60, 40);
    EXPECT_FALSE(is_of("rotate=90", turned, info_of(yuv_422, siting_left, 40, 60)));
    for (const auto format : {yuv_nv12, yuv_p010}) {
        const auto other = info_of(format, siting_left, 40, 60);
        EXPECT_FALSE(is_of("flip", other, other)) << to_string(format);
    }
}

}  // namespace
}  // namespace framewire
