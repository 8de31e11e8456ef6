#include "framewire/session/batch/parts/cut_video.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/sinks/pieces/joined_file.hpp"
#include "framewire/media/sources/frame_times.hpp"
#include "framewire/session/input/stretch/stretch_position.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace framewire::session {
namespace {

// An output of the whole piece, and the parts that it is joined from.
struct CutOutput {
    std::string path;
    std::vector<FilePart> parts;
    bool is_film;
};

// Lists the outputs of the whole piece, still without parts.
std::vector<CutOutput> outputs_to_join(const Piece& whole) {
    std::vector<CutOutput> outputs;
    for (const auto& output : whole.files.outputs())
        outputs.push_back({output.path, {}, !whole.film.empty() && output.option == whole.film});
    return outputs;
}

}  // namespace

void require_can_be_joined(const JobFiles& files) {
    for (const auto& output : files.outputs())
        if (!can_be_joined(output.path))
            fail(ErrorCode::usage,
                 "{}: pieces of it cannot be joined (--segment); those of .jsonl, .txt, .npy, .y4m, .bgr, .gray, .mp4, "
                 ".mkv and .avi can",
                 output.path);
}

CutPiece cut_video(const Piece& whole, const InputOptions& input, const Cutting& cutting, bool audio,
                   const std::stop_token& stop, const StretchPiece& piece) {
    const auto times = frame_times_of(input.source, {.stop = stop});
    if (!times.unknown.empty()) log_info("{} is not cut: {}", input.source, times.unknown);
    CutPiece cut;
    auto outputs = outputs_to_join(whole);
    auto part_input = input;
    for (const auto& stretch : stretches_of(times, input, cutting)) {
        auto part = piece(stretch, fmt::format("{:05}", cut.parts.size()));
        part_input.stretch = stretch;
        const auto begin_seconds = whole_seconds_before(part_input);
        for (std::size_t output = 0; output < outputs.size(); ++output)
            outputs[output].parts.push_back({part.files.outputs().at(output).path, begin_seconds});
        cut.parts.push_back(std::move(part));
    }
    const auto medium = input.fps > 0 ? std::nullopt : times.medium;
    cut.join = [outputs = std::move(outputs), medium, audio](const JobOptions& job) {
        for (const auto& output : outputs)
            join_files(output.parts, output.path, {.stop = job.stop, .replace = job.replace},
                       output.is_film ? medium : std::nullopt, audio);
    };
    return cut;
}

}  // namespace framewire::session
