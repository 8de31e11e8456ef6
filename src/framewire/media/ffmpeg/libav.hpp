#pragma once

// FFmpeg's objects as owned C++ objects, and its conventions (error numbers, logs, interruption) as framewire's.

#include "framewire/core/time/clock.hpp"
#include "framewire/media/conversion/libav.hpp"

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

struct FreePacket {
    void operator()(AVPacket* packet) const noexcept { av_packet_free(&packet); }
};
using PacketPointer = std::unique_ptr<AVPacket, FreePacket>;

inline PacketPointer make_packet() {
    PacketPointer packet(av_packet_alloc());
    if (!packet) fail(ErrorCode::config, "no memory for a packet");
    return packet;
}

struct FreeCodec {
    void operator()(AVCodecContext* codec) const noexcept { avcodec_free_context(&codec); }
};
using CodecPointer = std::unique_ptr<AVCodecContext, FreeCodec>;

struct CloseInput {
    void operator()(AVFormatContext* format) const noexcept { avformat_close_input(&format); }
};
using InputPointer = std::unique_ptr<AVFormatContext, CloseInput>;

struct FreeOutput {
    void operator()(AVFormatContext* format) const noexcept { avformat_free_context(format); }
};
using OutputPointer = std::unique_ptr<AVFormatContext, FreeOutput>;

/// Options for FFmpeg by name.
class Dictionary {
public:
    Dictionary() = default;
    ~Dictionary() { av_dict_free(&entries_); }
    Dictionary(const Dictionary&) = delete;
    Dictionary& operator=(const Dictionary&) = delete;

    void set(const char* name, const std::string& value) { av_dict_set(&entries_, name, value.c_str(), 0); }
    void set(const char* name, std::int64_t value) { av_dict_set_int(&entries_, name, value, 0); }
    AVDictionary** address() { return &entries_; }

private:
    AVDictionary* entries_ = nullptr;
};

/// Ends FFmpeg's blocking calls when a stop is asked for or a deadline passes.
class Interrupt {
public:
    explicit Interrupt(std::stop_token stop) : stop_(std::move(stop)) {}

    /// Sets the deadline of the calls that follow.
    void allow(std::chrono::milliseconds time) { deadline_ = Clock::now() + time; }
    bool stopped() const { return stop_.stop_requested(); }
    bool late() const { return Clock::now() > deadline_.load(); }
    /// Ends the call under way, on whatever thread, and all that follow until renew().
    void cancel() { cancelled_ = true; }
    void renew() { cancelled_ = false; }
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

/// The last complaint FFmpeg logged on this thread, empty when there was none; forgets it.
std::string take_complaint();

/// Tells of broken pictures, as a decoder's log does. FFmpeg's frame threads hand on the contexts' `opaque`.
class DamageAlarm {
public:
    /// From now on what `decoder` cannot decode, or patches up, sets this, which outlives it. Before it is opened.
    void watch(AVCodecContext& decoder) { decoder.opaque = this; }
    /// Whether there was something since the last call, on whatever thread.
    bool take() { return raised_.exchange(false); }
    void raise() { raised_ = true; }

private:
    std::atomic<bool> raised_{false};
};

/// What FFmpeg says of an error number, with take_complaint(), which is the more telling.
std::string ffmpeg_error(int error);

/// Leads FFmpeg's own log to framewire's: complaints at debug level, all else at trace. Also starts its network. Once a
/// process; later calls do nothing.
void initialise_ffmpeg();

/// Makes the input formats of libavdevice known: cameras and `lavfi`. Once a process; later calls do nothing. Throws
/// Error{config} where the library cannot be loaded.
void register_ffmpeg_devices();

}  // namespace framewire
