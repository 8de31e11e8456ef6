#include "framewire/media/synth/source.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/detect/object_records.hpp"
#include "framewire/media/files/output_file.hpp"
#include "framewire/media/parameters.hpp"
#include "framewire/media/synth/figures.hpp"
#include "framewire/media/synth/noise.hpp"
#include "framewire/media/synth/room.hpp"

#include <spdlog/spdlog.h>

#include <optional>
#include <utility>

namespace framewire {
namespace {

Parameters parse(std::string_view text) {
    return {"synth", text, {"size", "fps", "noise", "objects", "seed", "frames", "truth"}};
}

class SynthSource final : public Source {
public:
    SynthSource(SourceInfo info, std::uint64_t seed, std::int64_t noise_thousandths, int objects,
                const std::string* truth, const SourceOptions& options)
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
            spdlog::error("{}", error.what());
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

}  // namespace

std::optional<std::string> synth_truth(std::string_view text) {
    const auto parameters = parse(text);
    const auto* truth = parameters.text("truth");
    return truth ? std::optional(*truth) : std::nullopt;
}

std::unique_ptr<Source> open_synth_source(std::string_view text, const SourceOptions& options) {
    const auto parameters = parse(text);
    const auto [width, height] = parameters.size("size").value_or(std::pair{1280, 720});
    SourceInfo info;
    info.name = text.empty() ? "synth" : "synth:" + std::string(text);
    info.shape = {1, height, width, 3};
    info.rate = parameters.rate("fps", {30, 1});
    if (parameters.text("frames")) info.frames = parameters.integer("frames", 0, 1, std::int64_t{1} << 40);
    if (std::int64_t{width} * height > options.max_pixels)
        fail(ErrorCode::usage, "synth: size={}x{} is more than the {} pixels allowed", width, height,
             options.max_pixels);
    const auto seed = static_cast<std::uint64_t>(parameters.integer("seed", 1, 0, std::int64_t{1} << 62));
    const auto noise = parameters.thousandths("noise", 6'000, 50'000);
    const auto objects = static_cast<int>(parameters.integer("objects", 5, 0, synth::most_figures));
    return std::make_unique<SynthSource>(std::move(info), seed, noise, objects, parameters.text("truth"), options);
}

}  // namespace framewire
