// Reads one source with FFmpeg. Two properties need care beyond plain decoding:
// - Damage must be found and counted. Decoders conceal errors, and report them only as flags, log lines or not at all.
// - A damaged file must give the same frames each time. Frame threads conceal errors with neighbouring pictures that
//   other threads are still decoding, so a file is decoded again on one thread at the first damage.

#include "framewire/media/ffmpeg/input/input.hpp"

#include "framewire/core/log.hpp"
#include "framewire/core/parameters/numbers.hpp"
#include "framewire/core/time/frame_rate.hpp"
#include "framewire/media/orientation/exif.hpp"

extern "C" {
#include <libavutil/common.h>
}

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

namespace framewire {
namespace {

using namespace std::chrono_literals;

// A local file answers immediately; if one frame takes longer than this, the read is stuck.
constexpr std::chrono::milliseconds file_patience = 60s;
constexpr int http_attempts = 17;  // pauses double up to 24 h
constexpr int most_errors_in_a_row = 10'000;

constexpr const char* broken_packet = "a packet is broken or cut off";

// True for FFmpeg's demuxers of single images.
bool is_still_image(const AVFormatContext& format) {
    const std::string_view name = format.iformat->name;
    return name == "image2" || name.ends_with("_pipe");
}

// Decoders leave the missing parts of a corrupt picture as the buffer was, which is otherwise the content of some
// earlier picture: provide zeroed buffers.
int get_clean_buffer(AVCodecContext* decoder, AVFrame* frame, int flags) {
    const int error = avcodec_default_get_buffer2(decoder, frame, flags);
    if (error < 0) return error;
    for (const auto* buffer : frame->buf)
        if (buffer) std::memset(buffer->data, 0, buffer->size);
    return error;
}

// Integer of `count` bytes in either byte order.
std::uint64_t number_at(const std::uint8_t* bytes, int count, bool big_endian) {
    std::uint64_t number = 0;
    for (int byte = 0; byte < count; ++byte)
        number |= std::uint64_t{bytes[byte]} << (8 * (big_endian ? count - 1 - byte : byte));
    return number;
}

// Size in an EBML element's header (RFC 8794, section 4.2); `length` is set to its number of bytes. Nullopt if the
// size is unknown, as in files that were never finished.
std::optional<std::uint64_t> ebml_size(const std::uint8_t* bytes, int& length) {
    length = std::countl_zero(bytes[0]) + 1;
    if (length > 8) return std::nullopt;
    const auto unknown = (std::uint64_t{1} << (7 * length)) - 1;
    const auto size = number_at(bytes, length, true) & unknown;
    return size == unknown ? std::nullopt : std::optional(size);
}

// True if an AVI or Matroska file has as many bytes as its top-level elements declare.
bool has_all_bytes(const std::string& path, std::string_view format) {
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    const auto end = file ? static_cast<std::uint64_t>(file.tellg()) : 0;
    std::array<std::uint8_t, 12> head{};
    const auto read = [&](std::uint64_t at) {
        if (at > end || end - at < head.size()) return false;
        file.seekg(static_cast<std::streamoff>(at));
        return static_cast<bool>(file.read(reinterpret_cast<char*>(head.data()), head.size()));
    };
    if (format == "avi") {
        constexpr std::uint64_t header_bytes = 8;
        std::uint64_t at = 0;
        // Files beyond a gigabyte have several RIFF chunks.
        while (read(at) && std::memcmp(head.data(), "RIFF", 4) == 0) {
            const auto size = number_at(head.data() + 4, 4, false);
            if (size < 4 || end - at - header_bytes < size) return false;
            at += header_bytes + size + size % 2;
        }
        return at > 0;
    }
    constexpr std::uint64_t id_bytes = 4, id_header = 0x1A45DFA3, id_segment = 0x18538067;
    if (!format.starts_with("matroska") || !read(0) || number_at(head.data(), id_bytes, true) != id_header)
        return false;
    int length = 0;
    const auto header = ebml_size(head.data() + id_bytes, length);
    const auto segment = id_bytes + static_cast<std::uint64_t>(length) + header.value_or(0);
    if (!header || *header > end || !read(segment) || number_at(head.data(), id_bytes, true) != id_segment)
        return false;
    const auto size = ebml_size(head.data() + id_bytes, length);
    return size && end - segment - id_bytes - static_cast<std::uint64_t>(length) >= *size;
}

// True if the index of an AVI file lists pictures beyond the end of the file.
bool misses_pictures(AVFormatContext& format, int stream) {
    const auto end = format.pb ? avio_size(format.pb) : -1;
    if (end < 0 || std::string_view(format.iformat->name) != "avi") return false;
    for (int number = 0; number < avformat_index_get_entries_count(format.streams[stream]); ++number)
        if (const auto* entry = avformat_index_get_entry(format.streams[stream], number);
            entry->size > 0 && entry->pos >= end)
            return true;
    return false;
}

// Number as FFmpeg prints it for EXIF data: "    6". Returns 0 if there is none.
long number_after_spaces(std::string_view text) {
    long number = 0;
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    take_number(text, number);
    return number;
}

// FFmpeg's native VP8 and VP9 decoders ignore the transparency of WebM; libvpx decodes it.
const AVCodec& decoder_with_alpha(const AVCodec& codec, const AVStream& stream) {
    const auto* entry = av_dict_get(stream.metadata, "alpha_mode", nullptr, 0);
    if (!entry || std::string_view(entry->value) != "1") return codec;
    const auto* libvpx = codec.id == AV_CODEC_ID_VP8   ? avcodec_find_decoder_by_name("libvpx")
                         : codec.id == AV_CODEC_ID_VP9 ? avcodec_find_decoder_by_name("libvpx-vp9")
                                                       : nullptr;
    return libvpx ? *libvpx : codec;
}

}  // namespace

FfmpegInput::FfmpegInput(const FfmpegAddress& address, const SourceOptions& options,
                         std::shared_ptr<Interrupt> interrupt)
    : options_(options),
      held_interrupt_(std::move(interrupt)),
      interrupt_(*held_interrupt_),
      address_(address),
      kind_(address.kind),
      name_(address.name) {
    const bool waits = kind_ == FfmpegAddress::Kind::network || kind_ == FfmpegAddress::Kind::camera;
    patience_ = waits ? options.timeout : file_patience;
    interrupt_.allow(patience_);
    open();

    // A network source is live unless it is an HTTP file with a known duration.
    const bool endless = format_->duration == AV_NOPTS_VALUE || format_->duration <= 0;
    const bool broadcast = !begins_with_any(address.url, {"http://", "https://"});
    live_ = kind_ == FfmpegAddress::Kind::camera || (kind_ == FfmpegAddress::Kind::network && (endless || broadcast));
    if (kind_ == FfmpegAddress::Kind::network && !live_)
        patience_ = (options.timeout + std::chrono::seconds(last_http_pause_s(options))) *
                    (options.reconnect ? http_attempts : std::max(options.retries, 1));
    rate_ = guess_rate();
    if (live_ && options.every_frame) reader_.emplace(*format_, *stream_, interrupt_, patience_, name_);
}

// Opens demuxer and decoder. The old demuxer stays until the new one is open, so that a failure leaves it usable.
void FfmpegInput::open() {
    auto demuxer = std::make_unique<FfmpegDemuxer>(address_, options_, interrupt_, patience_);
    decoder_.reset();
    demuxer_ = std::move(demuxer);
    format_ = &demuxer_->format();
    open_decoder();
    begin_splices();
}

void FfmpegInput::begin_splices() {
    suspected_for_ = 0;
    splices_.reset();
    if (StreamSplices::may_occur(*format_)) splices_.emplace(*stream_, kind_ == FfmpegAddress::Kind::file);
}

// Opens the decoder of the best video stream; the demuxer discards all other streams.
void FfmpegInput::open_decoder() {
    const AVCodec* codec = nullptr;
    const int index = av_find_best_stream(format_, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (index == AVERROR_DECODER_NOT_FOUND)
        fail(ErrorCode::no_input, "{}: this FFmpeg has no decoder for its video", name_);
    if (index < 0 || (format_->streams[index]->disposition & AV_DISPOSITION_ATTACHED_PIC))
        fail(ErrorCode::no_input, "{} has no video stream", name_);
    stream_ = format_->streams[index];
    for (unsigned other = 0; other < format_->nb_streams; ++other)
        if (static_cast<int>(other) != index) format_->streams[other]->discard = AVDISCARD_ALL;

    const auto& parameters = *stream_->codecpar;
    const auto pixels = std::int64_t{parameters.width} * parameters.height;
    if (parameters.width > max_side_px || parameters.height > max_side_px || pixels > options_.max_pixels)
        fail(ErrorCode::no_input, "{} is {}x{}; allowed are sides of up to {} pixels, {} pixels in all", name_,
             parameters.width, parameters.height, max_side_px, options_.max_pixels);

    codec = &decoder_with_alpha(*codec, *stream_);
    decoder_.reset(avcodec_alloc_context3(codec));
    if (!decoder_) fail(ErrorCode::config, "no memory for a decoder");
    if (const int error = avcodec_parameters_to_context(decoder_.get(), &parameters); error < 0)
        fail(ErrorCode::no_input, "cannot decode {}: {}", name_, ffmpeg_error(error));
    decoder_->pkt_timebase = stream_->time_base;
    decoder_->max_pixels = options_.max_pixels;
    // More threads than cores, because threads also wait for each other.
    const int of_cores = static_cast<int>(std::thread::hardware_concurrency()) + 2;
    decoder_->thread_count = std::clamp(options_.decoder_threads > 0 ? options_.decoder_threads : of_cores, 1, 16);
    // Each frame thread delays output by one frame: use them only for files, not while frames are awaited.
    decoder_->thread_type = kind_ == FfmpegAddress::Kind::file ? FF_THREAD_FRAME | FF_THREAD_SLICE : FF_THREAD_SLICE;
    // Treats a truncated image as an error: otherwise the JPEG decoder fills the rest with gray without a message. Not
    // for TIFF, whose decoder would then reject every file with an unknown tag.
    if (is_still_image(*format_) && codec->id != AV_CODEC_ID_TIFF)
        decoder_->err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE;
    // A lossless picture with a wrong checksum must be an error, too. The FFV1 decoder only logs it and conceals the
    // damage; without frame threads the log line comes on this thread, where take_complaint() finds it.
    if (checks_sums()) decoder_->thread_type = FF_THREAD_SLICE;
    if (alone_) {
        decoder_->thread_count = 1;
        decoder_->thread_type = FF_THREAD_SLICE;
        decoder_->get_buffer2 = get_clean_buffer;
    }
    alarm_.watch(*decoder_);
    if (const int error = avcodec_open2(decoder_.get(), codec, nullptr); error < 0)
        fail(ErrorCode::no_input, "cannot decode {}: {}", name_, ffmpeg_error(error));
    take_complaint();  // messages about the opening are irrelevant
}

bool FfmpegInput::may_take_long() const {
    constexpr std::int64_t many_pixels = 16'000'000;
    const auto& parameters = *stream_->codecpar;
    return is_still_image(*format_) || std::int64_t{parameters.width} * parameters.height > many_pixels ||
           std::int64_t{decoder_->width} * decoder_->height > many_pixels;
}

bool FfmpegInput::has_frame_threads() const { return decoder_->active_thread_type & FF_THREAD_FRAME; }

bool FfmpegInput::is_unmarked() const { return decoder_->codec_id == AV_CODEC_ID_HEVC; }

bool FfmpegInput::checks_sums() const { return decoder_->codec_id == AV_CODEC_ID_FFV1; }

// In AVI's 32-bit pictures, the byte that FFmpeg takes for alpha is padding, mostly 0, which would make the picture
// invisible.
bool FfmpegInput::has_padded_alpha() const {
    return decoder_->codec_id == AV_CODEC_ID_RAWVIDEO && std::string_view(format_->iformat->name) == "avi";
}

void FfmpegInput::note_damage(const std::string& text) {
    // Packets before the first key frame cannot be decoded if the recording was cut out of a stream. That is not
    // damage.
    if (!seen_key_) return;
    if (damaged_++ == 0) first_damage_ = fmt::format("after frame {}: {}", frames_read_, text);
    log_debug("{}: damaged data after frame {}: {}", name_, frames_read_, text);
}

// True if frame threads may affect the result and the file can be opened again.
bool FfmpegInput::may_begin_again() const {
    std::error_code error;
    return !alone_ && kind_ == FfmpegAddress::Kind::file && !is_still_image(*format_) && has_frame_threads() &&
           std::filesystem::is_regular_file(address_.name, error);
}

// Reopens the file and continues from the position where reading began. Returns false and changes nothing if the file
// is no longer what it was.
bool FfmpegInput::begin_again() {
    log_debug("{}: damaged; decoded anew on one thread, so that it comes out the same each time", name_);
    alone_ = true;
    auto demuxer = std::exchange(demuxer_, nullptr);
    auto decoder = std::exchange(decoder_, nullptr);
    const auto* const stream = stream_;
    interrupt_.allow(patience_);
    try {
        open();
        if (sought_ && !go_to(*sought_))
            fail(ErrorCode::source_lost, "{}: it has no {:.3f} s any more", name_, *sought_);
    } catch (const Error& error) {
        log_debug("{}", error.what());
        decoder_ = std::move(decoder);
        demuxer_ = std::move(demuxer);
        format_ = &demuxer_->format();
        stream_ = stream;
        return false;
    }
    decoder.reset();  // until here it may raise the alarm
    draining_ = false;
    seen_key_ = false;
    errors_in_a_row_ = 0;
    frames_read_ = read_before_seek_;
    end_seconds_ = 0;
    damaged_ = 0;
    first_damage_.clear();
    why_lost_.clear();
    alarm_.take();
    return true;
}

// For files, decodes one frame ahead: only the end of the file tells how long its last frame is displayed.
FfmpegInput::Progress FfmpegInput::next(AVFrame& frame) {
    if (kind_ != FfmpegAddress::Kind::file || is_still_image(*format_)) return next_now(frame);
    if (!ahead_progress_) ahead_progress_ = next_now(*ahead_);
    if (*ahead_progress_ != Progress::frame) return *std::exchange(ahead_progress_, std::nullopt);
    av_frame_unref(&frame);  // av_frame_move_ref() does not free what the target holds
    av_frame_move_ref(&frame, ahead_.get());
    ahead_progress_ = next_now(*ahead_);
    if (*ahead_progress_ == Progress::end) show_to_the_end(frame);
    return Progress::frame;
}

// Extends the last frame to the end of the stream. An AVI file may have null frames behind it, and Matroska stores no
// frame durations.
void FfmpegInput::show_to_the_end(AVFrame& frame) const {
    const auto at = seconds(frame);
    const auto end = length_seconds();
    if (!at || !end) return;
    const double ticks = (*end - *at) / av_q2d(stream_->time_base);
    if (ticks > static_cast<double>(frame.pkt_duration) && ticks < 0x1p62) frame.pkt_duration = std::llround(ticks);
}

// Decodes a frame and counts damage that only the log reveals. With frame threads, the alarm may concern a picture
// that another thread is decoding; then it is counted when the file is decoded again.
FfmpegInput::Progress FfmpegInput::next_counted(AVFrame& frame) {
    const auto progress = next_decoded(frame);
    if (is_unmarked() && !has_frame_threads() && alarm_.take()) note_damage("parts of a picture could not be decoded");
    return progress;
}

// Decodes a frame; at the first damage starts again on one thread. Frame threads conceal errors with neighbouring
// pictures that are themselves being concealed, and lose the corruption flag of the output. Frames delivered before
// the first message were intact, so they are decoded again and skipped.
FfmpegInput::Progress FfmpegInput::next_now(AVFrame& frame) {
    const auto damaged = damaged_;
    auto progress = next_counted(frame);
    const bool told = alarm_.take();
    const bool broken = told || damaged_ > damaged;
    const auto given = given_since_seek_;
    if (broken && progress != Progress::stopped && may_begin_again() && begin_again()) {
        av_frame_unref(&frame);
        progress = next_counted(frame);
        for (std::int64_t again = 0; again < given && progress == Progress::frame; ++again) {
            av_frame_unref(&frame);
            progress = next_counted(frame);
        }
    } else if (told && has_frame_threads()) {
        note_damage("parts of a picture could not be decoded");  // the frame's own flag may be lost
    }
    if (progress == Progress::frame) ++given_since_seek_;
    return progress;
}

// The decoding loop: receive a frame or feed the next packet, until a frame, the end, a stop or a loss.
FfmpegInput::Progress FfmpegInput::next_decoded(AVFrame& frame) {
    if (!reader_) interrupt_.allow(patience_);
    if (checks_sums()) take_complaint();  // may concern files that this thread read before
    for (;;) {
        if (interrupt_.stopped()) return Progress::stopped;
        if (reader_ ? late_ : interrupt_.late()) {
            why_lost_ = fmt::format("no frame within {:.1f} s", std::chrono::duration<double>(patience_).count());
            return Progress::lost;
        }
        const int result = avcodec_receive_frame(decoder_.get(), &frame);
        if (result == 0) {
            errors_in_a_row_ = 0;
            seen_key_ = true;
            if (checks_sums()) {
                if (const auto complaint = take_complaint(); !complaint.empty()) {
                    note_damage(complaint);
                    continue;
                }
            }
            if (frame.decode_error_flags || (frame.flags & AV_FRAME_FLAG_CORRUPT))
                note_damage("parts of the picture could not be decoded");
            if (frame.width > max_side_px || frame.height > max_side_px) {
                why_lost_ = fmt::format("its pictures became {}x{}; sides of up to {} pixels are allowed", frame.width,
                                        frame.height, max_side_px);
                return Progress::lost;
            }
            if (frame.format == AV_PIX_FMT_BGRA && has_padded_alpha()) frame.format = AV_PIX_FMT_BGR0;
            ++frames_read_;
            if (const auto at = seconds(frame)) end_seconds_ = std::max(end_seconds_, *at);
            return Progress::frame;
        }
        if (result == AVERROR_EOF) return ended();
        if (result != AVERROR(EAGAIN)) {
            note_damage(ffmpeg_error(result));
            if (++errors_in_a_row_ > most_errors_in_a_row) {
                why_lost_ = "nothing in it can be decoded any more";
                return Progress::lost;
            }
            if (draining_) continue;
        }
        if (const auto progress = feed()) return *progress;
    }
}

// Sends the next packet to the decoder. Returns a value if reading ends here.
std::optional<FfmpegInput::Progress> FfmpegInput::feed() {
    const int read = reader_ ? reader_->read(*packet_) : av_read_frame(format_, packet_.get());
    if (read == AVERROR(EAGAIN)) {
        std::this_thread::sleep_for(2ms);
        return std::nullopt;
    }
    if (interrupt_.stopped()) {
        av_packet_unref(packet_.get());
        return Progress::stopped;
    }
    if (read < 0) {
        if (reader_) late_ = reader_->timed_out();
        if (reader_ ? late_ : interrupt_.late()) return std::nullopt;
        // Some demuxers report the end of file when the read below them failed.
        const int error = read == AVERROR_EOF && format_->pb ? format_->pb->error : read;
        if (error < 0 && error != AVERROR_EOF) why_lost_ = ffmpeg_error(error);
        settle_suspicion();
        draining_ = true;
        avcodec_send_packet(decoder_.get(), nullptr);
        return std::nullopt;
    }
    if (packet_->stream_index == stream_->index) {
        if (packet_->flags & AV_PKT_FLAG_KEY) seen_key_ = true;
        // The packet of an image is the whole file.
        if (decoder_->codec_id == AV_CODEC_ID_TIFF)
            tiff_orientation_ = exif_orientation({packet_->data, static_cast<std::size_t>(packet_->size)});
        take_splice(*packet_);
        if (packet_->flags & AV_PKT_FLAG_CORRUPT) splices_ ? suspect() : note_damage(broken_packet);
        const int sent = avcodec_send_packet(decoder_.get(), packet_.get());
        if (sent < 0 && sent != AVERROR(EAGAIN)) note_damage(ffmpeg_error(sent));
    }
    av_packet_unref(packet_.get());
    return std::nullopt;
}

// If one transport stream follows another, the continuity counters jump, and the demuxer marks one of the last
// packets before the splice as corrupt. That packet is intact; a real loss lies within a stream. So a marked packet is
// only suspected, and counted if no splice follows soon.
void FfmpegInput::take_splice(AVPacket& packet) {
    if (!splices_) return;
    if (splices_->take(packet)) {
        suspected_for_ = 0;
        log_debug("{}: its clock starts anew after frame {}", name_, frames_read_);
    }
    splices_->place(packet);
    if (suspected_for_ > 0 && --suspected_for_ == 0) note_damage(broken_packet);
}

void FfmpegInput::suspect() {
    settle_suspicion();
    constexpr int packets = 2;  // the demuxer's parser reads one packet ahead
    suspected_for_ = packets;
}

// Counts a suspected packet as damage.
void FfmpegInput::settle_suspicion() {
    if (std::exchange(suspected_for_, 0) > 0) note_damage(broken_packet);
}

// At the end of file: compares the last frame's time with the duration that the file declares, with a tolerance of 1.5
// frames or 2 %, whichever is larger.
FfmpegInput::Progress FfmpegInput::ended() {
    if (const auto promised = promised_seconds(); promised && why_lost_.empty()) {
        const double frame = 1 / rate().value();
        if (end_seconds_ + frame < *promised - std::max(1.5 * frame, *promised * 0.02))
            why_lost_ = fmt::format("it ends at {:.2f} s of {:.2f} s", end_seconds_ + frame, *promised);
    }
    return why_lost_.empty() ? Progress::end : Progress::lost;
}

// Duration of the stream, for formats whose demuxers do not report truncation. Nullopt if the file has all its bytes,
// because then it is not truncated: its last frame is merely displayed longer.
std::optional<double> FfmpegInput::promised_seconds() const {
    if (kind_ != FfmpegAddress::Kind::file) return std::nullopt;
    if (has_all_bytes(address_.name, format_->iformat->name) && !misses_pictures(*format_, stream_->index))
        return std::nullopt;
    return length_seconds();
}

// Duration of the video stream, for formats that declare it.
std::optional<double> FfmpegInput::length_seconds() const {
    const std::string_view format = format_->iformat->name;
    if (format == "avi" && stream_->duration > 0)
        return static_cast<double>(stream_->duration) * av_q2d(stream_->time_base);
    // Matroska declares the duration of the longest stream; audio may continue after the pictures.
    if (format.starts_with("matroska") && format_->nb_streams == 1 && format_->duration > 0 &&
        format_->duration_estimation_method == AVFMT_DURATION_FROM_STREAM) {
        // If timestamps do not start at 0, some writers count the duration from the first timestamp (mkvmerge), others
        // from 0 (FFmpeg). Use the smaller value, which holds for both.
        const auto duration = static_cast<double>(format_->duration) / AV_TIME_BASE;
        const auto start = start_seconds();
        return start > 0 && start < duration ? duration - start : duration;
    }
    return std::nullopt;
}

// Start of the stream in ticks. With a packet reader, the value of the time when the first packet arrived.
std::int64_t FfmpegInput::start_time() const {
    const auto time = reader_ ? reader_->start_time() : stream_->start_time;
    return time == AV_NOPTS_VALUE ? 0 : time;
}

double FfmpegInput::start_seconds() const { return static_cast<double>(start_time()) * av_q2d(stream_->time_base); }

bool FfmpegInput::seek(double seconds) {
    if (!go_to(seconds)) return false;
    av_frame_unref(ahead_.get());
    ahead_progress_.reset();
    alarm_.take();
    sought_ = seconds;
    given_since_seek_ = 0;
    read_before_seek_ = frames_read_;
    return true;
}

// Seeks without touching the state of next(); also used when a file is decoded again.
bool FfmpegInput::go_to(double seconds) {
    const bool may_go = kind_ == FfmpegAddress::Kind::file || kind_ == FfmpegAddress::Kind::network;
    if (!may_go || live_ || is_still_image(*format_)) return false;
    const auto start = start_time();
    const auto ticks = std::floor(seconds / av_q2d(stream_->time_base));
    if (!(std::abs(ticks) < 0x1p62)) return false;
    interrupt_.allow(patience_);
    const auto at = av_sat_add64(start, static_cast<std::int64_t>(ticks));
    if (av_seek_frame(format_, stream_->index, at, AVSEEK_FLAG_BACKWARD) < 0) return false;
    avcodec_flush_buffers(decoder_.get());
    begin_splices();
    draining_ = false;
    seen_key_ = false;
    errors_in_a_row_ = 0;
    return true;
}

std::optional<double> FfmpegInput::duration_seconds(const AVFrame& frame) const {
    if (frame.pkt_duration <= 0) return std::nullopt;
    return static_cast<double>(frame.pkt_duration) * av_q2d(stream_->time_base);
}

Rational FfmpegInput::guess_rate() const {
    const Rational otherwise = options_.rate.value_or(Rational{30, 1});
    if (is_still_image(*format_)) return otherwise;
    const auto claimed = [](AVRational rate) { return claimed_rate(rate.num, rate.den); };
    const auto guessed = claimed(av_guess_frame_rate(format_, const_cast<AVStream*>(stream_), nullptr));
    // For variable frame rates FFmpeg guesses the rate of the time base: use the average instead.
    const auto average = claimed(stream_->avg_frame_rate);
    if (guessed && (guessed->value() <= 240 || !average)) return *guessed;
    return average.value_or(otherwise);
}

Rational FfmpegInput::pixel_aspect(AVFrame& frame) const {
    const auto aspect = av_guess_sample_aspect_ratio(format_, const_cast<AVStream*>(stream_), &frame);
    return aspect.num > 0 && aspect.den > 0 ? Rational{aspect.num, aspect.den} : Rational{1, 1};
}

std::optional<std::int64_t> FfmpegInput::frames() const {
    if (kind_ != FfmpegAddress::Kind::file) return std::nullopt;
    if (std::string_view(format_->iformat->name) == "image2") return 1;
    if (stream_->nb_frames > 0) return stream_->nb_frames;
    return std::nullopt;
}

Orientation FfmpegInput::orientation(const AVFrame& frame) {
    const auto* own = av_frame_get_side_data(&frame, AV_FRAME_DATA_DISPLAYMATRIX);
    const auto* matrix = own ? own->data : av_stream_get_side_data(stream_, AV_PKT_DATA_DISPLAYMATRIX, nullptr);
    if (!matrix) {
        // The JPEG decoder makes a display matrix from EXIF data, the WebP decoder returns them as text, and the TIFF
        // decoder ignores them.
        const auto* exif = is_still_image(*format_) ? av_dict_get(frame.metadata, "Orientation", nullptr, 0) : nullptr;
        return orientation_of_exif(exif ? number_after_spaces(exif->value) : tiff_orientation_);
    }
    if (const auto orientation = orientation_of_matrix(reinterpret_cast<const std::int32_t*>(matrix)))
        return *orientation;
    if (!std::exchange(warned_of_orientation_, true))
        log_warning("{}: shall be turned or bent otherwise than by quarter turns; it is left as it is", name_);
    return {};
}

std::optional<double> FfmpegInput::seconds(const AVFrame& frame) const {
    if (frame.best_effort_timestamp == AV_NOPTS_VALUE) return std::nullopt;
    const auto start = start_time();
    // Subtract as integers: as doubles, timestamps far from 0 would lose precision.
    return static_cast<double>(av_sat_sub64(frame.best_effort_timestamp, start)) * av_q2d(stream_->time_base);
}

}  // namespace framewire
