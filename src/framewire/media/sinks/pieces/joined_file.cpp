// Joins the outputs of consecutive time ranges. Lines, raw frames and y4m are concatenated; arrays are concatenated
// along their first dimension; video files are joined packet by packet (join_videos()).

#include "framewire/media/sinks/pieces/joined_file.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/files/input_file.hpp"
#include "framewire/media/formats/npy.hpp"
#include "framewire/media/formats/npy_reader.hpp"
#include "framewire/media/names.hpp"

#ifdef FRAMEWIRE_FFMPEG
#include "framewire/media/ffmpeg/cutting/video_join.hpp"
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace framewire {
namespace {

// Extensions whose joined files are byte-identical to a single run.
constexpr std::array<std::string_view, 6> equal_endings{".jsonl", ".txt", ".bgr", ".gray", ".y4m", ".npy"};
#ifdef FRAMEWIRE_FFMPEG
constexpr std::array<std::string_view, 3> video_endings{".mp4", ".mkv", ".avi"};
#else
constexpr std::array<std::string_view, 0> video_endings{};
#endif
constexpr std::size_t longest_copy_bytes = std::size_t{1} << 20;

// Extension in lower case.
std::string ending_of(const std::string& path) { return lower_case(std::filesystem::path(path).extension().native()); }

bool has(const auto& list, const std::string& ending) { return std::ranges::find(list, ending) != list.end(); }

void refuse_stopped(const InputFile& file) {
    if (file.stopped()) fail(ErrorCode::io, "stopped while {} was joined", file.name());
}

// First line of a file with its line end, up to a maximum length.
std::string first_line(InputFile& file) {
    constexpr std::size_t longest_line_bytes = 1024;
    std::string line;
    while (line.size() < longest_line_bytes && !line.ends_with('\n')) {
        const int letter = file.get();
        if (letter < 0) break;
        line += static_cast<char>(letter);
    }
    return line;
}

// Concatenates files. With `has_header` the first line (the header of y4m) is kept from the first part only, and must
// be equal in all.
void join_bytes(const std::vector<FilePart>& parts, OutputFile& output, bool has_header, const std::stop_token& stop) {
    std::vector<std::uint8_t> bytes(longest_copy_bytes);
    std::string header;
    for (const auto& one : parts) {
        InputFile file(one.path, stop);
        if (has_header) {
            const auto line = first_line(file);
            if (header.empty()) output.write(line.data(), line.size());
            if (!header.empty() && line != header)
                fail(ErrorCode::no_input, "{} holds other frames than the part before", one.path);
            header = line;
        }
        for (std::size_t got = bytes.size(); got == bytes.size();) {
            got = file.read(bytes.data(), bytes.size());
            refuse_stopped(file);
            output.write(bytes.data(), got);
        }
    }
}

// Reads the header of an array that framewire wrote, and checks it against the size of the file.
NpyHeader read_header(InputFile& file) {
    std::vector<std::uint8_t> bytes(NpyFile::header_bytes);
    bytes.resize(file.read(bytes.data(), bytes.size()));
    refuse_stopped(file);
    auto header = parse_npy_header(bytes, file.name());
    std::uint64_t frame_bytes = 4;
    const auto rest_bytes = file.length_bytes() - std::ssize(bytes);
    if (header.fortran_order || header.bytes != bytes.size() || header.shape.size() < 2 || rest_bytes < 0)
        fail(ErrorCode::no_input, "{} holds no arrays of frames", file.name());
    for (const auto side : std::span(header.shape).subspan(1))
        if (side < 1 || (frame_bytes *= static_cast<std::uint64_t>(side)) > static_cast<std::uint64_t>(rest_bytes))
            fail(ErrorCode::no_input, "{} ends within its first array", file.name());
    // The count in the header must agree with the size of the file.
    const auto frames = static_cast<std::uint64_t>(rest_bytes) / frame_bytes;
    if (frames != static_cast<std::uint64_t>(header.shape[0]) ||
        frames * frame_bytes != static_cast<std::uint64_t>(rest_bytes))
        fail(ErrorCode::no_input, "{} is cut off", file.name());
    return header;
}

// Copies `count` arrays of `values` elements.
template <class Value>
void copy_arrays(InputFile& from, std::int64_t count, std::size_t values, NpyFile& to) {
    std::vector<Value> array(values);
    for (std::int64_t number = 0; number < count; ++number) {
        from.read(array.data(), values * sizeof(Value));
        refuse_stopped(from);
        to.write(array.data(), values);
    }
}

// Concatenates arrays along their first dimension.
void join_arrays(const std::vector<FilePart>& parts, const std::string& output, const OutputFileOptions& options) {
    std::optional<NpyFile> file;
    NpyHeader first;
    for (const auto& one : parts) {
        InputFile from(one.path, options.stop);
        const auto header = read_header(from);
        const std::vector shape(header.shape.begin() + 1, header.shape.end());
        const bool floats = header.type == "<f4";
        if (!floats && header.type != "<i4") fail(ErrorCode::no_input, "{} is of type {}", one.path, header.type);
        std::size_t values = 1;
        for (const auto side : shape) values *= static_cast<std::size_t>(side);
        if (!file) {
            file.emplace(output, shape, true, options, floats ? NpyValues::float32 : NpyValues::int32);
            first = header;
        }
        if (header.type != first.type || !std::ranges::equal(shape, std::span(first.shape).subspan(1)))
            fail(ErrorCode::no_input, "{} holds other arrays than the part before", one.path);
        if (floats)
            copy_arrays<float>(from, header.shape[0], values, *file);
        else
            copy_arrays<std::int32_t>(from, header.shape[0], values, *file);
    }
    file->finish();
}

}  // namespace

bool can_be_joined(const std::string& path) {
    const auto ending = ending_of(path);
    return has(equal_endings, ending) || has(video_endings, ending);
}

void join_files(const std::vector<FilePart>& parts, const std::string& output, const OutputFileOptions& options,
                const std::optional<MediumFile>& medium, bool audio) {
    const auto ending = ending_of(output);
    if (parts.empty() || !can_be_joined(output)) fail(ErrorCode::usage, "{} cannot be joined of parts", output);
#ifdef FRAMEWIRE_FFMPEG
    if (has(video_endings, ending)) {
        std::vector<VideoPart> videos;
        for (const auto& one : parts) videos.push_back({one.path, one.begin_seconds});
        return join_videos(videos, output, options, medium, audio);
    }
#else
    static_cast<void>(medium), static_cast<void>(audio);
#endif
    if (ending == ".npy") return join_arrays(parts, output, options);
    OutputFile file(output, options);
    join_bytes(parts, file, ending == ".y4m", options.stop);
    file.finish();
}

}  // namespace framewire
