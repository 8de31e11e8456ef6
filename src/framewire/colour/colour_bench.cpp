#include "framewire/colour/image_to_yuv.hpp"
#include "framewire/colour/yuv_ref.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/device.hpp"
#include "suites.hpp"

extern "C" {
#include <libavutil/opt.h>
#include <libavutil/pixfmt.h>
#include <libswscale/swscale.h>
}

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <memory>
#include <vector>

namespace framewire::bench {
namespace {

struct Case {
    const char* name;
    YuvFormat format;
    AVPixelFormat peer;
};

constexpr Case cases[] = {{"4:2:0", yuv_420, AV_PIX_FMT_YUV420P},
                          {"4:4:4", yuv_444, AV_PIX_FMT_YUV444P},
                          {"NV12", yuv_nv12, AV_PIX_FMT_NV12}};

YuvInfo info_of(const Case& one, int frames) {
    return {one.format, {YuvMatrix::bt709, false}, siting_left, frames, bench_frame.height, bench_frame.width};
}

// Pictures that own their memory, with planes and rows stored without gaps.
struct Pictures {
    YuvInfo info;
    std::vector<std::uint8_t> bytes;

    explicit Pictures(const YuvInfo& of) : info(of), bytes(static_cast<std::size_t>(of.frames * of.frame_bytes())) {}
    HostYuv<std::uint8_t> view() { return {bytes.data(), info}; }
};

void require_equal(const Pictures& got, const Pictures& want, const std::string& operation) {
    const auto view = [](const Pictures& pictures) {
        const auto frames = pictures.info.frames;
        return HostView<const std::uint8_t>(
            pictures.bytes.data(),
            {1, frames, static_cast<int>(pictures.bytes.size() / static_cast<std::size_t>(frames)), 1});
    };
    Session::require_equal(view(got), view(want), operation);
}

// libswscale with the options that the media code passes; sws_scale() runs on the calling thread only.
class Swscale {
public:
    Swscale(AVPixelFormat from, AVPixelFormat to) : context_(sws_alloc_context()) {
        const auto set = [&](const char* option, std::int64_t value) {
            av_opt_set_int(context_.get(), option, value, 0);
        };
        set("srcw", bench_frame.width);
        set("srch", bench_frame.height);
        set("src_format", from);
        set("dstw", bench_frame.width);
        set("dsth", bench_frame.height);
        set("dst_format", to);
        for (const auto* side : {"src", "dst"}) {
            set(fmt::format("{}_h_chr_pos", side).c_str(), 0);
            set(fmt::format("{}_v_chr_pos", side).c_str(), 128);
        }
        set("sws_flags", SWS_BILINEAR | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_BITEXACT);
        const auto* matrix = sws_getCoefficients(SWS_CS_ITU709);
        const auto set_coding = [&] {
            sws_setColorspaceDetails(context_.get(), matrix, from == AV_PIX_FMT_BGR24, matrix, to == AV_PIX_FMT_BGR24,
                                     0, 1 << 16, 1 << 16);
        };
        set_coding();
        if (sws_init_context(context_.get(), nullptr, nullptr) < 0)
            fail(ErrorCode::internal, "libswscale does not support this conversion");
        set_coding();
    }

    void run(const std::uint8_t* const from[4], const int from_strides[4], std::uint8_t* const to[4],
             const int to_strides[4]) {
        sws_scale(context_.get(), from, from_strides, 0, bench_frame.height, to, to_strides);
    }

private:
    struct Free {
        void operator()(SwsContext* context) const noexcept { sws_freeContext(context); }
    };
    std::unique_ptr<SwsContext, Free> context_;
};

struct Planes {
    std::uint8_t* data[4] = {};
    int strides[4] = {};

    explicit Planes(const HostYuv<std::uint8_t>& picture) {
        for (int plane = 0; plane < picture.info.planes(); ++plane) {
            const auto& from = picture.planes[static_cast<std::size_t>(plane)];
            data[plane] = from.data;
            strides[plane] = static_cast<int>(from.row_stride_bytes);
        }
    }
    explicit Planes(HostView<std::uint8_t> image)
        : data{image.data()}, strides{static_cast<int>(image.row_stride_bytes())} {}
};

double bytes_of(const YuvInfo& info) { return static_cast<double>(info.frame_bytes() + bench_frame.bytes()); }

void bench_cpu(Session& session, const Case& one) {
    // The runs cycle through the frames, so that input comes from memory and not from the cache of the previous run.
    constexpr int frames = 16;
    const auto all = info_of(one, frames), single = info_of(one, 1);
    HostImage image(bench_frame.with_frames(frames)), back(image.shape()), want_back(image.shape());
    Pictures pictures(all), want(all);
    fill_scene(image.view(), 1);

    const ImageToYuv to_yuv(single, 3, session.cpu());
    const YuvToImage to_image(single, 3, session.cpu());
    image_to_yuv_reference(image.view(), want.view());
    yuv_to_image_reference(want.view(), want_back.view());
    int turn = 0;
    const auto in_turn = [&](auto&& body) {
        body(turn);
        turn = (turn + 1) % frames;
    };
    const auto forth = [&] {
        in_turn([&](int at) { to_yuv.run(image.view().frames(at, 1), pictures.view().frames(at, 1)); });
    };
    const auto home = [&] {
        in_turn([&](int at) { to_image.run(want.view().frames(at, 1), back.view().frames(at, 1)); });
    };
    Swscale peer_to_yuv(AV_PIX_FMT_BGR24, one.peer);
    Swscale peer_to_image(one.peer, AV_PIX_FMT_BGR24);
    Pictures peer_pictures(all);
    HostImage peer_back(image.shape());
    const auto peer_forth = [&] {
        in_turn([&](int at) {
            const Planes from(image.view().frames(at, 1)), to(peer_pictures.view().frames(at, 1));
            peer_to_yuv.run(from.data, from.strides, to.data, to.strides);
        });
    };
    const auto peer_home = [&] {
        in_turn([&](int at) {
            const Planes from(want.view().frames(at, 1)), to(peer_back.view().frames(at, 1));
            peer_to_image.run(from.data, from.strides, to.data, to.strides);
        });
    };
    for (int frame = 0; frame < frames; ++frame) forth();
    for (int frame = 0; frame < frames; ++frame) home();
    const auto from_bgr = fmt::format("BGR to {}", one.name), to_bgr = fmt::format("{} to BGR", one.name);
    require_equal(pictures, want, from_bgr);
    Session::require_equal(back.view(), want_back.view(), to_bgr);

    const auto timings = session.time_cpu({home, peer_home, forth, peer_forth});
    const auto add = [&](const std::string& operation, std::size_t at) {
        session.add({"colour", operation, "framewire cpu", timings[at], bytes_of(single),
                     timings[at + 1].median_us / timings[at].median_us});
        session.add({"colour", operation, "libswscale", timings[at + 1], bytes_of(single), {}});
    };
    add(to_bgr, 0);
    add(from_bgr, 2);
}

void bench_gpu(Session& session, const Case& one) {
    auto& executor = *session.gpu();
    const auto info = info_of(one, gpu_batch);
    const auto shape = bench_frame.with_frames(gpu_batch);
    HostImage image(shape), got_image(shape), want_image(shape);
    Pictures got(info), want(info);
    fill_scene(image.view(), 2);
    image_to_yuv_reference(image.view(), want.view());
    yuv_to_image_reference(want.view(), want_image.view());

    std::vector<cuda::DeviceImage> images;
    std::vector<cuda::DeviceBuffer> pictures;
    for (int turn = 0; turn < gpu_rotation; ++turn) {
        images.emplace_back(shape);
        pictures.emplace_back(want.bytes.size());
    }
    const auto picture = [&](int turn) {
        return DeviceYuv<std::uint8_t>(pictures[static_cast<std::size_t>(turn)].data(), info);
    };
    const auto stream = [&]() -> const cuda::Stream& { return executor.stream(); };
    const ImageToYuv to_yuv(info, 3, executor);
    const YuvToImage to_image(info, 3, executor);

    for (auto& device : images) cuda::upload(image.view(), device.view(), stream());
    const auto from_bgr = fmt::format("BGR to {}, batch {}", one.name, gpu_batch);
    const auto forth = session.time_gpu([&](int turn) {
        if constexpr (cuda::compiled) to_yuv.run(images[static_cast<std::size_t>(turn)].view(), picture(turn));
    });
    for (auto& device : pictures) {
        cuda::download(device.data(), got.bytes.data(), got.bytes.size(), stream());
        stream().synchronize();
        require_equal(got, want, from_bgr);
    }
    const auto to_bgr = fmt::format("{} to BGR, batch {}", one.name, gpu_batch);
    const auto home = session.time_gpu([&](int turn) {
        if constexpr (cuda::compiled) to_image.run(picture(turn), images[static_cast<std::size_t>(turn)].view());
    });
    for (auto& device : images) {
        cuda::download(device.view(), got_image.view(), stream());
        stream().synchronize();
        Session::require_equal(got_image.view(), want_image.view(), to_bgr);
    }
    const auto bytes = bytes_of(info);
    session.add({"colour", to_bgr, "framewire cuda", home, bytes, {}});
    session.add({"colour", from_bgr, "framewire cuda", forth, bytes, {}});
}

void bench_colour(Session& session) {
    for (const auto& one : cases) {
        bench_cpu(session, one);
        if (session.gpu()) bench_gpu(session, one);
    }
}

const SuiteEntry colour_suite{"operations", "colour", bench_colour};

}  // namespace
}  // namespace framewire::bench
