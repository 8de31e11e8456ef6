#pragma once

#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/files/output_file.hpp"

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace framewire {

/// What failed inside a callback of FFmpeg's, kept for later: exceptions must not pass through C.
class CallbackFailure {
public:
    /// The body's result, or AVERROR(EIO) when it threw.
    template <class Body>
    std::int64_t guard(Body&& body) noexcept {
        try {
            return body();
        } catch (...) {
            if (!failure_) failure_ = std::current_exception();
            return AVERROR(EIO);
        }
    }
    bool any() const { return failure_ != nullptr; }
    void rethrow() {
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }

private:
    std::exception_ptr failure_;
};

/// An OutputFile as FFmpeg writes to it.
class OutputIo {
public:
    /// `failure` takes what goes wrong in writing and lives longer. Throws Error{io} as OutputFile does.
    OutputIo(const std::string& path, OutputFileOptions options, CallbackFailure& failure);
    ~OutputIo();
    OutputIo(const OutputIo&) = delete;
    OutputIo& operator=(const OutputIo&) = delete;

    AVIOContext* context() const { return context_; }
    OutputFile& file() { return file_; }
    const OutputFile& file() const { return file_; }

    /// Leads all that FFmpeg holds back to the file. Throws what failed.
    void flush();

private:
    static int write(void* self, std::uint8_t* data, int bytes);
    static std::int64_t seek(void* self, std::int64_t offset_bytes, int whence);

    OutputFile file_;
    CallbackFailure& failure_;
    AVIOContext* context_ = nullptr;
};

}  // namespace framewire
