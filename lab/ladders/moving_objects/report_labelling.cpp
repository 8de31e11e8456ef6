#include "ladders/moving_objects/report_labelling.hpp"

#include "framewire/core/error.hpp"
#include "ladders/moving_objects/kernels.hpp"
#include "ladders/moving_objects/loops.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace framewire::bench::moving_objects {
namespace report_labelling {

// The masks, and their labels by union-find: one more than the index of the component's first pixel.
struct LabelledMasks {
    FrameSize size;
    HostView<const std::uint8_t> masks;
    std::vector<std::vector<std::int32_t>> want;

    LabelledMasks(HostView<const std::uint8_t> all, const std::vector<std::vector<std::int32_t>>& labels)
        : size{all.shape().width, all.shape().height}, masks(all), want(labels) {
        for (auto& image : want) {
            std::vector<std::int32_t> first_pixels;  // index of each component's first pixel, in raster order
            for (std::size_t pixel = 0; pixel < image.size(); ++pixel) {
                if (!image[pixel]) continue;
                if (static_cast<std::size_t>(image[pixel]) > first_pixels.size())
                    first_pixels.push_back(static_cast<std::int32_t>(pixel));
                image[pixel] = first_pixels[static_cast<std::size_t>(image[pixel] - 1)] + 1;
            }
        }
    }
    int count() const { return masks.shape().frames; }
    const std::uint8_t* mask(int turn) const { return masks.row(turn % count(), 0); }
    void require(const std::vector<std::int32_t>& labels, int turn, const std::string& variant) const {
        if (labels != want[static_cast<std::size_t>(turn % count())])
            fail(ErrorCode::internal, "{}: the labels of mask {} differ from the reference; not timed", variant, turn);
    }
    // Returns the least memory traffic: the mask is read, its labels are written.
    double fewest_bytes() const { return static_cast<double>((1 + sizeof(std::int32_t)) * size.pixels()); }
};

void bench_loops(Session& session, const LabelledMasks& masks, Row row) {
    std::vector<std::int32_t> labels(masks.size.pixels());
    int turn = 0;
    const auto run = [&] { label(masks.size, masks.mask(turn++), labels.data()); };
    run();
    masks.require(labels, 0, row.operation);
    row.runner = "cpu, 1 thread";
    row.timing = session.time_cpu({run}).front();
    session.add(std::move(row));
}

#if FRAMEWIRE_BENCHES_ON_GPU
void bench_gpu(Session& session, const LabelledMasks& masks, Row row, int block_px) {
    const auto& stream = session.gpu()->stream();
    std::vector<cuda::DeviceBuffer> on_device;
    for (int turn = 0; turn < masks.count(); ++turn) {
        on_device.emplace_back(masks.size.pixels());
        cuda::upload(masks.mask(turn), on_device.back().data(), on_device.back().bytes(), stream);
    }
    const cuda::DeviceBuffer device_labels(sizeof(std::int32_t) * masks.size.pixels());
    std::vector<std::int32_t> labels(masks.size.pixels());
    const BlockLaunch launch{masks.size, block_px, stream};
    const auto queue = [&](int turn) {
        const auto* mask = on_device[static_cast<std::size_t>(turn % masks.count())].data();
        queue_init_labels(launch, mask, device_labels.as<std::int32_t>());
        queue_merge_labels(launch, mask, device_labels.as<std::int32_t>());
        queue_compress_labels(launch, mask, device_labels.as<std::int32_t>());
    };
    const auto download = [&] {
        cuda::download(device_labels.data(), labels.data(), device_labels.bytes(), stream);
        stream.synchronize();
    };
    for (int turn = 0; turn < masks.count(); ++turn) {
        queue(turn);
        download();
        masks.require(labels, turn, row.operation);
    }
    row.details["block"] = fmt::format("{0}x{0}", block_px);
    row.runner = fmt::format("GPU v1.{} cuda", block_px == 32 ? 2 : 3);
    row.timing = session.time_launches(queue);
    session.add(row);
    row.operation += ", with transfers";
    row.details["step"] = "whole";
    row.timing = session.time_host([&](int turn) {
        const auto& mask = on_device[static_cast<std::size_t>(turn % masks.count())];
        cuda::upload(masks.mask(turn), mask.data(), mask.bytes(), stream);
        queue(turn);
        download();
    });
    session.add(std::move(row));
}
#endif

}  // namespace report_labelling

void bench_report_labelling(Session& session, const std::string& suite, int squares, HostView<const std::uint8_t> masks,
                            const std::vector<std::vector<std::int32_t>>& labels) {
    using namespace report_labelling;
    const LabelledMasks all(masks, labels);
    Row row;
    row.suite = suite;
    row.operation = fmt::format("union-find, {} squares", squares);
    row.bytes = all.fewest_bytes();
    row.details = {{"components", std::to_string(squares)}, {"step", "kernel"}};
    const auto attempt = [&](const char* variant, const auto& part) {
        session.attempt(fmt::format("{}, {}", row.operation, variant), part);
    };
    attempt("cpu", [&] { bench_loops(session, all, row); });
#if FRAMEWIRE_BENCHES_ON_GPU
    if (session.gpu())
        for (const int block_px : {32, 16}) attempt("cuda", [&] { bench_gpu(session, all, row, block_px); });
#endif
}

}  // namespace framewire::bench::moving_objects
