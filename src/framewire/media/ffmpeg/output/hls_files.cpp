// Files of an HLS recording. FFmpeg opens and closes them through two callbacks, which replace its own file access by
// OutputFile, so that every file appears complete and no existing file is lost before its replacement is ready.

#include "framewire/media/ffmpeg/output/hls_files.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

namespace framewire {
namespace {

constexpr std::string_view segment_ending = ".ts";
constexpr const char* unfinished_playlist = ".tmp";  // FFmpeg writes this file and renames it when it is closed
constexpr const char* end_of_playlist = "#EXT-X-ENDLIST";

// Content of a playlist from an earlier run.
struct OldPlaylist {
    bool finished = false;
    std::vector<std::string> segments;  // paths of the segments in its folder
};

// Reads a playlist; a missing file gives an empty one.
OldPlaylist read_playlist(const std::filesystem::path& path) {
    constexpr std::size_t most_segments = 1'000'000;
    OldPlaylist playlist;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line) && playlist.segments.size() < most_segments;) {
        if (line.ends_with('\r')) line.pop_back();
        if (line == end_of_playlist) playlist.finished = true;
        // Accept names without folders only, because these files may be removed: a foreign playlist must not refer
        // elsewhere.
        if (line.ends_with(segment_ending) && line.find('/') == std::string::npos)
            playlist.segments.push_back(path.parent_path() / line);
    }
    return playlist;
}

// File names in a folder that consist of `begin`, characters from `middle`, and `end`.
std::vector<std::string> names_of(const std::filesystem::path& folder, std::string_view begin, std::string_view middle,
                                  std::string_view end) {
    std::vector<std::string> names;
    std::error_code error;
    for (std::filesystem::directory_iterator entry(folder, error), last; !error && entry != last;
         entry.increment(error)) {
        auto name = entry->path().filename().string();
        if (name.size() <= begin.size() + end.size() || !name.starts_with(begin) || !name.ends_with(end)) continue;
        const auto rest = std::string_view(name).substr(begin.size(), name.size() - begin.size() - end.size());
        if (rest.find_first_not_of(middle) == std::string_view::npos) names.push_back(std::move(name));
    }
    return names;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
    return path.has_parent_path() ? path.parent_path() : ".";
}

// A prefix for segment names such that no file is named prefix, number and extension.
std::string free_stem(const std::filesystem::path& playlist) {
    const auto folder = folder_of(playlist);
    const auto stem = playlist.stem().string();
    auto free = stem;
    for (int number = 1; !names_of(folder, free, "0123456789", segment_ending).empty(); ++number)
        free = fmt::format("{}-{}-", stem, number);
    return (playlist.parent_path() / free).string();
}

// Removes segments that a killed process was writing.
void remove_left_segments(const std::filesystem::path& playlist) {
    const auto folder = folder_of(playlist);
    for (const auto& name :
         names_of(folder, playlist.stem().string(), "-0123456789", fmt::format("{}.part", segment_ending)))
        // The constructor removes the leftover.
        OutputFile((folder / name).replace_extension().string(), {.replace = true});
}

void remove_files(const std::vector<std::string>& paths) {
    std::error_code ignored;
    for (const auto& path : paths) std::filesystem::remove(path, ignored);
}

}  // namespace

// Decides whether the playlist is written in place or beside a finished one, and chooses segment names.
HlsFiles::HlsFiles(const std::string& playlist, const OutputFileOptions& options, bool followed,
                   CallbackFailure& failure)
    : name_(playlist), written_(playlist), options_(options), says_end_(!followed), failure_(failure) {
    const auto old = read_playlist(playlist), left = read_playlist(playlist + ".part");
    {
        const OutputFile can_be_written(playlist, options);
    }  // FFmpeg would notice an error only after the first segment
    if (!options.once_only) remove_files(left.segments);
    remove_left_segments(playlist);
    replaced_segments_ = old.segments;
    if (old.finished) {
        written_ += ".part";
        log_info("{} is a finished playlist; the new one is {} until it is finished", name_, written_);
    }
    stem_ = free_stem(playlist);
    options_.replace = true;  // of its own playlist; segment names are unused
}

void HlsFiles::serve(AVFormatContext& format) {
    format.opaque = this;
    format.io_open = [](AVFormatContext* context, AVIOContext** io, const char* url, int, AVDictionary**) {
        return static_cast<HlsFiles*>(context->opaque)->open(io, url);
    };
    format.io_close2 = [](AVFormatContext* context, AVIOContext* io) {
        return static_cast<HlsFiles*>(context->opaque)->close(io);
    };
}

// FFmpeg's pattern, with percent signs of the path escaped.
std::string HlsFiles::segment_pattern() const {
    std::string pattern;
    for (const char letter : stem_) pattern += letter == '%' ? std::string("%%") : std::string(1, letter);
    return pattern + "%d" + std::string(segment_ending);
}

// Called by FFmpeg for each segment and each version of the playlist.
int HlsFiles::open(AVIOContext** io, const char* url) {
    if (given_up_ || failure_.any()) return AVERROR(EIO);  // a playlist would list the missing segment
    if (replaced_) remove_replaced_segments();
    return static_cast<int>(failure_.guard([&] {
        auto opened = std::make_unique<OutputIo>(url, options_, failure_);
        *io = opened->context();
        opened_.emplace(*io, std::move(opened));
        return std::int64_t{0};
    }));
}

// Called by FFmpeg when a file is complete: adds the end marker to a playlist and gives the file its name.
int HlsFiles::close(AVIOContext* io) {
    const auto found = opened_.find(io);
    if (found == opened_.end()) return AVERROR(EINVAL);
    const auto result = given_up_ ? AVERROR(EIO) : static_cast<int>(failure_.guard([&] {
        auto& opened = *found->second;
        if (says_end_ && opened.file().name() == written_ + unfinished_playlist)
            avio_printf(io, "%s\n", end_of_playlist);
        opened.flush();
        if (io->error < 0) return std::int64_t{io->error};
        opened.file().finish();
        bytes_ += opened.file().bytes();
        if (opened.file().name() == name_ + unfinished_playlist) replaced_ = true;
        return std::int64_t{0};
    }));
    opened_.erase(found);
    return result;
}

void HlsFiles::finish(Ending ending) {
    failure_.rethrow();
    if (written_ == name_) {
        remove_replaced_segments();
        return;
    }
    if (ending == Ending::broken_off) {
        log_warning("{} stays as it was, for this run was broken off; what it wrote is {}", name_, written_);
        return;
    }
    std::error_code error;
    std::filesystem::rename(written_, name_, error);
    if (error) fail(ErrorCode::io, "cannot complete {}: {}; what was written is {}", name_, error.message(), written_);
    remove_replaced_segments();
}

// Removes the segments of the old playlist once the new one has replaced it.
void HlsFiles::remove_replaced_segments() {
    remove_files(replaced_segments_);
    replaced_segments_.clear();
}

}  // namespace framewire
