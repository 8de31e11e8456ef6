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

/// Demuxer of a source, restricted in what a file may refer to (see limits.hpp).
class FfmpegDemuxer {
public:
    /// Opens the source within the time that `interrupt` allows; `interrupt` must outlive this object. Messages quote
    /// `patience` as that time. Throws Error{no_input}.
    FfmpegDemuxer(const FfmpegAddress& address, const SourceOptions& options, Interrupt& interrupt,
                  std::chrono::milliseconds patience);
    FfmpegDemuxer(const FfmpegDemuxer&) = delete;
    FfmpegDemuxer& operator=(const FfmpegDemuxer&) = delete;

    /// The open demuxer.
    AVFormatContext& format() const { return *format_; }

private:
    // Opens the source; retries unlabelled MJPEG streams with another demuxer.
    void open(const FfmpegAddress& address, const SourceOptions& options, Interrupt& interrupt,
              std::chrono::milliseconds patience);
    // Replacement for FFmpeg's io_open that opens no other file.
    static int open_own_file(AVFormatContext* format, AVIOContext** io, const char* url, int flags,
                             AVDictionary** options);
    // Throws Error{no_input} with the most specific reason.
    [[noreturn]] void fail_open(const FfmpegAddress& address, int error, const Interrupt& interrupt,
                                std::chrono::milliseconds patience) const;

    std::string name_;
    std::string url_;
    decltype(AVFormatContext::io_open) open_any_ = nullptr;  // FFmpeg's default function for opening files
    InputPointer format_;
};

/// Last pause of FFmpeg's HTTP client before it resumes a lost transfer, if the server supports it: it pauses for 0,
/// 1, 3, 7 ... seconds, about twice the last pause in total.
std::int64_t last_http_pause_s(const SourceOptions& options);

/// True if `text` starts with one of `beginnings`.
bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings);

}  // namespace framewire
