#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/detect/object_records.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/sources/source_kind.hpp"
#include "framewire/media/synth/figures.hpp"
#include "framewire/media/synth/noise.hpp"
#include "framewire/media/synth/room.hpp"

#include <cmath>
#include <optional>
#include <utility>

namespace framewire {
namespace {

constexpr double noise_unit = 1000;  // thousandths

class SynthSource final : public Source {
public:
    SynthSource(SourceInfo info, std::uint64_t seed, std::int64_t noise_thousandths, int objects,
                const std::optional<std::string>& truth, const SourceOptions& options)
        : info_(std::move(info)),
          stop_(options.stop),
          room_(info_.shape),
          picture_(info_.shape),
          figures_({info_.shape.width, info_.shape.height}, seed, objects),
          noise_(seed, noise_thousandths) {
        if (truth) truth_.emplace(*truth, OutputFileOptions{options.stop, options.replace_truth});
        synth::paint_room({info_.shape.width, info_.shape.height}, seed, room_.view());
        copy(std::as_const(room_).view(), picture_.view());
    }

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
        noise_.add(std::as_const(picture_).view(), index_, image);
        if (truth_) write_truth(seen, seconds);
        time = {index_++, seconds, Clock::now()};
        return true;
    }

private:
    void write_truth(const std::vector<Component>& seen, double seconds) {
        const auto line = to_json_line({index_, seconds, info_.shape.width, info_.shape.height, seen});
        try {
            truth_->write(line.data(), line.size());
        } catch (const Error&) {
            truth_.reset();  // ends within a line, and so does not appear
            throw;
        }
        truth_->mark_whole();
    }

    // Line by line it is whole whenever the source ends.
    void finish_truth() {
        if (!truth_) return;
        truth_->finish(stop_.stop_requested() ? Ending::broken_off : Ending::complete);
        truth_.reset();
    }

    SourceInfo info_;
    std::stop_token stop_;
    HostImage room_;
    HostImage picture_;  // the room with its figures
    synth::Figures figures_;
    synth::SensorNoise noise_;
    std::optional<OutputFile> truth_;
    std::int64_t index_ = 0;
};

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
