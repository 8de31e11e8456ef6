#include "framewire/codec/batch_packer.hpp"
#include "framewire/codec/bounded_packer.hpp"
#include "framewire/codec/delta.hpp"
#include "framewire/codec/encoder_ref.hpp"
#include "framewire/codec/exact_packer.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/core/error.hpp"
#include "framewire/cuda/device.hpp"
#include "framewire/cuda/executor.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace framewire::bench {
namespace {

using codec::HostChanges;

constexpr int threshold = 20;

// Two frames of a scene. When they are encoded alternately, each has the same share of changes every time.
struct Moments {
    HostImage images[2];
    HostChanges want[2];
    HostImage reference;  // R after both frames

    Moments(const Shape& shape, double share, bool scattered)
        : images{HostImage(shape), HostImage(shape)}, want{HostChanges(shape), HostChanges(shape)}, reference(shape) {
        fill_scene(images[0].view(), 3);
        fill_later(images[0].view(), images[1].view(), share, scattered, 11);
        copy(images[0].view(), reference.view());
        for (int round = 0; round < 2; ++round)  // the second round no longer depends on the initial R
            for (const int moment : {1, 0})
                codec::encode_reference(threshold, images[moment].view(), reference.view(), want[moment].view());
    }
    double changes_per_frame() const {
        return (want[0].view().summaries[0].count + want[1].view().summaries[0].count) / 2.0;
    }
    // Returns the memory traffic: the frame and R are read; the changed bytes of R, the positions and the differences
    // are written.
    double bytes_per_frame() const {
        return 2.0 * static_cast<double>(reference.shape().frame_bytes()) + 6 * changes_per_frame();
    }
};

void require_equal(const codec::ChangesView<MemorySpace::host>& got, const codec::ChangesView<MemorySpace::host>& want,
                   const std::string& operation) {
    for (int stream = 0; stream < got.streams; ++stream) {
        const auto& a = got.summaries[stream];
        const auto& b = want.summaries[0];
        if (a.count != b.count || a.max_error != b.max_error || a.squared_error != b.squared_error ||
            std::memcmp(got.positions + stream * got.capacity, want.positions, a.count * sizeof(std::uint32_t)) != 0 ||
            std::memcmp(got.differences + stream * got.capacity, want.differences, a.count) != 0)
            fail(ErrorCode::internal, "{}: stream {} differs from the reference; not timed", operation, stream);
    }
}

// The CPU loop of the streaming report (section 2.1), without error sums, compiled with -O3.
std::uint32_t plain_loop(const std::uint8_t* current, std::uint8_t* reference, std::int64_t bytes,
                         std::uint32_t* positions, std::uint8_t* differences) __attribute__((optimize("O3")));
std::uint32_t plain_loop(const std::uint8_t* current, std::uint8_t* reference, std::int64_t bytes,
                         std::uint32_t* positions, std::uint8_t* differences) {
    std::uint32_t count = 0;
    for (std::int64_t i = 0; i < bytes; ++i) {
        const int difference = current[i] - reference[i];
        if (difference < -threshold || difference > threshold) {
            differences[count] = static_cast<std::uint8_t>(difference);
            positions[count] = static_cast<std::uint32_t>(i);
            ++count;
            reference[i] = current[i];
        }
    }
    return count;
}

void bench_cpu(Session& session, double share, bool scattered) {
    const auto operation =
        fmt::format("exact, {:.0f} % changed, {}", share * 100, scattered ? "scattered" : "in blobs");
    Moments moments(bench_frame, share, scattered);
    codec::Encoder encoder({.threshold = threshold}, bench_frame, session.cpu());
    HostChanges changes(bench_frame), peer_changes(bench_frame);
    HostImage reference(bench_frame), peer_reference(bench_frame);
    copy(moments.reference.view(), reference.view());
    copy(moments.reference.view(), peer_reference.view());
    int moment = 0, peer_moment = 0;
    const auto run = [&] {
        moment ^= 1;
        encoder.encode(moments.images[moment].view(), reference.view(), changes.view());
    };
    const auto peer = [&] {
        peer_moment ^= 1;
        const auto to = peer_changes.view();
        to.summaries[0].count = plain_loop(moments.images[peer_moment].view().data(), peer_reference.view().data(),
                                           bench_frame.bytes(), to.positions, to.differences);
    };
    for (int turn = 0; turn < 2; ++turn) {
        run();
        require_equal(changes.view(), moments.want[moment].view(), operation);
        peer();
        if (peer_changes.view().summaries[0].count != moments.want[peer_moment].view().summaries[0].count)
            fail(ErrorCode::internal, "the plain loop found a different count; not timed");
    }
    const auto timings = session.time_cpu({run, peer});
    session.add({"delta", operation, "framewire cpu", timings[0], moments.bytes_per_frame(),
                 timings[1].median_us / timings[0].median_us});
    session.add({"delta", operation, "plain loop, -O3", timings[1], moments.bytes_per_frame(), {}});
}

void bench_gpu(Session& session, double share, bool scattered) {
    const auto operation = fmt::format("exact, {:.0f} % changed, {}, batch {}", share * 100,
                                       scattered ? "scattered" : "in blobs", gpu_batch);
    auto& executor = *session.gpu();
    const auto& stream = executor.stream();
    Moments moments(bench_frame, share, scattered);
    const auto shape = bench_frame.with_frames(gpu_batch);
    HostImage batch(shape);
    cuda::DeviceImage images[2]{cuda::DeviceImage(shape), cuda::DeviceImage(shape)}, reference(shape);
    const auto upload_repeated = [&](const HostImage& image, cuda::DeviceImage& to) {
        for (int frame = 0; frame < gpu_batch; ++frame) copy(image.view(), batch.view().frames(frame, 1));
        cuda::upload(batch.view(), to.view(), stream);
        stream.synchronize();
    };
    upload_repeated(moments.images[0], images[0]);
    upload_repeated(moments.images[1], images[1]);
    upload_repeated(moments.reference, reference);

    codec::Encoder encoder({.threshold = threshold}, shape, executor);
    codec::DeviceChanges changes(shape);
    HostChanges host(shape);
    const auto encode = [&](int moment) {
        if constexpr (cuda::compiled) encoder.encode(images[moment].view(), reference.view(), changes.view());
    };
    for (const int moment : {1, 0}) {
        encode(moment);
        const auto all = static_cast<std::size_t>(shape.bytes());
        cuda::download(changes.view().positions, host.view().positions, all * 4, stream);
        cuda::download(changes.view().differences, host.view().differences, all, stream);
        cuda::download(changes.view().summaries, host.view().summaries, gpu_batch * sizeof(codec::Summary), stream);
        stream.synchronize();
        require_equal(host.view(), moments.want[moment].view(), operation);
    }
    // The number of turns is even, so R always holds the other frame, even when the graph starts over.
    static_assert(gpu_rotation % 2 == 0);
    int moment = 0;
    const auto timing = session.time_gpu([&](int) { encode(moment ^= 1); });
    session.add({"delta", operation, "framewire cuda", timing, moments.bytes_per_frame(), {}});
}

// Measures packing and unpacking on all threads of `executor`.
void bench_packing(Session& session, Executor& executor) {
    Moments moments(bench_frame, 0.02, false);
    const auto* pool = &executor.pool();
    codec::Packer packer(bench_frame, pool);
    codec::Unpacker unpacker(bench_frame, pool);
    std::vector<std::uint8_t> changes[2], picture, scratch;
    for (int moment = 0; moment < 2; ++moment)
        packer.pack_changes(moments.want[moment].view(), threshold, changes[moment]);
    packer.pack_picture(moments.images[1].view(), threshold, picture);
    HostImage viewer(bench_frame);
    unpacker.apply_picture(picture, viewer.view());
    Session::require_equal(viewer.view(), moments.images[1].view(), "packing a picture");
    const codec::Decoder decoder(bench_frame, executor);

    // The complete path of a frame: from the camera to packed bytes, and from these to the viewer's picture.
    codec::Encoder encoder({.threshold = threshold}, bench_frame, executor);
    HostChanges found(bench_frame);
    HostImage reference(bench_frame), held(bench_frame);
    copy(moments.reference.view(), reference.view());
    copy(moments.reference.view(), held.view());
    codec::ExactPacker exact(bench_frame, pool);
    int moment = 0, held_moment = 0;
    const auto all_in = [&] {
        moment ^= 1;
        scratch.clear();
        exact.pack_step(moments.images[moment].view(), reference.view(), threshold, scratch);
    };
    const auto by_list = [&] {
        moment ^= 1;
        encoder.encode(moments.images[moment].view(), reference.view(), found.view());
        scratch.clear();
        packer.pack_changes(found.view(), threshold, scratch);
    };
    const auto read = [&] {
        held_moment ^= 1;
        unpacker.apply_changes(changes[held_moment], held.view());
    };
    for (int turn = 0; turn < 4; ++turn) {
        turn < 2 ? all_in() : by_list();
        if (scratch != changes[moment]) fail(ErrorCode::internal, "the packers produced different bytes; not timed");
        read();
        Session::require_equal(held.view(), reference.view(), "unpacking what was compared");
    }
    const auto timings = session.time_cpu(
        {all_in, by_list, [&] { scratch.clear(), packer.pack_changes(moments.want[1].view(), threshold, scratch); },
         read, [&] { scratch.clear(), packer.pack_picture(moments.images[1].view(), threshold, scratch); },
         [&] { unpacker.apply_picture(picture, viewer.view()); },
         [&] { decoder.decode(moments.want[1].view(), viewer.view()); }});
    codec::BoundedPacker bounded(bench_frame, 1, pool);
    bounded.pack_first(moments.images[0].view(), held.view(), threshold, scratch);
    int bounded_moment = 0;
    const auto bounded_timings = session.time_cpu({[&] {
        scratch.clear();
        bounded.pack_step(moments.images[bounded_moment ^= 1].view(), held.view(), threshold, scratch);
    }});
    const std::map<std::string, std::string> details{{"threads", fmt::format("{}", pool->threads())}};
    const auto add = [&](const std::string& operation, const Timing& timing) {
        session.add({.suite = "delta",
                     .operation = operation,
                     .runner = "framewire cpu",
                     .timing = timing,
                     .details = details});
    };
    const std::string operations[] = {"compare and pack 2 % in blobs",
                                      "compare, list and pack 2 % in blobs",
                                      fmt::format("pack 2 % in blobs to {} bytes", changes[1].size()),
                                      "unpack the same",
                                      fmt::format("pack a picture to {} bytes", picture.size()),
                                      "unpack the same picture",
                                      "decode 2 % in blobs"};
    add("pack bounded 2 % in blobs", bounded_timings[0]);
    for (std::size_t i = 0; i < std::size(operations); ++i) add(operations[i], timings[i]);
}

// Measures batches in mode `bounded` on the GPU, from frames to packed bytes in device memory. Compares the bytes of
// the first stream with those of the CPU.
void bench_gpu_packing(Session& session) {
    auto& executor = *session.gpu();
    const auto& stream = executor.stream();
    const auto shape = bench_frame.with_frames(gpu_batch);
    const Moments moments(bench_frame, 0.02, false);
    cuda::DeviceImage images[2]{cuda::DeviceImage(shape), cuda::DeviceImage(shape)}, reference(shape);
    for (int moment = 0; moment < 2; ++moment)
        for (int frame = 0; frame < gpu_batch; ++frame)
            cuda::upload(moments.images[moment].view(), images[moment].view().frames(frame, 1), stream);

    constexpr int effort = 1;
    codec::BoundedBatchPacker packer(shape, effort, executor);
    codec::BoundedPacker on_cpu(bench_frame, effort);
    HostImage held(bench_frame);
    const auto check = [&](const codec::PackedBatch& packed, const std::vector<std::uint8_t>& want) {
        unsigned long long ends[2];
        std::vector<std::uint8_t> got(want.size());
        packed.ready->make_wait(stream);
        cuda::download(packed.begins, ends, sizeof(ends), stream);
        cuda::download(packed.bytes, got.data(), got.size(), stream);
        stream.synchronize();
        if (ends[1] != want.size() || got != want) fail(ErrorCode::internal, "the GPU packed different bytes");
    };
    std::vector<std::uint8_t> want;
    on_cpu.pack_first(moments.images[0].view(), held.view(), threshold, want);
    check(packer.pack_first(std::as_const(images[0]).view(), reference.view(), threshold), want);
    for (int moment = 1; moment >= 0; --moment) {
        want.clear();
        on_cpu.pack_step(moments.images[moment].view(), held.view(), threshold, want);
        check(packer.pack_step(std::as_const(images[moment]).view(), reference.view(), threshold), want);
    }
    int moment = 0;
    session.add({"delta",
                 fmt::format("pack bounded 2 % in blobs, batch {}", gpu_batch),
                 "framewire cuda",
                 session.time_gpu([&](int) {
                     moment ^= 1;
                     packer.pack_step(std::as_const(images[moment]).view(), reference.view(), threshold);
                 }),
                 0,
                 {}});
}

void bench_delta(Session& session) {
    for (const double share : {0.0, 0.02, 0.2})
        for (const bool scattered : {false, true}) {
            if (share == 0 && scattered) continue;
            bench_cpu(session, share, scattered);
            if (session.gpu()) bench_gpu(session, share, scattered);
        }
    bench_packing(session, session.cpu());
    if (session.threads() > 1) {
        Executor one_thread(BackendChoice::cpu, 1);
        bench_packing(session, one_thread);
    }
    if (session.gpu()) bench_gpu_packing(session);
}

const SuiteEntry delta_suite{"operations", "delta", bench_delta};

}  // namespace
}  // namespace framewire::bench
