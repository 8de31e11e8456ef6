#include "ladders/difference/difference_on_gpu.hpp"

#include "framewire/codec/delta.hpp"
#include "ladders/difference/difference_kernels.hpp"

#include <string>
#include <utility>

namespace framewire::bench {
namespace difference_on_gpu {

constexpr const char* suite = "ladders/difference";

struct Variant {
    const char* operation;
    DifferenceKernel kernel;
    bool is_frugal;  ///< frames stay on the GPU and swap; the count is copied first, then only the changes found
    bool is_pinned;
    OnJetson kernel_time, up, down, memset, whole;
    const char* note;
};

// Times are in microseconds, converted from the report's milliseconds.
const Variant variants[] = {
    {"one block, byte by byte",
     DifferenceKernel::bytes,
     false,
     false,
     {"table 4", 40295, 35912, 47033},
     {"table 4", 3328, 2454.4, 25808},
     {"table 4", 4297.5, 1510, 52878},
     {"table 4", 0.8, 0.7, 1.7},
     {"section 2.2.1", 70000},
     "The report streamed 13 frames per second; both frames are uploaded and everything is downloaded."},
    {"asynchronous, frames swapped, count first",
     DifferenceKernel::bytes_own_reset,
     true,
     false,
     {"table 5", 41426, 37278, 46423},
     {"table 5", 3781.3, 2173.3, 14188},
     {"table 5", 22.7, 0.9, 9292.5},
     {},
     {"section 2.2.2", 55000},
     "The report streamed 20 frames per second; after its swap both frames are the same one, which is fixed here."},
    {"pinned memory",
     DifferenceKernel::bytes_own_reset,
     true,
     true,
     {"table 6", 43386, 38093, 49607},
     {"table 6", 674, 609.6, 2281.8},
     {"table 6", 10.2, 0.8, 1046.6},
     {},
     {"section 2.2.3", 43000},
     "The report streamed 22 frames per second."},
    {"4-byte chunks",
     DifferenceKernel::chunks_4,
     true,
     true,
     {"table 7", 23700, 21590, 24671},
     {"table 7", 648.3, 607.4, 2564.1},
     {"table 7", 7.9, 0.8, 1000.9},
     {},
     {"section 2.2.4", 26000},
     "The report streamed 21 frames per second; its threads overlap and report changes twice, which is fixed here."},
    {"4-byte chunks, one write back",
     DifferenceKernel::chunks_4_one_write,
     true,
     true,
     {"table 8", 9794.4, 8788.7, 17906},
     {"table 8", 644.3, 596.9, 2963.3},
     {"table 8", 8, 0.8, 1280.7},
     {},
     {"section 2.2.4", 11500},
     "The report streamed 24 frames per second; overlapping threads are fixed here."},
    {"16-byte chunks",
     DifferenceKernel::chunks_16,
     true,
     true,
     {"table 9", 3419.7, 2926.6, 9022.3},
     {"table 9", 638.7, 595.7, 2559.5},
     {"table 9", 6.1, 0.8, 1160.1},
     {},
     {"section 2.2.4", 4700},
     "The report streamed 26 frames per second; overlapping threads are fixed here."},
    {"32-byte chunks",
     DifferenceKernel::chunks_32,
     true,
     true,
     {"section 2.2.4, 0.4 ms less than table 9", 3019.7},
     {},
     {},
     {},
     {},
     "Overlapping threads are fixed here."},
    {"32-byte chunks, count in shared memory",
     DifferenceKernel::chunks_32_shared_count,
     true,
     true,
     {},
     {},
     {},
     {},
     {},
     "In the report this was as fast as without it, or slightly slower; feedback is written at once here, too."},
};

// Buffers of one variant on the host and on the GPU.
class OnGpu {
public:
    OnGpu(Session& session, const LadderMoments& moments, const Variant& variant)
        : session_(&session),
          moments_(&moments),
          variant_(&variant),
          stream_(&session.gpu()->stream()),
          shape_(moments.images[0].shape()),
          bytes_(static_cast<std::size_t>(shape_.bytes())),
          frames_{HostImage(shape_, memory()), HostImage(shape_, memory())},
          held_(shape_, memory()),
          changes_(shape_, memory()),
          device_frames_{cuda::DeviceImage(shape_), cuda::DeviceImage(shape_)},
          differences_(bytes_),
          positions_(bytes_ * sizeof(std::uint32_t)),
          count_(sizeof(std::uint32_t)) {
        for (const int moment : {0, 1}) copy(moments.images[moment].view(), frames_[moment].view());
    }

    // Throws unless both moments give the reference's result.
    void check(int threads) {
        begin();
        for (int turn = 0; turn < 2; ++turn) {
            whole(threads);
            fetch(3);
            stream_->synchronize();
            const auto found = changes_.view();
            moments_->require(moment_, found.summaries[0].count, found.positions, found.differences,
                              std::as_const(held_).view(), variant_->operation);
        }
    }

    void time_kernel(int threads, const OnJetson& on_jetson) {
        begin();
        const auto timing =
            session_->time_launches([&](int) { launch(threads); },
                                    [&](int) {
                                        next_moment();
                                        cuda::upload(frames_[moment_].view(), device_frames_[now_].view(), *stream_);
                                        cuda::fill(count_.data(), 0, count_.bytes(), *stream_);
                                    });
        add("kernel", threads, timing, moments_->fewest_bytes(), "", on_jetson);
    }

    // Times each copy by itself, as nvprof reports them: the mean over all copies of a frame, short and long.
    void time_transfers() {
        const double frame_bytes = static_cast<double>(bytes_);
        add("HtoD", most_threads,
            session_->time_launches([&](int) { cuda::upload(frames_[0].view(), device_frames_[0].view(), *stream_); }),
            frame_bytes, "cuda up", variant_->up);
        add("DtoH", most_threads,
            session_->time_launches([&](int turn) { fetch(turn % (variant_->is_frugal ? 3 : 4)); }), 0, "cuda down",
            variant_->down);
        if (!variant_->is_frugal)
            add("memset", most_threads,
                session_->time_launches([&](int) { cuda::fill(count_.data(), 0, count_.bytes(), *stream_); }), 0, "",
                variant_->memset);
    }

    void time_whole() {
        begin();
        const auto timing = session_->time_host([&](int) { whole(most_threads); });
        add("whole", most_threads, timing, static_cast<double>(bytes_), "cuda up", variant_->whole);
    }

private:
    HostMemory& memory() const { return variant_->is_pinned ? cuda::pinned_memory() : heap_memory(); }

    // Uploads the viewer's picture after the first moment, so that host and GPU agree.
    void begin() {
        moment_ = now_ = 0;
        copy(moments_->held[0].view(), held_.view());
        cuda::upload(held_.view(), device_frames_[0].view(), *stream_);
        stream_->synchronize();
    }

    void next_moment() {
        moment_ ^= 1;
        now_ ^= 1;
    }

    void launch(int threads) {
        if constexpr (cuda::compiled)
            launch_difference(variant_->kernel,
                              {device_frames_[now_].view().data(), device_frames_[now_ ^ 1].view().data(),
                               differences_.data(), positions_.as<std::uint32_t>(), count_.as<std::uint32_t>()},
                              shape_.bytes(), threads, *stream_);
    }

    // Queues one of a frame's copies to the host: 0 is the count, 1 and 2 are the changes, 3 is the viewer's picture.
    void fetch(int which) {
        const auto to = changes_.view();
        const auto found = variant_->is_frugal ? to.summaries[0].count : static_cast<std::uint32_t>(bytes_);
        switch (which) {
            case 0: cuda::download(count_.data(), &to.summaries[0].count, count_.bytes(), *stream_); break;
            case 1: cuda::download(differences_.data(), to.differences, found, *stream_); break;
            case 2: cuda::download(positions_.data(), to.positions, found * sizeof(std::uint32_t), *stream_); break;
            default: cuda::download(device_frames_[now_].view(), held_.view(), *stream_);
        }
    }

    // Processes a frame as the variant does, including the copies from and to the host.
    void whole(int threads) {
        next_moment();
        if (variant_->is_frugal) {
            cuda::upload(frames_[moment_].view(), device_frames_[now_].view(), *stream_);
            launch(threads);
            fetch(0);
            stream_->synchronize();
            fetch(1);
            fetch(2);
            stream_->synchronize();
            return;
        }
        const auto done = [&] { stream_->synchronize(); };  // each call waits for its completion
        cuda::fill(count_.data(), 0, count_.bytes(), *stream_), done();
        cuda::upload(held_.view(), device_frames_[now_ ^ 1].view(), *stream_), done();
        cuda::upload(frames_[moment_].view(), device_frames_[now_].view(), *stream_), done();
        launch(threads);
        for (const int which : {1, 2, 0, 3}) fetch(which), done();
    }

    void add(const char* step, int threads, const Timing& timing, double bytes, const char* limit,
             const OnJetson& on_jetson) {
        session_->add({.suite = suite,
                       .operation = variant_->operation,
                       .runner = "cuda",
                       .timing = timing,
                       .bytes = bytes,
                       .reported = reported_of(on_jetson),
                       .details = {{"step", step}, {"threads", std::to_string(threads)}},
                       .limit = limit,
                       .note = variant_->note});
    }

    Session* session_;
    const LadderMoments* moments_;
    const Variant* variant_;
    const cuda::Stream* stream_;
    Shape shape_;
    std::size_t bytes_;
    HostImage frames_[2];
    HostImage held_;
    codec::HostChanges changes_;
    cuda::DeviceImage device_frames_[2];
    cuda::DeviceBuffer differences_, positions_, count_;
    int moment_ = 0;  // index of the moment that was encoded last
    int now_ = 0;     // index of the device frame that holds it
};

void run_variant(Session& session, const LadderMoments& moments, const Variant& variant) {
    OnGpu on_gpu(session, moments, variant);
    for (const int threads : {32, 64, 128, 256, 512, most_threads}) {
        if (variant.kernel == DifferenceKernel::bytes_own_reset && threads != most_threads)
            continue;  // with other block sizes this variant equals the first one
        on_gpu.check(threads);
        on_gpu.time_kernel(threads, threads == most_threads ? variant.kernel_time : OnJetson{});
    }
    on_gpu.time_transfers();
    on_gpu.time_whole();
}

void run_encoder(Session& session, const LadderMoments& moments) {
    auto& executor = *session.gpu();
    const auto& stream = executor.stream();
    const auto& shape = moments.images[0].shape();
    codec::Encoder encoder({.threshold = ladder_threshold}, shape, executor);
    HostImage frames[2]{HostImage(shape, cuda::pinned_memory()), HostImage(shape, cuda::pinned_memory())}, held(shape);
    for (const int moment : {0, 1}) copy(moments.images[moment].view(), frames[moment].view());
    cuda::DeviceImage frame(shape), device_held(shape);
    codec::DeviceChanges device_changes(shape);
    codec::HostChanges changes(shape, cuda::pinned_memory());
    const auto from = device_changes.view();
    const auto to = changes.view();
    cuda::upload(moments.held[0].view(), device_held.view(), stream);
    int moment = 0;
    const auto upload = [&] {
        moment ^= 1;
        cuda::upload(frames[moment].view(), frame.view(), stream);
    };
    const auto encode = [&] {
        if constexpr (cuda::compiled) encoder.encode(std::as_const(frame).view(), device_held.view(), from);
    };
    const auto whole = [&](int) {
        upload();
        encode();
        cuda::download(from.summaries, to.summaries, sizeof(codec::Summary), stream);
        stream.synchronize();
        const auto found = std::size_t{to.summaries[0].count};
        cuda::download(from.differences, to.differences, found, stream);
        cuda::download(from.positions, to.positions, found * sizeof(std::uint32_t), stream);
        stream.synchronize();
    };
    for (int turn = 0; turn < 2; ++turn) {
        whole(turn);
        cuda::download(device_held.view(), held.view(), stream);
        stream.synchronize();
        moments.require(moment, to.summaries[0].count, to.positions, to.differences, std::as_const(held).view(),
                        "framewire cuda");
    }
    const auto add = [&](const char* step, const Timing& timing, double bytes, const char* limit) {
        session.add({.suite = suite,
                     .operation = "framewire's encoder",
                     .runner = "framewire cuda",
                     .timing = timing,
                     .bytes = bytes,
                     .details = {{"step", step}},
                     .limit = limit});
    };
    add("kernel", session.time_launches([&](int) { encode(); }, [&](int) { upload(); }), moments.fewest_bytes(), "");
    add("whole", session.time_host(whole), static_cast<double>(shape.bytes()), "cuda up");
}

}  // namespace difference_on_gpu

void run_difference_on_gpu(Session& session, const LadderMoments& moments) {
    using namespace difference_on_gpu;
    for (const auto& variant : variants)
        session.attempt(std::string("ladders/difference, ") + variant.operation,
                        [&] { run_variant(session, moments, variant); });
    session.attempt("ladders/difference, framewire cuda", [&] { run_encoder(session, moments); });
}

}  // namespace framewire::bench
