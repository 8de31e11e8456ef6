// AVIOContext over OutputFile. FFmpeg is C code, so exceptions stop at the callbacks and are rethrown by the caller.

#include "framewire/media/ffmpeg/output/output_io.hpp"

#include "framewire/core/error.hpp"

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
    fail(ErrorCode::config, "no memory to write {}", file_.name());
}

OutputIo::~OutputIo() {
    av_freep(&context_->buffer);
    avio_context_free(&context_);
}

void OutputIo::flush() {
    avio_flush(context_);
    failure_.rethrow();
}

// FFmpeg's callbacks: exceptions are stored and reported as EIO.
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
