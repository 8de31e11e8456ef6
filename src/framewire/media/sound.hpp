#pragma once

#include "framewire/core/time.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace framewire {

/// Codecs whose packets can be passed on without decoding them.
enum class SoundCodec {
    aac,    ///< AAC without headers (ISO/IEC 14496-3); SoundFormat::header is the AudioSpecificConfig
    opus,   ///< Opus (RFC 6716); SoundFormat::header is the identification header (RFC 7845, 5.1)
    mulaw,  ///< ITU-T G.711, mu-law
    alaw    ///< ITU-T G.711, A-law
};

/// Returns "AAC", "Opus", "G.711 mu-law" or "G.711 A-law".
std::string_view to_string(SoundCodec codec);

/// Properties of coded sound.
struct SoundFormat {
    SoundCodec codec = SoundCodec::aac;
    int sample_rate = 0;  ///< 1 to max_rate
    int channels = 0;     ///< 1 to max_channels
    /// The codec's header; empty for G.711.
    std::string header{};

    /// Bounds that every format fulfils.
    static constexpr int max_rate = 192'000, max_channels = 8;
    /// Maximum size of a header.
    static constexpr std::size_t max_header_bytes = 1024;

    friend bool operator==(const SoundFormat&, const SoundFormat&) = default;
};

/// A packet of coded sound.
struct SoundPacket {
    std::string bytes{};
    double seconds = 0;        ///< presentation time on the clock of FrameTime::seconds
    std::int64_t samples = 0;  ///< duration in samples per channel
    std::shared_ptr<const SoundFormat> format{};
};

/// Sound of one packet, beside AccessUnit.
struct SoundUnit {
    std::shared_ptr<const SoundPacket> packet{};
    /// Presentation time and duration in ticks of video_clock_hz. A unit starts where the previous one ends, unless the
    /// source's sound has a gap.
    std::int64_t pts = 0, duration = 0;
};

/// Passes coded sound from a source to consumers that run beside the pipeline of its frames, and gives frames and sound
/// their times in a stream of both.
///
///     source      add() and mark()        times as in the file or stream
///     job         place()                 times of FrameTime, with the offsets of loops and reconnections
///     job         sent()                  when viewers see the frame of that time, which sets the stream's clock
///     consumers   Reader::take(), at()    sound and frames with their times on the stream's clock
///
/// The stream's clock is that of the source plus an offset to the wall clock, which is the same for frames and sound of
/// the same moment. A busy machine sends frames late, but their times do not change. Only if all frames of a second are
/// late, because the source has fallen behind, does the offset change, from the next frame and the next sound on.
///
/// Bounded: if nobody takes packets, the oldest are dropped. Thread-safe, but the source's functions and place() belong
/// to one thread at a time.
class SoundTap {
public:
    /// Maximum size of a packet. Larger ones are dropped.
    static constexpr std::size_t max_packet_bytes = std::size_t{1} << 16;
    static constexpr std::size_t max_packets = 1024;                ///< maximum number of packets that wait
    static constexpr std::size_t max_bytes = std::size_t{2} << 20;  ///< maximum total size of these packets

    // Functions of the source:

    /// Starts a new opening of the source, whose packets have other times. Its sound has no format yet.
    void begin();
    /// Sets the format of the packets that follow.
    void set_format(std::shared_ptr<const SoundFormat> format);
    /// Returns true if there is or was a reader. Otherwise packets need not be added. A source reads ahead, so what it
    /// left out between two readers would be missing for the second one.
    bool is_wanted() const { return is_wanted_; }
    /// Adds a packet, whose time is that of the source's current opening. Packets of invalid times, sizes or formats
    /// and packets that do not follow the previous one are dropped.
    void add(SoundPacket packet);
    /// Reports the time, in the current opening, of the frame that the source returns next.
    void mark(double seconds);
    /// Returns true the first time that it is called.
    bool is_first_complaint() { return !complained_.exchange(true); }

    // Functions of the job that reads the source:

    /// Starts a new source, whose times start again.
    void restart();
    /// Reports the time of the frame that was read, as FrameTime has it: it places the packets of the same opening.
    void place(double seconds);
    /// Reports that the frame of that time, as FrameTime has it, is sent to viewers.
    void sent(double seconds, Clock::time_point now);

    // Functions of consumers:

    /// Returns the format of the sound; null if the source has none or it is not known yet.
    std::shared_ptr<const SoundFormat> format() const;
    /// Returns the time of a frame on the stream's clock; empty if no frame was sent or the source has had no sound, so
    /// that the frame's time does not matter.
    std::optional<Clock::time_point> at(double seconds) const;

    /// A packet with its time on the stream's clock.
    struct Due {
        std::shared_ptr<const SoundPacket> packet;
        Clock::time_point at;
    };

    /// A consumer. While there is one, the source adds packets.
    class Reader {
    public:
        /// Starts with the packets that are due from now on.
        explicit Reader(std::shared_ptr<SoundTap> tap);
        ~Reader();
        Reader(const Reader&) = delete;
        Reader& operator=(const Reader&) = delete;

        /// Returns the packets that have become due by `now`, in order. A packet is due at its time, and earlier if a
        /// later frame was sent.
        std::vector<Due> take(Clock::time_point now);
        /// Returns the tap.
        const std::shared_ptr<SoundTap>& tap() const { return tap_; }

    private:
        std::shared_ptr<SoundTap> tap_;
        std::uint64_t next_ = 0;  // number of the next packet
    };

private:
    // Functions with the mutex held:

    // Appends a packet that has its final time, for the readers.
    void publish(SoundPacket packet);
    void drop_oldest();
    // Returns the offset at a time of FrameTime.
    double offset_at(double seconds) const;
    // Sets the offset of later times.
    void set_offset(double from, double offset);

    // Offset from times of FrameTime to the stream's clock, from a time on.
    struct Offset {
        double from = 0, seconds = 0;
    };

    std::atomic<int> readers_ = 0;
    std::atomic<bool> is_wanted_ = false;
    std::atomic<bool> complained_ = false;
    mutable std::mutex mutex_;
    // Guarded by the mutex:
    std::shared_ptr<const SoundFormat> format_;
    std::optional<double> marked_;      // time of the frame that is read now, in its opening
    std::optional<double> shift_;       // from times of the opening to those of frames
    std::deque<SoundPacket> unplaced_;  // packets before shift_ is known
    std::size_t unplaced_bytes_ = 0;
    std::deque<std::shared_ptr<const SoundPacket>> placed_;
    std::uint64_t first_ = 0;  // number of the first of placed_
    std::size_t placed_bytes_ = 0;
    double end_ = 0;        // time of the last packet
    double placed_at_ = 0;  // time of the newest frame that was read
    bool begun_ = false;
    bool has_sound_ = false;      // there was a format since restart()
    std::deque<Offset> offsets_;  // the newest last; empty before the first frame
    double newest_sent_ = 0;      // time of the newest frame
    double least_offset_ = 0;     // of the frames since window_begin_
    double window_begin_ = 0;     // wall clock
    int window_frames_ = 0;
};

}  // namespace framewire
