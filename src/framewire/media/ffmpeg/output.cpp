#include "framewire/media/ffmpeg/output.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

// Files of an HLS recording. FFmpeg opens and closes them through two callbacks, which replace its own file access with
// OutputFile, so that every file appears complete and no existing file is lost before its replacement is ready.

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

// Reads a playlist; returns an empty one if the file does not exist.
OldPlaylist read_playlist(const std::filesystem::path& path) {
    constexpr std::size_t most_segments = 1'000'000;
    OldPlaylist playlist;
    std::ifstream file(path);
    for (std::string line; std::getline(file, line) && playlist.segments.size() < most_segments;) {
        if (line.ends_with('\r')) line.pop_back();
        if (line == end_of_playlist) playlist.finished = true;
        // Accept only names without folders, because these files may be removed: a foreign playlist must not refer to
        // files elsewhere.
        if (line.ends_with(segment_ending) && line.find('/') == std::string::npos)
            playlist.segments.push_back(path.parent_path() / line);
    }
    return playlist;
}

// Returns the file names in a folder that consist of `begin`, characters from `middle`, and `end`.
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

// Returns a prefix for segment names. No existing file has a name that consists of the prefix, a number and the
// extension.
std::string free_stem(const std::filesystem::path& playlist) {
    const auto folder = folder_of(playlist);
    const auto stem = playlist.stem().string();
    auto free = stem;
    for (int number = 1; !names_of(folder, free, "0123456789", segment_ending).empty(); ++number)
        free = fmt::format("{}-{}-", stem, number);
    return (playlist.parent_path() / free).string();
}

// Removes unfinished segments that a killed process left.
void remove_left_segments(const std::filesystem::path& playlist) {
    const auto folder = folder_of(playlist);
    for (const auto& name :
         names_of(folder, playlist.stem().string(), "-0123456789", fmt::format("{}.part", segment_ending)))
        // The constructor of OutputFile removes the unfinished file.
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
    }  // an error here would be noticed by FFmpeg only after the first segment
    if (!options.once_only) remove_files(left.segments);
    remove_left_segments(playlist);
    replaced_segments_ = old.segments;
    if (old.finished) {
        written_ += ".part";
        log_info("{} is a finished playlist; the new one is written to {} until it is complete", name_, written_);
    }
    stem_ = free_stem(playlist);
    options_.replace = true;  // the playlist replaces its own earlier versions; segment names are unused
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

// Returns FFmpeg's pattern for segment names, with the percent signs of the path escaped.
std::string HlsFiles::segment_pattern() const {
    std::string pattern;
    for (const char letter : stem_) pattern += letter == '%' ? std::string("%%") : std::string(1, letter);
    return pattern + "%d" + std::string(segment_ending);
}

// Opens a file for FFmpeg, which calls this for each segment and each version of the playlist.
int HlsFiles::open(AVIOContext** io, const char* url) {
    if (given_up_ || failure_.any()) return AVERROR(EIO);  // otherwise a playlist would list the missing segment
    if (replaced_) remove_replaced_segments();
    return static_cast<int>(failure_.guard([&] {
        auto opened = std::make_unique<OutputIo>(url, options_, failure_);
        *io = opened->context();
        opened_.emplace(*io, std::move(opened));
        return std::int64_t{0};
    }));
}

// Closes a file that FFmpeg has completed: adds the end marker to a playlist and gives the file its name.
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
        log_warning("{} is unchanged because this run was interrupted; the output is in {}", name_, written_);
        return;
    }
    std::error_code error;
    std::filesystem::rename(written_, name_, error);
    if (error)
        fail(ErrorCode::io, "cannot complete {}: {}; the incomplete output is in {}", name_, error.message(), written_);
    remove_replaced_segments();
}

// Removes the segments of the old playlist once the new one has replaced it.
void HlsFiles::remove_replaced_segments() {
    remove_files(replaced_segments_);
    replaced_segments_.clear();
}

}  // namespace framewire

// Rewrites MP4 recordings. They are written as fragments, so that a killed process leaves a playable file. At the end
// this code copies all packets into a second file with one index before the data, and OutputFile::rewrite() swaps the
// two.

extern "C" {
#include <libavutil/opt.h>
}

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace framewire {
namespace {

constexpr int io_buffer_bytes = 1 << 18;

// AVIOContext over a file descriptor, with positioned reads and writes.
class DescriptorIo {
public:
    DescriptorIo(int descriptor, bool writes) : descriptor_(descriptor) {
        auto* buffer = static_cast<unsigned char*>(av_malloc(io_buffer_bytes));
        if (buffer)
            context_ = avio_alloc_context(buffer, io_buffer_bytes, writes, this, writes ? nullptr : read,
                                          writes ? write : nullptr, seek);
        if (context_) return;
        av_free(buffer);
        fail(ErrorCode::config, "not enough memory to write");
    }
    ~DescriptorIo() {
        av_freep(&context_->buffer);
        avio_context_free(&context_);
    }
    DescriptorIo(const DescriptorIo&) = delete;
    DescriptorIo& operator=(const DescriptorIo&) = delete;

    AVIOContext* context() const { return context_; }

private:
    // Callbacks of AVIOContext; they return errors as FFmpeg's codes.
    static int read(void* self, std::uint8_t* data, int bytes) {
        auto& io = *static_cast<DescriptorIo*>(self);
        const auto got = ::pread(io.descriptor_, data, static_cast<std::size_t>(bytes), io.position_);
        if (got == 0) return AVERROR_EOF;
        if (got < 0) return AVERROR(errno);
        io.position_ += got;
        return static_cast<int>(got);
    }
    static int write(void* self, std::uint8_t* data, int bytes) {
        auto& io = *static_cast<DescriptorIo*>(self);
        for (int put = 0; put < bytes;) {
            const auto some = ::pwrite(io.descriptor_, data + put, static_cast<std::size_t>(bytes - put), io.position_);
            if (some < 0 && errno == EINTR) continue;
            if (some < 0) return AVERROR(errno);
            put += static_cast<int>(some);
            io.position_ += some;
        }
        return bytes;
    }
    static std::int64_t seek(void* self, std::int64_t offset_bytes, int whence) {
        auto& io = *static_cast<DescriptorIo*>(self);
        const auto size = ::lseek(io.descriptor_, 0, SEEK_END);
        if (whence == AVSEEK_SIZE) return size;
        if (whence == SEEK_CUR) offset_bytes += io.position_;
        if (whence == SEEK_END) offset_bytes += size;
        return io.position_ = offset_bytes;
    }

    int descriptor_;
    AVIOContext* context_ = nullptr;
    std::int64_t position_ = 0;
};

// Throws Error{io} if an FFmpeg call failed.
void require(int result, const char* doing) {
    if (result < 0) fail(ErrorCode::io, "cannot {}: {}", doing, ffmpeg_error(result));
}

// Returns an upper bound for the size of the index: per packet (times, offset, size, chunk, key frame), per stream and
// for metadata. FFmpeg reserves that many bytes before the data.
std::int64_t moov_bytes(const AVFormatContext& read, const AVFormatContext& output, std::int64_t packets) {
    std::int64_t bytes = 4096 + 48 * packets + 2048 * std::int64_t{output.nb_chapters};
    for (unsigned index = 0; index < read.nb_streams; ++index)
        bytes += 4096 + 4 * std::int64_t{read.streams[index]->codecpar->extradata_size};
    const AVDictionaryEntry* entry = nullptr;
    while ((entry = av_dict_get(output.metadata, "", entry, AV_DICT_IGNORE_SUFFIX)))
        bytes += 64 + 2 * static_cast<std::int64_t>(std::string_view(entry->key).size() +
                                                    std::string_view(entry->value).size());
    return bytes;
}

// Declares the streams of the new file with the properties of the old ones.
void copy_streams(const AVFormatContext& from, const AVFormatContext& written, AVFormatContext& to) {
    // The file may have an additional time code track, which the muxer creates from metadata: do not copy it, because
    // the muxer creates it again.
    for (unsigned index = 0; index < std::min(from.nb_streams, written.nb_streams); ++index) {
        const auto& in = *from.streams[index];
        auto* out = avformat_new_stream(&to, nullptr);
        if (!out) fail(ErrorCode::config, "not enough memory for a stream");
        require(avcodec_parameters_copy(out->codecpar, in.codecpar), "copy a stream");
        out->time_base = in.time_base;
        out->avg_frame_rate = in.avg_frame_rate;
        out->sample_aspect_ratio = in.sample_aspect_ratio;
        out->codecpar->sample_aspect_ratio = in.sample_aspect_ratio;  // the muxer writes this copy of the aspect ratio
        out->disposition = written.streams[index]->disposition;
        av_dict_copy(&out->metadata, written.streams[index]->metadata, 0);
    }
}

// Copies all packets in interleaved order.
void copy_packets(AVFormatContext& from, AVFormatContext& to, const LastPicture& last) {
    std::int64_t pictures = 0;
    const auto packet = make_packet();
    for (;;) {
        av_packet_unref(packet.get());  // also packets of tracks that are not copied
        const int read = av_read_frame(&from, packet.get());
        if (read == AVERROR_EOF) return;
        require(read, "read back the recording");
        const auto index = static_cast<unsigned>(packet->stream_index);
        if (index >= to.nb_streams) continue;
        av_packet_rescale_ts(packet.get(), from.streams[index]->time_base, to.streams[index]->time_base);
        packet->pos = -1;
        // If pictures are reordered, FFmpeg's reader of fragments does not return the duration of the last one: set it.
        const auto* stream = to.streams[index];
        if (index == 0 && ++pictures == last.number && last.ticks > 0)
            packet->duration = av_rescale_q(last.ticks, last.clock, stream->time_base);
        require(av_interleaved_write_frame(&to, packet.get()), "write");
    }
}

// Copies the recording open at descriptor `from` to descriptor `to`, with the index in front.
void rewrite(int from, int to, const AVFormatContext& written, const std::string& muxer, std::int64_t packets,
             const LastPicture& last, int movie_ticks, const std::function<void(AVFormatContext&)>& add_chapters) {
    const DescriptorIo in(from, false), out(to, true);
    auto* opened = avformat_alloc_context();
    if (!opened) fail(ErrorCode::config, "not enough memory to read");
    opened->pb = in.context();
    require(avformat_open_input(&opened, nullptr, av_find_input_format("mov"), nullptr), "read back the recording");
    const InputPointer input(opened);

    AVFormatContext* created = nullptr;
    require(avformat_alloc_output_context2(&created, nullptr, muxer.c_str(), nullptr), "write");
    const OutputPointer output(created);
    output->pb = out.context();
    output->flags |= AVFMT_FLAG_CUSTOM_IO;
    copy_streams(*input, written, *output);
    av_dict_copy(&output->metadata, written.metadata, 0);
    add_chapters(*output);
    Dictionary dictionary;
    // The muxer leaves this much space before the data and writes the index there at the end.
    dictionary.set("moov_size", moov_bytes(*input, *output, packets));
    dictionary.set("use_editlist", 1);
    dictionary.set("movie_timescale", movie_ticks);
    require(avformat_write_header(output.get(), dictionary.address()), "begin");
    copy_packets(*input, *output, last);
    require(av_write_trailer(output.get()), "complete");
    avio_flush(output->pb);
    require(output->pb->error, "complete");
}

}  // namespace

void put_moov_in_front(OutputFile& file, const AVFormatContext& written, const std::string& muxer, std::int64_t packets,
                       const LastPicture& last, int movie_ticks,
                       const std::function<void(AVFormatContext&)>& add_chapters) {
    try {
        file.rewrite(
            [&](int from, int to) { rewrite(from, to, written, muxer, packets, last, movie_ticks, add_chapters); });
    } catch (const Error& error) {
        log_warning("{}: {}; the file remains fragmented but is playable", file.name(), error.what());
    }
}

// Sets a flag that makes the muxer take the start time of new streams from the fragment.
void begin_late_streams(AVFormatContext& format) { av_opt_set(format.priv_data, "movflags", "+frag_discont", 0); }

}  // namespace framewire

// AVIOContext that writes to an OutputFile. FFmpeg is C code, so exceptions stop at the callbacks and are rethrown by
// the caller.

namespace framewire {
namespace {

constexpr int buffer_bytes = 1 << 16;

}  // namespace

OutputIo::OutputIo(const std::string& path, OutputFileOptions options, CallbackFailure& failure)
    : file_(path, std::move(options)), failure_(failure) {
    auto* buffer = static_cast<unsigned char*>(av_malloc(buffer_bytes));
    if (buffer)
        context_ = avio_alloc_context(buffer, buffer_bytes, 1, this, nullptr, write, file_.seekable() ? seek : nullptr);
    if (context_) return;
    av_free(buffer);
    fail(ErrorCode::config, "not enough memory to write {}", file_.name());
}

OutputIo::~OutputIo() {
    av_freep(&context_->buffer);
    avio_context_free(&context_);
}

void OutputIo::flush() {
    avio_flush(context_);
    failure_.rethrow();
}

// Writes for FFmpeg. Exceptions are stored and reported as EIO.
int OutputIo::write(void* self, std::uint8_t* data, int bytes) {
    auto& io = *static_cast<OutputIo*>(self);
    return static_cast<int>(io.failure_.guard([&] {
        io.file_.write(data, static_cast<std::size_t>(bytes));
        return std::int64_t{bytes};
    }));
}

std::int64_t OutputIo::seek(void* self, std::int64_t offset_bytes, int whence) {
    if (whence != SEEK_SET) return AVERROR(ENOSYS);
    auto& io = *static_cast<OutputIo*>(self);
    return io.failure_.guard([&] {
        io.file_.seek(offset_bytes);
        return offset_bytes;
    });
}

}  // namespace framewire
