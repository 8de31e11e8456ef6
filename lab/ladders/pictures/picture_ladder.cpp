#include "ladders/pictures/picture_ladder.hpp"

#include "framewire/core/error.hpp"

#include <cstdlib>
#include <string>
#include <utility>

namespace framewire::bench {
namespace picture_ladder {

class OnGpu {
public:
    OnGpu(Session& session, const PicturePair& pair, const PictureVariant& variant)
        : session_(&session),
          pair_(&pair),
          variant_(&variant),
          stream_(&session.gpu()->stream()),
          got_(pair.frames[0].shape()),
          frames_{cuda::DeviceImage(got_.shape()), cuda::DeviceImage(got_.shape())},
          out_(got_.shape()) {
        cuda::upload(pair.frames[0].view(), frames_[0].view(), *stream_);
        // Clears the result to black, for kernels that write only the red byte.
        cuda::fill(out_.view().data(), 0, static_cast<std::size_t>(got_.shape().bytes()), *stream_);
        stream_->synchronize();
    }

    void run(int threads) {
        for (int turn = 0; turn < 2; ++turn) {
            whole(threads);
            require_close(std::as_const(got_).view(), pair_->want[moment_].view(), variant_->off_by,
                          variant_->operation);
        }
        const double bytes = static_cast<double>(got_.shape().bytes());
        const bool as_report = threads == variant_->threads.back();
        const auto add = [&](const char* step, const Timing& timing, double moved, const char* limit,
                             const OnJetson& on_jetson) {
            session_->add({.suite = variant_->suite,
                           .operation = variant_->operation,
                           .runner = "cuda",
                           .timing = timing,
                           .bytes = moved,
                           .reported = as_report ? reported_of(on_jetson) : std::nullopt,
                           .details = {{"step", step}, {"threads", std::to_string(threads)}},
                           .limit = limit,
                           .note = variant_->note});
        };
        add("kernel",
            session_->time_launches([&](int) { launch(threads); },
                                    [&](int) {
                                        next_moment();
                                        upload(now_, moment_);
                                        clear();
                                    }),
            3 * bytes, "", variant_->kernel_time);
        add("HtoD", session_->time_launches([&](int) { upload(now_, moment_); }), bytes, "cuda up", variant_->up);
        add("DtoH", session_->time_launches([&](int) { download(); }), bytes, "cuda down", variant_->down);
        if (variant_->drawn == PictureVariant::cleared)
            add("memset", session_->time_launches([&](int) { clear(); }), bytes, "", variant_->memset);
        add("whole", session_->time_host([&](int) { whole(threads); }), 2 * bytes, "cuda up", variant_->whole);
    }

private:
    void next_moment() {
        moment_ ^= 1;
        now_ ^= 1;
    }

    void upload(int which, int moment) { cuda::upload(pair_->frames[moment].view(), frames_[which].view(), *stream_); }

    void clear() {
        if (variant_->drawn == PictureVariant::cleared)
            cuda::fill(out_.view().data(), 0, static_cast<std::size_t>(out_.shape().bytes()), *stream_);
    }

    void launch(int threads) {
        variant_->launch(
            {frames_[now_].view().data(), frames_[now_ ^ 1].view().data(), out_.view().data(), out_.shape().bytes()},
            threads, *stream_);
    }

    void download() {
        const auto& from = variant_->drawn == PictureVariant::over ? frames_[now_ ^ 1] : out_;
        cuda::download(from.view(), got_.view(), *stream_);
    }

    // Uploads a frame, processes it and downloads its picture, and waits for each call.
    void whole(int threads) {
        next_moment();
        clear();
        stream_->synchronize();
        if (variant_->frames == PictureVariant::both_up) upload(now_ ^ 1, moment_ ^ 1), stream_->synchronize();
        upload(now_, moment_);
        stream_->synchronize();
        launch(threads);
        download();
        stream_->synchronize();
    }

    Session* session_;
    const PicturePair* pair_;
    const PictureVariant* variant_;
    const cuda::Stream* stream_;
    HostImage got_;
    cuda::DeviceImage frames_[2], out_;
    int moment_ = 0;  // index of the last frame's moment
    int now_ = 0;     // index of the device frame that holds it
};

}  // namespace picture_ladder

PicturePair::PicturePair(const Shape& shape)
    : frames{HostImage(shape), HostImage(shape)}, want{HostImage(shape), HostImage(shape)} {
    fill_scene(frames[0].view(), 3);
    fill_later(frames[0].view(), frames[1].view(), ladder_share, false, 11);
}

void require_close(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want, int off_by, const char* what) {
    for (std::int64_t i = 0; i < want.shape().bytes(); ++i)
        if (std::abs(got.data()[i] - want.data()[i]) > off_by)
            fail(ErrorCode::internal, "{}: byte {} is {}, not {}; not timed", what, i, got.data()[i], want.data()[i]);
}

void run_picture_on_cpu(Session& session, const PicturePair& pair, const PictureLoop& ways) {
    const auto& shape = pair.frames[0].shape();
    HostImage of_loop(shape), of_filter(shape);
    const auto loop = [&] {
        ways.loop(pair.frames[1].view().data(), pair.frames[0].view().data(), shape.bytes() / 3, of_loop.view().data());
    };
    const auto filter = [&] { ways.filter({pair.frames[1].view(), pair.frames[0].view(), of_filter.view()}); };
    loop();
    filter();
    require_close(std::as_const(of_loop).view(), pair.want[1].view(), 0, "the loop");
    require_close(std::as_const(of_filter).view(), pair.want[1].view(), 0, "framewire cpu");
    const auto timings = session.time_cpu({loop, filter});
    const double bytes = 3.0 * static_cast<double>(shape.bytes());
    session.add({.suite = ways.suite,
                 .operation = "loop",
                 .runner = "cpu, 1 thread",
                 .timing = timings[0],
                 .bytes = bytes,
                 .reported = reported_of(ways.whole),
                 .details = {{"step", "whole"}},
                 .note = ways.note});
    session.add({.suite = ways.suite,
                 .operation = ways.filter_name,
                 .runner = "framewire cpu",
                 .timing = timings[1],
                 .bytes = bytes,
                 .to_peer = timings[0].median_us / timings[1].median_us,
                 .details = {{"step", "whole"}}});
}

void run_picture_variant(Session& session, const PicturePair& pair, const PictureVariant& variant) {
    session.attempt(std::string(variant.suite) + ", " + variant.operation, [&] {
        picture_ladder::OnGpu on_gpu(session, pair, variant);
        for (const int threads : variant.threads) on_gpu.run(threads);
    });
}

}  // namespace framewire::bench
