#include "peers/cpu/ffmpeg_step.hpp"

#if FRAMEWIRE_FFMPEG
#include "framewire/media/ffmpeg/libav.hpp"

extern "C" {
#include <libavutil/pixdesc.h>
}
#endif

#include <fmt/format.h>

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace framewire::bench {

#if FRAMEWIRE_FFMPEG
namespace ffmpeg_step {

// Index of the byte of a BGR pixel that each plane of `picture` holds: G, B, R.
constexpr int channel_of_plane[] = {1, 0, 2};

// Calls row(plane, y, bytes, offset) for every row of a picture; `offset` is its position if the planes lie one below
// the other.
template <class Row>
void for_rows(const AVFrame& picture, Row row) {
    const auto* description = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(picture.format));
    std::size_t offset = 0;
    for (int plane = 0; plane < av_pix_fmt_count_planes(static_cast<AVPixelFormat>(picture.format)); ++plane) {
        const int shift_x = plane ? description->log2_chroma_w : 0, shift_y = plane ? description->log2_chroma_h : 0;
        const auto bytes = static_cast<std::size_t>(-(-picture.width >> shift_x) * description->comp[0].step);
        for (int y = 0; y < -(-picture.height >> shift_y); ++y, offset += bytes) row(plane, y, bytes, offset);
    }
}

bool is_planar_rgb(const AVFrame& picture) { return picture.format == AV_PIX_FMT_GBRP; }

// Splits BGR images into planes of G, B and R; copies everything else unchanged.
void fill_picture(HostView<const std::uint8_t> image, AVFrame& picture) {
    for_rows(picture, [&](int plane, int y, std::size_t bytes, std::size_t offset) {
        auto* to = picture.data[plane] + y * picture.linesize[plane];
        if (is_planar_rgb(picture))
            for (std::size_t x = 0; x < bytes; ++x)
                to[x] = image.row(0, y)[3 * x + static_cast<std::size_t>(channel_of_plane[plane])];
        else
            std::memcpy(to, image.data() + offset, bytes);
    });
}

void take_picture(const AVFrame& picture, HostView<std::uint8_t> image) {
    for_rows(picture, [&](int plane, int y, std::size_t bytes, std::size_t offset) {
        const auto* from = picture.data[plane] + y * picture.linesize[plane];
        if (is_planar_rgb(picture))
            for (std::size_t x = 0; x < bytes; ++x)
                image.row(0, y)[3 * x + static_cast<std::size_t>(channel_of_plane[plane])] = from[x];
        else
            std::memcpy(image.data() + offset, from, bytes);
    });
}

// A graph, its input pictures, and its last output.
struct Work {
    Work(const std::string& description, int threads) : graph(description, threads) {}

    FilterGraph graph;
    std::vector<FramePointer> pictures;
    const AVFrame* given = nullptr;
};

}  // namespace ffmpeg_step

std::optional<Contestant> ffmpeg_contestant(const Session& session, const FfmpegFilter& filter, const Setting& setting,
                                            const std::function<HostView<std::uint8_t>(int at)>& frames,
                                            const std::function<HostView<const std::uint8_t>()>& want,
                                            const Tolerance& tolerance) {
    if (filter.text.empty()) return {};
    const auto frame = setting.pictures->frame();
    const auto work = std::make_shared<ffmpeg_step::Work>(
        fmt::format("buffer@in=video_size={}x{}:pix_fmt={}:time_base=1/30,{},format={},buffersink@out", frame.width,
                    frame.height, filter.in, filter.text, filter.out),
        session.threads());
    for (int at = 0; at < setting.count(); ++at) {
        auto picture = make_frame(av_get_pix_fmt(filter.in), frame.width, frame.height);
        ffmpeg_step::fill_picture(frames(at), *picture);
        work->pictures.push_back(std::move(picture));
    }
    return Contestant{"FFmpeg",
                      [work, setting](int turn) {
                          auto& picture = *work->pictures[static_cast<std::size_t>(setting.at(turn))];
                          picture.pts = turn;
                          work->given = &work->graph.run(picture);
                      },
                      [work, want, tolerance] {
                          HostImage got(want().shape());
                          const auto& shape = got.shape();
                          const int rows =
                              work->given->format == AV_PIX_FMT_YUV420P ? shape.height * 2 / 3 : shape.height;
                          if (work->given->width != shape.width || work->given->height != rows)
                              fail(ErrorCode::internal, "FFmpeg gives {}x{}", work->given->width, work->given->height);
                          ffmpeg_step::take_picture(*work->given, got.view());
                          return agreement(got.view(), want(), tolerance, "FFmpeg");
                      },
                      tolerance.why};
}
#else
std::optional<Contestant> ffmpeg_contestant(const Session&, const FfmpegFilter&, const Setting&,
                                            const std::function<HostView<std::uint8_t>(int at)>&,
                                            const std::function<HostView<const std::uint8_t>()>&, const Tolerance&) {
    return {};
}
#endif

}  // namespace framewire::bench
