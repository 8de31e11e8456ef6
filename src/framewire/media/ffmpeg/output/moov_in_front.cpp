// MP4 recordings are written as fragments, so that a killed process leaves a playable file. At the end this code
// copies all packets into a second file with one index before the data, and OutputFile::rewrite() swaps the two.

#include "framewire/media/ffmpeg/output/moov_in_front.hpp"

#include "framewire/core/log.hpp"

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
        fail(ErrorCode::config, "no memory to write");
    }
    ~DescriptorIo() {
        av_freep(&context_->buffer);
        avio_context_free(&context_);
    }
    DescriptorIo(const DescriptorIo&) = delete;
    DescriptorIo& operator=(const DescriptorIo&) = delete;

    AVIOContext* context() const { return context_; }

private:
    // Callbacks of AVIOContext; errors are returned as FFmpeg's codes.
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

// Upper bound for the size of the index: per packet (times, offset, size, chunk, key frame), per stream and for
// metadata. FFmpeg reserves that many bytes in front.
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

// Declares the streams of the new file like those of the old one.
void copy_streams(const AVFormatContext& from, const AVFormatContext& written, AVFormatContext& to) {
    // The file may have an additional time code track, which the muxer makes from metadata: it is not copied but made
    // again.
    for (unsigned index = 0; index < std::min(from.nb_streams, written.nb_streams); ++index) {
        const auto& in = *from.streams[index];
        auto* out = avformat_new_stream(&to, nullptr);
        if (!out) fail(ErrorCode::config, "no memory for a stream");
        require(avcodec_parameters_copy(out->codecpar, in.codecpar), "copy a stream");
        out->time_base = in.time_base;
        out->avg_frame_rate = in.avg_frame_rate;
        out->sample_aspect_ratio = in.sample_aspect_ratio;
        out->codecpar->sample_aspect_ratio = in.sample_aspect_ratio;  // the muxer writes this one
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
        require(read, "read what was written");
        const auto index = static_cast<unsigned>(packet->stream_index);
        if (index >= to.nb_streams) continue;
        av_packet_rescale_ts(packet.get(), from.streams[index]->time_base, to.streams[index]->time_base);
        packet->pos = -1;
        // FFmpeg's reader of fragments does not return the duration of the last picture if pictures are reordered: set
        // it.
        const auto* stream = to.streams[index];
        if (index == 0 && ++pictures == last.number && last.ticks > 0)
            packet->duration = av_rescale_q(last.ticks, last.clock, stream->time_base);
        require(av_interleaved_write_frame(&to, packet.get()), "write");
    }
}

// Copies the file behind descriptor `from` to `to`.
void rewrite(int from, int to, const AVFormatContext& written, const std::string& muxer, std::int64_t packets,
             const LastPicture& last, int movie_ticks, const std::function<void(AVFormatContext&)>& add_chapters) {
    const DescriptorIo in(from, false), out(to, true);
    auto* opened = avformat_alloc_context();
    if (!opened) fail(ErrorCode::config, "no memory to read");
    opened->pb = in.context();
    require(avformat_open_input(&opened, nullptr, av_find_input_format("mov"), nullptr), "read what was written");
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
    // The muxer leaves this much space in front and writes the index there at the end.
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
        log_warning("{}: {}; it stays in fragments, which play too", file.name(), error.what());
    }
}

// The flag makes the muxer take the start time of new streams from the fragment.
void begin_late_streams(AVFormatContext& format) { av_opt_set(format.priv_data, "movflags", "+frag_discont", 0); }

}  // namespace framewire
