#pragma once

#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/output_file.hpp"

#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

namespace framewire {

/// Stores an exception from an FFmpeg callback until it can be rethrown: exceptions must not pass through C code.
class CallbackFailure {
public:
    /// Returns the result of `body`, or AVERROR(EIO) if it threw. Keeps the first exception.
    template <class Body>
    std::int64_t guard(Body&& body) noexcept {
        try {
            return body();
        } catch (...) {
            if (!failure_) failure_ = std::current_exception();
            return AVERROR(EIO);
        }
    }
    /// Returns true if an exception is stored.
    bool any() const { return failure_ != nullptr; }
    /// Throws the stored exception, if any, and clears it.
    void rethrow() {
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

private:
    std::exception_ptr failure_;
};

/// AVIOContext that writes to an OutputFile.
class OutputIo {
public:
    /// Write errors are stored in `failure`, which must outlive this object. Throws Error{io} if the file cannot be
    /// created.
    OutputIo(const std::string& path, OutputFileOptions options, CallbackFailure& failure);
    ~OutputIo();
    OutputIo(const OutputIo&) = delete;
    OutputIo& operator=(const OutputIo&) = delete;

    /// Returns the context for AVFormatContext::pb.
    AVIOContext* context() const { return context_; }
    OutputFile& file() { return file_; }
    const OutputFile& file() const { return file_; }

    /// Writes everything that FFmpeg has buffered to the file. Throws the stored exception, if any.
    void flush();

private:
    // Callbacks of AVIOContext.
    static int write(void* self, std::uint8_t* data, int bytes);
    static std::int64_t seek(void* self, std::int64_t offset_bytes, int whence);

    OutputFile file_;
    CallbackFailure& failure_;
    AVIOContext* context_ = nullptr;
};

/// Files of an HLS recording (RFC 8216). Each segment and each version of the playlist appears only when complete, so
/// that the files can be played at any moment. A finished playlist with the same name stays until the new one is
/// finished; an unfinished one, left by a killed process, is replaced by the first version. Segments of a replaced
/// playlist are removed. Each version ends with EXT-X-ENDLIST, so that readers do not wait for more, unless players
/// follow the recording. Segments are named NAME0.ts, NAME1.ts ..., or NAME-1-0.ts ... if such files exist.
class HlsFiles {
public:
    /// Errors in callbacks are stored in `failure`, which must outlive this object. `followed` means that players read
    /// the playlist while it grows. Throws Error{io} if the folder cannot be written, or if a playlist exists that may
    /// not be replaced.
    HlsFiles(const std::string& playlist, const OutputFileOptions& options, bool followed, CallbackFailure& failure);

    /// Makes `format`, an hls muxer, open its files through this object, which must outlive the muxer's writes.
    void serve(AVFormatContext& format);
    /// Returns the name pattern for FFmpeg's segment numbers.
    std::string segment_pattern() const;
    /// Returns the path under which FFmpeg writes the playlist.
    const std::string& playlist() const { return written_; }

    /// Stops adding end markers. Call it before FFmpeg's trailer, which writes the end marker itself.
    void end() { says_end_ = false; }
    /// Completes the recording. Call it when FFmpeg is done. A playlist that was written beside an existing one takes
    /// its name, unless `ending` is broken_off.
    void finish(Ending ending);
    /// Abandons the recording: no further file is opened, and files that FFmpeg closes do not appear.
    void give_up() { given_up_ = true; }
    /// Returns the total size of all files.
    std::int64_t bytes() const { return bytes_; }

private:
    // Implements FFmpeg's io_open.
    int open(AVIOContext** io, const char* url);
    // Implements FFmpeg's io_close2.
    int close(AVIOContext* io);
    // Removes segments of the old playlist.
    void remove_replaced_segments();

    std::string name_;     // playlist as the user wrote it
    std::string written_;  // destination of playlist versions: name_, or a file beside it while a finished one exists
    std::string stem_;     // stem of segment names
    OutputFileOptions options_;
    bool says_end_;  // each version ends with EXT-X-ENDLIST
    CallbackFailure& failure_;
    std::map<AVIOContext*, std::unique_ptr<OutputIo>> opened_;
    bool given_up_ = false;
    bool replaced_ = false;                       // the existing playlist was replaced
    std::vector<std::string> replaced_segments_;  // segments of the replaced playlist
    std::int64_t bytes_ = 0;
};

/// Last video packet in decoding order, for the duration of a recording's last picture.
struct LastPicture {
    std::int64_t number = 0;  ///< number of the packet, from 1
    std::int64_t ticks = 0;   ///< display duration if it is long, else 0
    AVRational clock{};
};

/// Ticks per second of the movie time scale, in which MP4 stores the start times of streams by default; each stream
/// has its own time scale for everything else.
inline constexpr int mp4_movie_ticks = 1000;

/// Rewrites a complete fragmented MP4 or QuickTime file with a single index (`moov` box) before the media data, which
/// players, editors and downloads prefer (ISO/IEC 14496-12). `written` is the muxer that wrote it, for metadata;
/// `packets` is the number of packets written, which bounds the size of the index; `movie_ticks` is mp4_movie_ticks or
/// the muxer's own value; `add_chapters` is called before the new header. If this fails, for example on a full disk,
/// the file stays unchanged and a warning is logged.
void put_moov_in_front(OutputFile& file, const AVFormatContext& written, const std::string& muxer, std::int64_t packets,
                       const LastPicture& last, int movie_ticks,
                       const std::function<void(AVFormatContext&)>& add_chapters);

/// Prepares an MP4 file that is written with `delay_moov` for streams that start late; call it after each fragment.
/// Streams that have not started by then get the time of their first packet from its fragment. Otherwise FFmpeg's
/// muxer, which has already written the index, would make them start at 0. Streams that have started are unchanged.
void begin_late_streams(AVFormatContext& format);

}  // namespace framewire
