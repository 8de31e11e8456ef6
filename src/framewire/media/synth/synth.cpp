// The synthetic camera as a Source: a static room, moving figures and sensor noise. All arithmetic is in integers, so
// a text gives the same bytes on every machine, on the CPU and on a GPU.
//
//    room (once) + figures (per frame, on the CPU) = picture;  picture + noise (CPU or GPU) = frame

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/cuda/device/build.hpp"
#include "framewire/detect/object_records.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/sources/source_kind.hpp"
#include "framewire/media/synth/figures.hpp"
#include "framewire/media/synth/noise.hpp"
#include "framewire/media/synth/room.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

namespace framewire {
namespace {

constexpr double noise_unit = 1000;  // noise is configured in 1/1000 level

// The picture (room and figures) is drawn on the CPU for each frame; noise is added on the CPU or, if the frame has a
// GPU, there.
class SynthSource final : public Source {
public:
    SynthSource(SourceInfo info, std::uint64_t seed, std::int64_t noise_thousandths, int objects,
                const std::optional<std::string>& truth, const SourceOptions& options)
        : info_(std::move(info)),
          stop_(options.stop),
          room_(info_.shape),
          picture_(info_.shape),
          figures_({info_.shape.width, info_.shape.height}, seed, objects),
          noise_(seed, noise_thousandths),
          nothing_{info_.shape.height, 0},
          changed_{0, info_.shape.height} {
        if (truth) truth_.emplace(*truth, OutputFileOptions{options.stop, options.replace_truth});
        synth::paint_room({info_.shape.width, info_.shape.height}, seed, room_.view());
        copy(std::as_const(room_).view(), picture_.view());
    }

    // A source that is destroyed before its end still completes the file of true boxes.
    ~SynthSource() override {
        try {
            finish_truth();
        } catch (const Error& error) {
            log_error("{}", error.what());
        }
    }

    const SourceInfo& info() const override { return info_; }

    bool read(HostView<std::uint8_t> image, FrameTime& time) override {
        validate(image, info_.shape, "the image to read into");
        return next(time, [&](HostView<const std::uint8_t> picture) { noise_.add(picture, index_, image); });
    }

    // Draws the figures on the CPU, uploads the rows that changed, and adds noise on the GPU.
    bool capture(Frame& frame, FrameTime& time) override {
        if (!frame.has_gpu()) return Source::capture(frame, time);
        return next(time, [&](HostView<const std::uint8_t> picture) {
            if constexpr (cuda::compiled)
                frame.fill_on_gpu([&](DeviceView<std::uint8_t> image, const cuda::Stream& stream) {
                    if (!on_gpu_) on_gpu_.emplace(noise_, info_.shape);
                    on_gpu_->render(picture, changed_.begin, changed_.end, index_, image, stream);
                    changed_ = nothing_;
                });
        });
    }

private:
    // Draws the next picture; add_noise(picture) makes the frame from it.
    template <class AddNoise>
    bool next(FrameTime& time, AddNoise&& add_noise) {
        if (stop_.stop_requested()) return false;
        if (info_.frames && index_ >= *info_.frames) {
            finish_truth();
            return false;
        }
        const double seconds = static_cast<double>(index_) * static_cast<double>(info_.rate.denominator) /
                               static_cast<double>(info_.rate.numerator);
        const auto time_us = static_cast<std::int64_t>(static_cast<__int128>(index_) * info_.rate.denominator *
                                                       1'000'000 / info_.rate.numerator);
        const auto& seen = figures_.draw(time_us, std::as_const(room_).view(), picture_.view());
        const auto& rows = figures_.changed_rows();
        changed_ = {std::min(changed_.begin, rows.begin), std::max(changed_.end, rows.end)};
        add_noise(std::as_const(picture_).view());
        if (truth_) write_truth(seen, seconds);
        time = {index_++, seconds, Clock::now()};
        return true;
    }

    // Writes the visible figures of a frame as one JSON line.
    void write_truth(const std::vector<Component>& seen, double seconds) {
        const auto line = to_json_line({index_, seconds, info_.shape.width, info_.shape.height, seen});
        try {
            truth_->write(line.data(), line.size());
        } catch (const Error&) {
            truth_.reset();  // the file ends inside a line, so it must not get its name
            throw;
        }
        truth_->mark_whole();
    }

    // Completes the file of true boxes. Because it consists of lines, it is complete at any end of the source.
    void finish_truth() {
        if (!truth_) return;
        truth_->finish(stop_.stop_requested() ? Ending::broken_off : Ending::complete);
        truth_.reset();
    }

    SourceInfo info_;
    std::stop_token stop_;
    HostImage room_;
    HostImage picture_;  // the room with the figures
    synth::Figures figures_;
    synth::SensorNoise noise_;
    std::optional<synth::NoisyOnGpu> on_gpu_;  // created by the first frame that has a GPU
    const synth::Figures::Rows nothing_;
    synth::Figures::Rows changed_;  // rows that changed since the last upload; at first all
    std::optional<OutputFile> truth_;
    std::int64_t index_ = 0;
};

// All parameters have defaults, so "synth" alone is a valid source.
std::unique_ptr<Source> open_synth_source(const SourceCall& call, const SourceOptions& options) {
    const auto& values = call.values;
    const auto [width, height] = values.size("size");
    SourceInfo info;
    info.name = call.text;
    info.shape = {1, height, width, 3};
    info.rate = values.rate("fps");
    if (values.has("frames")) info.frames = values.integer("frames");
    if (std::int64_t{width} * height > options.max_pixels)
        fail(ErrorCode::usage, "synth: size={}x{} is more than the {} pixels allowed", width, height,
             options.max_pixels);
    return std::make_unique<SynthSource>(
        std::move(info), static_cast<std::uint64_t>(values.integer("seed")),
        std::llround(values.real("noise") * noise_unit), static_cast<int>(values.integer("objects")),
        values.has("truth") ? std::optional(values.text("truth")) : std::nullopt, options);
}

}  // namespace

// The table entry for the synthetic camera.
SourceKind synth_source() {
    using Type = ParameterInfo::Type;
    return {
        .name = "synth",
        .form = "synth:KEY=VALUE...",
        .summary =
            "the synthetic camera: a still room with moving objects and sensor noise, the same bytes for the "
            "same text everywhere",
        .prefix = "synth:",
        .parameters = {{.name = "size",
                        .help = "of its pictures",
                        .type = Type::size,
                        .default_value = "1280x720",
                        .minimum = 1,
                        .maximum = max_side_px},
                       {.name = "fps", .help = "its rate", .type = Type::rate, .default_value = "30"},
                       {.name = "noise",
                        .help = "of the sensor: standard deviation in levels",
                        .type = Type::real,
                        .default_value = "6",
                        .maximum = 50,
                        .decimals = 3},
                       {.name = "objects", .help = "that move", .default_value = "5", .maximum = synth::most_figures},
                       {.name = "seed", .help = "of all that is random", .default_value = "1", .maximum = 0x1p62},
                       {.name = "frames",
                        .help = "after which it ends; without, it does not",
                        .minimum = 1,
                        .maximum = 0x1p40,
                        .optional = true},
                       {.name = "truth",
                        .help = "a file for the true boxes of its objects, one JSON line a frame",
                        .type = Type::text,
                        .optional = true}},
        .examples = {"synth", "synth:size=640x360:fps=30:objects=3:seed=7:truth=truth.jsonl"},
        .open = open_synth_source,
        .writes = [](const SourceCall& call) { return call.values.texts("truth"); }};
}

}  // namespace framewire
