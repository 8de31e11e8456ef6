#pragma once

#include "framewire/media/ffmpeg/output/output_io.hpp"

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

namespace framewire {

/// The files of an HLS recording: each segment, and each version of the playlist, appears when it is whole, so that
/// what is there plays at every moment. A finished playlist of the name stays until the new one is finished, too; an
/// unfinished one, as a killed run leaves it, gives way to the first. Segments of a playlist that gave way are removed.
/// Unless players follow the recording, each version says that it is the end, so that readers do not wait for more.
/// Segments are NAME0.ts, NAME1.ts ...; NAME-1-0.ts ... where files of such names are there.
class HlsFiles {
public:
    /// `failure` takes what goes wrong in callbacks and lives longer. Throws Error{io} when the place cannot be written
    /// to, and on a playlist that is there and may not be replaced.
    HlsFiles(const std::string& playlist, const OutputFileOptions& options, bool followed, CallbackFailure& failure);

    /// Lets `format`, of the muxer hls, open its files here. This object lives longer than it writes.
    void serve(AVFormatContext& format);
    /// The name that FFmpeg numbers segments by.
    std::string segment_pattern() const;
    /// FFmpeg's name for the playlist.
    const std::string& playlist() const { return written_; }

    /// To be called before FFmpeg's trailer, which says the end itself.
    void end() { says_end_ = false; }
    /// To be called when FFmpeg is done: a playlist that waited takes its name, but not when `ending` is broken_off.
    void finish(Ending ending);
    /// From here on nothing appears, whatever FFmpeg closes, and nothing is opened.
    void give_up() { given_up_ = true; }
    /// Of all files.
    std::int64_t bytes() const { return bytes_; }

private:
    int open(AVIOContext** io, const char* url);
    int close(AVIOContext* io);
    void remove_replaced_segments();

    std::string name_;     // as the user wrote it
    std::string written_;  // where versions of the playlist go: name_, or beside it while a finished one is there
    std::string stem_;     // of segments
    OutputFileOptions options_;
    bool says_end_;  // of each version
    CallbackFailure& failure_;
    std::map<AVIOContext*, std::unique_ptr<OutputIo>> opened_;
    bool given_up_ = false;
    bool replaced_ = false;                       // the playlist that was there
    std::vector<std::string> replaced_segments_;  // those of the playlist that gives way
    std::int64_t bytes_ = 0;
};

}  // namespace framewire
