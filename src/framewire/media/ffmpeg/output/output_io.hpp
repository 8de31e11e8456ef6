#pragma once

#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/files/output_file.hpp"

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

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
    /// True if an exception is stored.
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
    /// Write errors are stored in `failure`, which must outlive this object. Throws Error{io} as OutputFile does.
    OutputIo(const std::string& path, OutputFileOptions options, CallbackFailure& failure);
    ~OutputIo();
    OutputIo(const OutputIo&) = delete;
    OutputIo& operator=(const OutputIo&) = delete;

    /// The context for AVFormatContext::pb.
    AVIOContext* context() const { return context_; }
    OutputFile& file() { return file_; }
    const OutputFile& file() const { return file_; }

    /// Writes everything that FFmpeg buffers to the file. Throws the stored exception, if any.
    void flush();

private:
    // Callbacks of AVIOContext.
    static int write(void* self, std::uint8_t* data, int bytes);
    static std::int64_t seek(void* self, std::int64_t offset_bytes, int whence);

    OutputFile file_;
    CallbackFailure& failure_;
    AVIOContext* context_ = nullptr;
};

}  // namespace framewire
