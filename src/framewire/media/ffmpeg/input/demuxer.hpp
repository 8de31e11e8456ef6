#pragma once

#include "framewire/media/ffmpeg/input/address.hpp"
#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/media.hpp"

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace framewire {

/// What FFmpeg opened, within the limits of what a file may lead to (see limits.hpp).
class FfmpegDemuxer {
public:
    /// Waits no longer than `interrupt` allows, which outlives this; `patience` is what messages call that time.
    /// Throws Error{no_input}.
    FfmpegDemuxer(const FfmpegAddress& address, const SourceOptions& options, Interrupt& interrupt,
                  std::chrono::milliseconds patience);
    FfmpegDemuxer(const FfmpegDemuxer&) = delete;
    FfmpegDemuxer& operator=(const FfmpegDemuxer&) = delete;

    AVFormatContext& format() const { return *format_; }

private:
    void open(const FfmpegAddress& address, const SourceOptions& options, Interrupt& interrupt,
              std::chrono::milliseconds patience);
    static int open_own_file(AVFormatContext* format, AVIOContext** io, const char* url, int flags,
                             AVDictionary** options);
    [[noreturn]] void fail_open(const FfmpegAddress& address, int error, const Interrupt& interrupt,
                                std::chrono::milliseconds patience) const;

    std::string name_;
    std::string url_;
    decltype(AVFormatContext::io_open) open_any_ = nullptr;  // FFmpeg's own way to open a file
    InputPointer format_;
};

/// How long FFmpeg's http waits at last before it resumes a lost transfer, where the server can: after 0, 1, 3, 7 ...
/// seconds. All its pauses together are about twice the last one.
std::int64_t last_http_pause_s(const SourceOptions& options);

/// Whether a text begins with one of these.
bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings);

}  // namespace framewire
