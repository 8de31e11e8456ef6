#pragma once

#include "framewire/core/time.hpp"
#include "framewire/media/conversion.hpp"

#include <string>

// Owning pointers for FFmpeg's objects, and adapters from its conventions (error numbers, logs, interruption) to
// framewire's.

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/dict.h>
}

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <string>

namespace framewire {

/// Deleter for AVPacket.
struct FreePacket {
    void operator()(AVPacket* packet) const noexcept { av_packet_free(&packet); }
};
/// Owned AVPacket.
using PacketPointer = std::unique_ptr<AVPacket, FreePacket>;

/// Allocates a packet without data. Throws Error{config} if memory is exhausted.
inline PacketPointer make_packet() {
    PacketPointer packet(av_packet_alloc());
    if (!packet) fail(ErrorCode::config, "not enough memory for a packet");
    return packet;
}

/// Deleter for AVCodecContext, encoder or decoder.
struct FreeCodec {
    void operator()(AVCodecContext* codec) const noexcept { avcodec_free_context(&codec); }
};
/// Owned AVCodecContext.
using CodecPointer = std::unique_ptr<AVCodecContext, FreeCodec>;

/// Deleter for an AVFormatContext that avformat_open_input() opened.
struct CloseInput {
    void operator()(AVFormatContext* format) const noexcept { avformat_close_input(&format); }
};
/// Owned demuxer.
using InputPointer = std::unique_ptr<AVFormatContext, CloseInput>;

/// Deleter for an AVFormatContext that writes.
struct FreeOutput {
    void operator()(AVFormatContext* format) const noexcept { avformat_free_context(format); }
};
/// Owned muxer.
using OutputPointer = std::unique_ptr<AVFormatContext, FreeOutput>;

/// Owned AVDictionary: FFmpeg options by name.
class Dictionary {
public:
    Dictionary() = default;
    ~Dictionary() { av_dict_free(&entries_); }
    Dictionary(const Dictionary&) = delete;
    Dictionary& operator=(const Dictionary&) = delete;

    void set(const char* name, const std::string& value) { av_dict_set(&entries_, name, value.c_str(), 0); }
    void set(const char* name, std::int64_t value) { av_dict_set_int(&entries_, name, value, 0); }
    /// Returns the address for functions that consume or replace the dictionary.
    AVDictionary** address() { return &entries_; }

private:
    AVDictionary* entries_ = nullptr;
};

/// Ends FFmpeg's blocking calls when a stop is requested, a deadline passes, or cancel() is called. Thread-safe; must
/// outlive the contexts that use callback().
class Interrupt {
public:
    explicit Interrupt(std::stop_token stop) : stop_(std::move(stop)) {}

    /// Sets the deadline of the following calls to now plus `time`.
    void allow(std::chrono::milliseconds time) { deadline_ = Clock::now() + time; }
    bool stopped() const { return stop_.stop_requested(); }
    /// Returns true once the deadline has passed.
    bool late() const { return Clock::now() > deadline_.load(); }
    /// Ends the call in progress, on any thread, and all later calls until renew().
    void cancel() { cancelled_ = true; }
    /// Revokes cancel().
    void renew() { cancelled_ = false; }
    /// Returns the callback for AVFormatContext::interrupt_callback.
    AVIOInterruptCB callback() {
        return {[](void* self) -> int {
                    const auto& interrupt = *static_cast<Interrupt*>(self);
                    return interrupt.stopped() || interrupt.late() || interrupt.cancelled_;
                },
                this};
    }

private:
    std::stop_token stop_;
    std::atomic<Clock::time_point> deadline_{Clock::time_point::max()};
    std::atomic<bool> cancelled_{false};
};

/// Returns and clears the last warning or error that FFmpeg logged on this thread; empty if there was none.
std::string take_complaint();
/// Does the same for the first one since the last call of either function. It often has the cause of the others.
std::string take_first_complaint();

/// Flag that is raised when a decoder logs a corrupt picture. FFmpeg's frame threads inherit the `opaque` of the
/// context, so their reports are found too. Thread-safe.
class DamageAlarm {
public:
    /// Makes everything that `decoder` fails to decode or conceals raise this alarm, which must outlive the decoder.
    /// With `on_gpu`, missing references do so too, for which a GPU and FFmpeg substitute different pictures. Call it
    /// before the decoder is opened.
    void watch(AVCodecContext& decoder, bool on_gpu) {
        on_gpu_ = on_gpu;
        decoder.opaque = this;
    }
    /// Returns true if the decoder decodes on a GPU.
    bool on_gpu() const { return on_gpu_; }
    /// Returns true if the alarm was raised since the last call, on any thread.
    bool take() { return raised_.exchange(false); }
    /// Raises the alarm; called by the log callback.
    void raise() { raised_ = true; }

private:
    std::atomic<bool> raised_{false}, on_gpu_{false};
};

/// Returns FFmpeg's text for an error number together with take_complaint(), which is usually more specific.
std::string ffmpeg_error(int error);

/// Redirects FFmpeg's log to framewire's: warnings and errors at debug level, everything else at trace level. Also
/// initialises its network code. Takes effect once per process; later calls do nothing.
void initialise_ffmpeg();

/// Registers the input formats of libavdevice: cameras and `lavfi`. Takes effect once per process; later calls do
/// nothing. Throws Error{config} if the library cannot be loaded.
void register_ffmpeg_devices();

}  // namespace framewire

struct AVFilterGraph;
struct AVFilterContext;

namespace framewire {

/// FFmpeg filter graph for pictures in memory. libavfilter is loaded when the first graph is created.
class FilterGraph {
public:
    /// `description` is parsed by avfilter_graph_parse2(), from a source "buffer@in=..." to a sink "buffersink@out".
    /// `threads` is the number of filter threads; 0: one per core. Throws Error{config} if this FFmpeg lacks a filter.
    explicit FilterGraph(const std::string& description, int threads = 0);
    ~FilterGraph();
    FilterGraph(const FilterGraph&) = delete;
    FilterGraph& operator=(const FilterGraph&) = delete;

    /// Filters one picture and keeps its time. The result is valid until the next call. Throws Error{io}.
    const AVFrame& run(AVFrame& picture);

private:
    AVFilterGraph* graph_ = nullptr;
    AVFilterContext* in_ = nullptr;
    AVFilterContext* out_ = nullptr;
    FramePointer result_ = make_frame();
};

}  // namespace framewire
