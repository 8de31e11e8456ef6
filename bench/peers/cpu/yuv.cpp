#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "peers/cpu/ffmpeg_step.hpp"
#include "peers/cpu/opencv_steps.hpp"
#include "peers/others.hpp"

#include <optional>
#include <utility>

namespace framewire::bench {
namespace yuv_contest {

constexpr const char* flags = "flags=bilinear+accurate_rnd+full_chroma_int+full_chroma_inp";

YuvInfo info_of(const Shape& frame) {
    return {yuv_420, {YuvMatrix::bt601, false}, siting_left, 1, frame.height, frame.width};
}

// Returns the shape of planes one below the other, as a single-channel image.
Shape planes_of(const Shape& frame) { return {frame.frames, frame.height * 3 / 2, frame.width, 1}; }

// One direction: framewire's conversion of a `from` image to a `to` image, and its equivalents in other libraries.
struct Way {
    const char* name;
    std::function<void(HostView<std::uint8_t> from, HostView<std::uint8_t> to)> own;
    HostStep opencv;
    Tolerance opencv_tolerance;
    FfmpegFilter ffmpeg;
    Tolerance ffmpeg_tolerance;
};

void hold(Session& session, const Setting& setting, const Way& way,
          const std::function<HostView<std::uint8_t>(int at)>& from, const Shape& to) {
    HostImage own(to.with_frames(setting.count())), peers(own.shape());
    int last = 0;
    const auto want = [&]() -> HostView<const std::uint8_t> { return own.view().frames(last, 1); };
    std::vector<Contestant> contestants{{"framewire cpu", [&](int turn) {
                                             last = setting.at(turn);
                                             way.own(from(last), own.view().frames(last, 1));
                                         }}};
    if (way.opencv)
        contestants.push_back(
            {"OpenCV",
             [&](int turn) {
                 const int at = setting.at(turn);
                 way.opencv(from(at), peers.view().frames(at, 1));
             },
             [&] { return agreement(peers.view().frames(last, 1), want(), way.opencv_tolerance, "OpenCV"); },
             way.opencv_tolerance.why});
    if (auto ffmpeg = ffmpeg_contestant(session, way.ffmpeg, setting, from, want, way.ffmpeg_tolerance))
        contestants.push_back(std::move(*ffmpeg));
    hold_contest(session, setting, way.name, static_cast<double>(from(0).shape().bytes() + to.bytes()),
                 std::move(contestants));
}

}  // namespace yuv_contest

void hold_to_yuv_contest(Session& session, const Setting& setting) {
    using namespace yuv_contest;
    const auto frame = setting.pictures->frame();
    const auto info = info_of(frame);
    const ImageToYuv conversion(info, 3, session.cpu());
    hold(
        session, setting,
        {.name = "BGR to YUV 4:2:0",
         .own = [&](auto from, auto to) { conversion.run(from, HostYuv<std::uint8_t>(to.data(), info)); },
         .opencv = opencv_to_yuv(),
         .opencv_tolerance = {.least_db = 30, .why = "OpenCV takes the chroma of one pixel in four."},
         .ffmpeg = {std::string("scale=in_range=full:out_range=limited:out_color_matrix=bt601:") + flags, "bgr24",
                    "yuv420p"},
         .ffmpeg_tolerance = {.most = 2,
                              .least_db = 40,
                              .why = "FFmpeg weights the pixels around a chroma sample differently."}},
        [&](int at) { return setting.frame(at); }, planes_of(frame));
}

void hold_from_yuv_contest(Session& session, const Setting& setting) {
    using namespace yuv_contest;
    const auto frame = setting.pictures->frame();
    const auto info = info_of(frame);
    HostImage planes(planes_of(frame).with_frames(setting.count()));
    const ImageToYuv forth(info, 3, session.cpu());
    for (int at = 0; at < setting.count(); ++at)
        forth.run(setting.frame(at), HostYuv<std::uint8_t>(planes.view().row(at, 0), info));
    const YuvToImage conversion(info, 3, session.cpu());
    hold(
        session, setting,
        {.name = "YUV 4:2:0 to BGR",
         .own = [&](auto from, auto to) { conversion.run(HostYuv<std::uint8_t>(from.data(), info), to); },
         .opencv = opencv_from_yuv(),
         .opencv_tolerance = {.least_db = 30, .why = "OpenCV repeats chroma samples, framewire interpolates them."},
         .ffmpeg = {std::string("scale=in_range=limited:out_range=full:in_color_matrix=bt601:") + flags, "yuv420p",
                    "bgr24"},
         .ffmpeg_tolerance = {.most = 2, .least_db = 35, .why = "FFmpeg assumes a different chroma siting."}},
        [&](int at) { return planes.view().frames(at, 1); }, frame);
}

}  // namespace framewire::bench
