#include "peers/filters.hpp"

#include "framewire/filters/text.hpp"
#include "framewire/plan/chain.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <string>

namespace framewire::bench {
namespace filters {

using enum MorphologyOperation;

// Returns OpenCV's default sigma of a Gaussian.
double sigma_of(int size) { return 0.3 * ((size - 1) * 0.5 - 1) + 0.8; }

std::vector<std::uint8_t> mask_of(ElementShape shape, int size) {
    const StructuringElement element(shape, size);
    std::vector<std::uint8_t> mask(static_cast<std::size_t>(size * size));
    const int radius = element.radius();
    for (int dy = -radius; dy <= radius; ++dy)
        for (int dx = -element.reach(dy); dx <= element.reach(dy); ++dx)
            mask[static_cast<std::size_t>((dy + radius) * size + dx + radius)] = 1;
    return mask;
}

FilterPeers mean(int size) {
    return {.name = fmt::format("mean {}", size),
            .chain = fmt::format("mean={}", size),
            .opencv = opencv_mean(size),
            .opencv_tolerance = {},
            .ffmpeg = {fmt::format("avgblur=sizeX={}", size / 2)},
            .ffmpeg_tolerance = {.most = 2, .margin_px = size, .why = "avgblur truncates, framewire rounds."},
            .npp = npp::mean(size),
            .npp_tolerance = {.most = 1, .margin_px = size / 2, .why = "NPP truncates, framewire rounds."}};
}

FilterPeers gaussian(int size) {
    return {
        .name = fmt::format("Gaussian {}", size),
        .chain = fmt::format("gaussian={}", size),
        .opencv = opencv_gaussian(size),
        .opencv_tolerance = {.most = 1,
                             .least_db = 45,
                             .why = size <= 5 ? "OpenCV has its own weights for sizes 3 and 5."
                                              : "OpenCV rounds its weights differently."},
        .ffmpeg = {fmt::format("gblur=sigma={}", sigma_of(size))},
        .ffmpeg_tolerance = {.least_db = 30, .margin_px = size, .why = "gblur is recursive, with infinite support."},
        .npp = npp::gaussian(size),
        .npp_tolerance = {.most = 1, .least_db = 45, .margin_px = size / 2, .why = "NPP's weights are floats."}};
}

FilterPeers median(int size) {
    return {.name = fmt::format("median {}", size),
            .chain = fmt::format("median={}:border=replicate", size),
            .opencv = opencv_median(size),
            .opencv_tolerance = {},
            .ffmpeg = {fmt::format("median=radius={}", size / 2)},
            .ffmpeg_tolerance = {.margin_px = size / 2},
            .npp = npp::median(size),
            .npp_tolerance = {.margin_px = size / 2},
            .by_content = true,
            .npp_slow = size > 5};
}

FilterPeers morphology(MorphologyOperation operation, ElementShape shape, int size) {
    const bool grows = operation == dilate, shrinks = operation == erode, rect = shape == ElementShape::rect;
    const std::string word = grows ? "dilate" : shrinks ? "erode" : "close", element = rect ? "rect" : "disc";
    return {.name = fmt::format("{} {} {}", word, element, size),
            .chain = fmt::format("{}={}:shape={}", word, size, element),
            .opencv = opencv_morphology(operation, shape, size),
            .opencv_tolerance = {},
            .ffmpeg = {rect && size == 3 && (grows || shrinks) ? grows ? "dilation" : "erosion" : ""},
            .ffmpeg_tolerance = {},
            .npp = grows     ? npp::dilate(mask_of(shape, size), size)
                   : shrinks ? npp::erode(mask_of(shape, size), size)
                             : npp::Step(),
            .npp_tolerance = {.margin_px = size / 2},
            .npp_slow = !rect};
}

FilterPeers convolve_3x3() {
    const std::vector<int> sharpen{0, -1, 0, -1, 5, -1, 0, -1, 0};
    constexpr const char* words = "0 -1 0 -1 5 -1 0 -1 0";
    return {.name = "convolve 3x3",
            .chain = fmt::format("convolve='{}':divisor=1", words),
            .opencv = opencv_convolve(sharpen, 3),
            .opencv_tolerance = {},
            .ffmpeg = {fmt::format("convolution='{0}:{0}:{0}:{0}'", words)},
            .ffmpeg_tolerance = {.margin_px = 1},
            .npp = {},
            .npp_tolerance = {}};
}

// FFmpeg's scaler converts from BGR to BGR through YUV.
FilterPeers scale(const char* name, const char* share, const char* method, HostStep opencv, npp::Step npp,
                  double npp_db) {
    return {.name = name,
            .chain = fmt::format("scale={0}:{0}:{1}", share, method),
            .opencv = std::move(opencv),
            .opencv_tolerance = {.most = 1, .why = "OpenCV rounds its weights differently."},
            .ffmpeg = {fmt::format("scale={{w}}:{{h}}:flags={}+accurate_rnd+full_chroma_int+full_chroma_inp", method),
                       "bgr24", "bgr24"},
            .ffmpeg_tolerance = {.least_db = 35, .why = "FFmpeg converts BGR to YUV and back."},
            .npp = std::move(npp),
            .npp_tolerance = {.most = 1, .least_db = npp_db, .why = "NPP's weights are floats."}};
}

FilterPeers text() {
    constexpr const char* words = "framewire";
    const char* given = std::getenv("FRAMEWIRE_TEST_FONT");  // set on machines without fonts
    std::string font;
    try {
        font = find_font(given ? given : "").path;
    } catch (const Error&) {  // framewire's own row reports it
    }
    return {.name = "text",
            .chain = fmt::format("text={}:x=40:y=40:size=48:font='{}'", words, font),
            .opencv = opencv_text(words, 40, 40, 48),
            .opencv_tolerance = {.least_db = 18, .why = "OpenCV has its own fonts, made of strokes."},
            .ffmpeg = {font.empty() ? std::string()
                                    : fmt::format("drawtext=text={}:x=40:y=40:fontsize=48:fontcolor=white:fontfile={}",
                                                  words, font),
                       "bgr24", "bgr24"},
            .ffmpeg_tolerance = {.least_db = 18, .why = "drawtext places its lines differently."},
            .npp = {},
            .npp_tolerance = {}};
}

std::vector<FilterPeers> others() {
    return {
        {.name = "gray",
         .chain = "gray:channels=1",
         .opencv = opencv_gray(),
         .opencv_tolerance = {},
         .ffmpeg = {"scale=out_range=full:flags=accurate_rnd", "bgr24", "gray"},
         .ffmpeg_tolerance = {.most = 2, .why = "FFmpeg rounds its weights differently."},
         .npp = npp::gray(),
         .npp_tolerance = {.most = 1, .why = "NPP truncates, framewire rounds."}},
        {.name = "binarize, Otsu",
         .chain = "binarize=otsu",
         .opencv = opencv_otsu(),
         .opencv_tolerance = {},
         .ffmpeg = {},
         .ffmpeg_tolerance = {},
         .npp = {},
         .npp_tolerance = {}},
        {.name = "mosaic 32",
         .chain = "mosaic=32",
         .opencv = opencv_mosaic(32),
         .opencv_tolerance = {.least_db = 25, .why = "OpenCV stretches cells if they do not divide the side evenly."},
         .ffmpeg = {"pixelize=w=32:h=32"},
         .ffmpeg_tolerance = {.most = 1, .why = "pixelize truncates, framewire rounds."},
         .npp = {},
         .npp_tolerance = {}},
        scale("resize to half, area", "50%", "area", opencv_area(), npp::area(), 40),
        scale("resize to 3/2, bilinear", "150%", "bilinear", opencv_bilinear(), npp::bilinear(), 40),
        text(),
        convolve_3x3()};
}

// The output of the chain's only filter for each frame, and its reference.
struct Work {
    std::unique_ptr<Filter> filter;
    HostImage results;

    HostView<std::uint8_t> result(int at) { return results.view().frames(at, 1); }
};

}  // namespace filters

std::vector<FilterPeers> filter_peers() {
    using namespace filters;
    std::vector<FilterPeers> all;
    for (const int size : {3, 5, 21}) all.push_back(mean(size));
    for (const int size : {3, 5, 15}) all.push_back(gaussian(size));
    for (const int size : {3, 5, 9, 15}) all.push_back(median(size));
    for (const auto operation : {dilate, erode}) {
        all.push_back(morphology(operation, ElementShape::rect, 3));
        all.push_back(morphology(operation, ElementShape::disc, 15));
    }
    all.push_back(morphology(close, ElementShape::disc, 15));
    for (auto& one : others()) all.push_back(std::move(one));
    return all;
}

void hold_filter_contest(Session& session, const Setting& setting, const FilterPeers& peers) {
    const auto chain = parse_chain(peers.chain);
    const auto& call = chain.calls.front();
    const auto frame = setting.pictures->frame();
    filters::Work own{call.filter->make(call.values, frame, session.cpu()), {}};
    const auto shape = own.filter->output_shape();
    own.results = HostImage(shape.with_frames(setting.count()));
    int last = 0;
    const auto want = [&]() -> HostView<const std::uint8_t> { return own.result(last); };

    std::vector<Contestant> contestants{
        {"framewire cpu", [&](int turn) {
             last = setting.at(turn);
             own.filter->run(FilterImages<MemorySpace::host>{setting.frame(last), {}, own.result(last)});
         }}};
    HostImage opencv_results;
    if (peers.opencv) {
        opencv_results = HostImage(own.results.shape());
        contestants.push_back({"OpenCV",
                               [&](int turn) {
                                   const int at = setting.at(turn);
                                   peers.opencv(setting.frame(at), opencv_results.view().frames(at, 1));
                               },
                               [&] {
                                   return agreement(opencv_results.view().frames(last, 1), want(),
                                                    peers.opencv_tolerance, "OpenCV's " + peers.name);
                               },
                               peers.opencv_tolerance.why});
    }
    auto filter = peers.ffmpeg;
    filter.text = fmt::format(fmt::runtime(filter.text), fmt::arg("w", shape.width), fmt::arg("h", shape.height));
    if (auto ffmpeg = ffmpeg_contestant(
            session, filter, setting, [&](int at) { return setting.frame(at); }, want, peers.ffmpeg_tolerance))
        contestants.push_back(std::move(*ffmpeg));
    hold_contest(session, setting, peers.name, static_cast<double>(frame.bytes() + shape.bytes()), contestants);
}

}  // namespace framewire::bench
