#pragma once

#include "framewire/media/ffmpeg/output/output_io.hpp"

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire {

/// Files of an HLS recording (RFC 8216). Each segment and each version of the playlist appears only when complete, so
/// that the files can be played at any moment. A finished playlist with the same name stays until the new one is
/// finished; an unfinished one, left by a killed process, is replaced by the first version. Segments of a replaced
/// playlist are removed. Unless players follow the recording, each version ends with EXT-X-ENDLIST, so that readers do
/// not wait for more. Segments are named NAME0.ts, NAME1.ts ..., or NAME-1-0.ts ... if such files exist.
class HlsFiles {
public:
    /// Errors in callbacks are stored in `failure`, which must outlive this object. `followed`: players read the
    /// playlist while it grows. Throws Error{io} if the folder cannot be written, and if a playlist exists that may
    /// not be replaced.
    HlsFiles(const std::string& playlist, const OutputFileOptions& options, bool followed, CallbackFailure& failure);

    /// Makes `format`, an hls muxer, open its files through this object, which must outlive the muxer's writes.
    void serve(AVFormatContext& format);
    /// Name pattern for FFmpeg's segment numbers.
    std::string segment_pattern() const;
    /// Path under which FFmpeg writes the playlist.
    const std::string& playlist() const { return written_; }

    /// Call it before FFmpeg's trailer, which writes the end marker itself.
    void end() { says_end_ = false; }
    /// Call it when FFmpeg is done. A playlist that was written beside an existing one takes its name, unless `ending`
    /// is broken_off.
    void finish(Ending ending);
    /// From now on no file appears, whatever FFmpeg closes, and none is opened.
    void give_up() { given_up_ = true; }
    /// Total size of all files.
    std::int64_t bytes() const { return bytes_; }

private:
    // FFmpeg's io_open.
    int open(AVIOContext** io, const char* url);
    // FFmpeg's io_close2.
    int close(AVIOContext* io);
    // Removes segments of the old playlist.
    void remove_replaced_segments();

    std::string name_;     // as the user wrote it
    std::string written_;  // destination of playlist versions: name_, or a file beside it while a finished one exists
    std::string stem_;     // of segment names
    OutputFileOptions options_;
    bool says_end_;  // whether each version ends with EXT-X-ENDLIST
    CallbackFailure& failure_;
    std::map<AVIOContext*, std::unique_ptr<OutputIo>> opened_;
    bool given_up_ = false;
    bool replaced_ = false;                       // whether the existing playlist was replaced
    std::vector<std::string> replaced_segments_;  // segments of the replaced playlist
    std::int64_t bytes_ = 0;
};

}  // namespace framewire
