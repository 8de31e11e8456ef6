#include "framewire/media/ffmpeg/input.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"
#include "framewire/core/time.hpp"
#include "framewire/media/ffmpeg/libav.hpp"
#include "framewire/media/ffmpeg/sound_stream.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/orientation.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

// Opens sources with FFmpeg's demuxers: sets options per protocol, limits what may be opened, and reports errors with
// their cause.

namespace framewire {
namespace {

constexpr std::chrono::seconds longest_http_pause{4294};  // the largest value that FFmpeg accepts

// Returns true if a lost connection is to be retried.
bool tries_again(const SourceOptions& options) {
    return options.reconnect ? options.reconnect->count() > 0 : options.retries > 0;
}

// Sets timeouts and reconnection with each protocol's own options.
void set_network_options(Dictionary& dictionary, const FfmpegAddress& address, const SourceOptions& options) {
    const auto timeout_us = std::chrono::microseconds(options.timeout).count();
    if (begins_with_any(address.url, {"http://", "https://"})) {
        dictionary.set("rw_timeout", timeout_us);
        if (tries_again(options)) {
            dictionary.set("reconnect", 1);
            dictionary.set("reconnect_delay_max", last_http_pause_s(options));
        }
    } else if (begins_with_any(address.url, {"rtsp://", "rtsps://"})) {
        dictionary.set("rtsp_flags", "prefer_tcp");
        dictionary.set("timeout", timeout_us);
    } else if (begins_with_any(address.url, {"udp://", "srt://"})) {
        dictionary.set("timeout", timeout_us);
    } else {
        dictionary.set("rw_timeout", timeout_us);
    }
}

// Returns true for the multipart MJPEG streams of HTTP cameras.
bool is_multipart_jpeg(const AVFormatContext& format) {
    return std::string_view(format.iformat->name) == "mpjpeg" && format.nb_streams > 0;
}

// Reads stream headers. If a header lacks the picture size, FFmpeg decodes the stream's first pictures; `max_pixels`
// prevents it from decoding larger ones.
int find_stream_info(AVFormatContext& format, std::int64_t max_pixels) {
    std::vector<Dictionary> of_streams(format.nb_streams);
    std::vector<AVDictionary*> entries;
    for (auto& of_stream : of_streams) {
        of_stream.set("max_pixels", max_pixels);
        entries.push_back(*of_stream.address());
    }
    const int error = avformat_find_stream_info(&format, entries.empty() ? nullptr : entries.data());
    for (std::size_t index = 0; index < entries.size(); ++index) *of_streams[index].address() = entries[index];
    return error;
}

}  // namespace

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](auto beginning) { return text.starts_with(beginning); });
}

// With R retries, FFmpeg pauses for 0, 1, 3 ... 2^(R-1) - 1 seconds.
std::int64_t last_http_pause_s(const SourceOptions& options) {
    using std::chrono::seconds;
    if (options.reconnect)
        return std::min(std::chrono::duration_cast<seconds>(*options.reconnect / 2), longest_http_pause).count();
    return (std::int64_t{1} << std::clamp(options.retries - 1, 0, 5)) - 1;
}

// Replaces AVFormatContext::io_open with a function that opens only the file itself, so that no demuxer can read other
// files through it.
int FfmpegDemuxer::open_own_file(AVFormatContext* format, AVIOContext** io, const char* url, int flags,
                                 AVDictionary** options) {
    const auto& self = *static_cast<const FfmpegDemuxer*>(format->opaque);
    if (url != self.url_) {
        log_debug("{}: the link to {} is not followed", self.name_, without_credentials(url));
        return AVERROR(EPERM);
    }
    return self.open_any_(format, io, url, flags, options);
}

// Reports the most specific reason: a stop request, a timeout, a format that is not allowed, or FFmpeg's error.
void FfmpegDemuxer::fail_open(const FfmpegAddress& address, int error, const Interrupt& interrupt,
                              std::chrono::milliseconds patience) const {
    const auto text = ffmpeg_error(error);
    if (interrupt.stopped()) fail(ErrorCode::no_input, "{}: stopped while opening", name_);
    if (interrupt.late())
        fail(ErrorCode::no_input, "cannot open {}: no answer within {:.1f} s", name_,
             std::chrono::duration<double>(patience).count());
    if (const auto refused = address.kind == FfmpegAddress::Kind::file ? refused_format(address) : std::nullopt) {
        const bool image = address.contents == FfmpegAddress::Contents::image;
        fail(ErrorCode::no_input, "{} is not {}: it contains {}{}", name_, image ? "an image" : "a video",
             refused->name,
             refused->is_playlist ? "; playlists are followed only if their names end in .m3u8, .m3u, .mpd or .ffconcat"
                                  : "");
    }
    fail(ErrorCode::no_input, "cannot open {}: {}", name_, text);
}

FfmpegDemuxer::FfmpegDemuxer(const FfmpegAddress& address, const SourceOptions& options, Interrupt& interrupt,
                             std::chrono::milliseconds patience)
    : name_(address.name), url_(address.url) {
    open(address, options, interrupt, patience);
}

void FfmpegDemuxer::open(const FfmpegAddress& address, const SourceOptions& options, Interrupt& interrupt,
                         std::chrono::milliseconds patience) {
    const AVInputFormat* demuxer = nullptr;
    if (address.kind == FfmpegAddress::Kind::camera || address.kind == FfmpegAddress::Kind::generator)
        register_ffmpeg_devices();
    if (!address.format.empty()) {
        demuxer = av_find_input_format(address.format.c_str());
        if (!demuxer) fail(ErrorCode::config, "{}: this FFmpeg has no input format '{}'", name_, address.format);
    }
    Dictionary dictionary;
    dictionary.set("pattern_type", "none");  // a percent sign in an image's name is a literal character
    if (address.kind == FfmpegAddress::Kind::network) set_network_options(dictionary, address, options);
    for (const auto& [key, value] : address.options) dictionary.set(key.c_str(), value);
    if (const auto formats = allowed_formats(address); !formats.empty()) dictionary.set("format_whitelist", formats);
    if (const auto protocols = allowed_protocols(address); !protocols.empty())
        dictionary.set("protocol_whitelist", protocols);

    auto* format = avformat_alloc_context();
    if (!format) fail(ErrorCode::config, "not enough memory to open {}", name_);
    format->interrupt_callback = interrupt.callback();
    if (address.kind == FfmpegAddress::Kind::file && address.contents != FfmpegAddress::Contents::playlist) {
        open_any_ = format->io_open;
        format->opaque = this;
        format->io_open = open_own_file;
    }
    // Without this flag, a camera that blocks inside its driver could not be stopped or time out.
    if (address.kind == FfmpegAddress::Kind::camera) format->flags |= AVFMT_FLAG_NONBLOCK;

    // avformat_open_input() frees the context on failure.
    int error = avformat_open_input(&format, address.url.c_str(), demuxer, dictionary.address());
    if (error >= 0) {
        format_.reset(format);
        if (address.kind == FfmpegAddress::Kind::camera) return;
        error = find_stream_info(*format, options.max_pixels);
        if (error >= 0 && is_multipart_jpeg(*format) && format->streams[0]->codecpar->width == 0)
            error = AVERROR_INVALIDDATA;
    }
    if (error == AVERROR_INVALIDDATA && address.format.empty() && address.kind == FfmpegAddress::Kind::network &&
        begins_with_any(address.url, {"http://", "https://"}) && !interrupt.stopped() && !interrupt.late()) {
        // FFmpeg's demuxer for multipart MJPEG requires a boundary before the first picture and the type image/jpeg
        // for each. Its JPEG parser works without both, but delivers a picture only when the next one starts.
        log_debug("{}: {}; reading it as a sequence of JPEGs", name_, ffmpeg_error(error));
        auto bare = address;
        bare.format = "mjpeg";
        format_.reset();
        return open(bare, options, interrupt, patience);
    }
    if (error < 0) fail_open(address, error, interrupt, patience);
}

}  // namespace framewire

// Reads one source with FFmpeg. Two properties need care beyond plain decoding:
// - Damage must be found and counted. Decoders conceal errors, and report them only as flags, log lines or not at all.
// - A damaged file must give the same frames each time. Frame threads conceal errors with neighbouring pictures that
//   other threads are still decoding, so a file is decoded again on one thread at the first damage.

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

// A local file answers immediately: a read that takes longer than this for one frame is stuck.
constexpr std::chrono::milliseconds file_patience = 60s;
constexpr int http_attempts = 17;  // pauses double up to 24 h
constexpr int most_errors_in_a_row = 10'000;

constexpr const char* broken_packet = "a packet is damaged or truncated";

// Returns true for FFmpeg's demuxers of single images.
bool is_still_image(const AVFormatContext& format) {
    const std::string_view name = format.iformat->name;
    return name == "image2" || name.ends_with("_pipe");
}

// Provides zeroed buffers: decoders leave the missing parts of a corrupt picture as they were in the buffer, which
// could otherwise hold an earlier picture.
int get_clean_buffer(AVCodecContext* decoder, AVFrame* frame, int flags) {
    const int error = avcodec_default_get_buffer2(decoder, frame, flags);
    if (error < 0) return error;
    for (const auto* buffer : frame->buf)
        if (buffer) std::memset(buffer->data, 0, buffer->size);
    return error;
}

// Returns the integer in `count` bytes, in either byte order.
std::uint64_t number_at(const std::uint8_t* bytes, int count, bool big_endian) {
    std::uint64_t number = 0;
    for (int byte = 0; byte < count; ++byte)
        number |= std::uint64_t{bytes[byte]} << (8 * (big_endian ? count - 1 - byte : byte));
    return number;
}

// Returns the size in an EBML element's header (RFC 8794, section 4.2) and sets `length` to the number of bytes that
// encode it. Nullopt if the size is unknown, as in files that were never finished.
std::optional<std::uint64_t> ebml_size(const std::uint8_t* bytes, int& length) {
    length = std::countl_zero(bytes[0]) + 1;
    if (length > 8) return std::nullopt;
    const auto unknown = (std::uint64_t{1} << (7 * length)) - 1;
    const auto size = number_at(bytes, length, true) & unknown;
    return size == unknown ? std::nullopt : std::optional(size);
}

// Returns true if an AVI or Matroska file has as many bytes as its top-level elements declare.
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
        // AVI files larger than a gigabyte have several RIFF chunks.
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

// Returns true if the index of an AVI file lists pictures beyond the end of the file.
bool misses_pictures(AVFormatContext& format, int stream) {
    const auto end = format.pb ? avio_size(format.pb) : -1;
    if (end < 0 || std::string_view(format.iformat->name) != "avi") return false;
    for (int number = 0; number < avformat_index_get_entries_count(format.streams[stream]); ++number)
        if (const auto* entry = avformat_index_get_entry(format.streams[stream], number);
            entry->size > 0 && entry->pos >= end)
            return true;
    return false;
}

// Parses a number as FFmpeg prints it for EXIF data, for example "    6". Returns 0 if there is none.
long number_after_spaces(std::string_view text) {
    long number = 0;
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    take_number(text, number);
    return number;
}

// Returns libvpx's decoder for WebM with transparency, which FFmpeg's native VP8 and VP9 decoders ignore; otherwise
// `codec`.
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

    if (kind_ == FfmpegAddress::Kind::network && !live_)
        patience_ = (options.timeout + std::chrono::seconds(last_http_pause_s(options))) *
                    (options.reconnect ? http_attempts : std::max(options.retries, 1));
    rate_ = guess_rate();
    if (live_ && options.every_frame) reader_.emplace(*format_, *stream_, interrupt_, patience_, name_);
}

// Opens demuxer and decoder. The old demuxer is kept until the new one is open, so that after a failure it is still
// usable.
void FfmpegInput::open() {
    auto demuxer = std::make_unique<FfmpegDemuxer>(address_, options_, interrupt_, patience_);
    sound_.reset();
    decoder_.reset();
    demuxer_ = std::move(demuxer);
    format_ = &demuxer_->format();
    // A network source is live unless it is an HTTP file with a known duration.
    const bool endless = format_->duration == AV_NOPTS_VALUE || format_->duration <= 0;
    const bool broadcast = !begins_with_any(address_.url, {"http://", "https://"});
    live_ = kind_ == FfmpegAddress::Kind::camera || (kind_ == FfmpegAddress::Kind::network && (endless || broadcast));
    open_decoder();
    if (options_.sound && !options_.every_frame && !is_still_image(*format_))
        sound_ = std::make_unique<SoundStream>(*format_, *stream_, kind_ == FfmpegAddress::Kind::file, options_.sound,
                                               name_);
    begin_splices();
}

FfmpegInput::~FfmpegInput() = default;

void FfmpegInput::begin_splices() {
    suspected_for_ = 0;
    splices_.reset();
    if (StreamSplices::may_occur(*format_)) splices_.emplace(*stream_, kind_ == FfmpegAddress::Kind::file);
}

// With `auto`, the GPU decodes only live sources: it does not report damage within pictures, which must be found in
// files, and 16 cores decode one file faster (measured 2026-11-29, 1080p H.264 of 2 Mbit/s, `detect`: 914 frames per
// second, 10 ms of CPU time each; an H200: 675, 0.6 ms).
const AVCodec* FfmpegInput::codec_for_gpu(const AVCodec& codec) {
    if (options_.decode == DecodeChoice::cpu || gpu_is_left_ || alone_) return nullptr;
    const bool asked = options_.decode == DecodeChoice::cuda;
    if (!asked && !live_) return nullptr;
    // Raw video needs no decoding, and images are decoded one at a time.
    if (codec.id == AV_CODEC_ID_RAWVIDEO || codec.id == AV_CODEC_ID_WRAPPED_AVFRAME || is_still_image(*format_))
        return nullptr;
    const auto* const name = avcodec_get_name(codec.id);
    const auto* const found = GpuDecoder::find(codec);
    if (!found && !asked) return nullptr;  // there is nothing to choose from
    if (!found) {
        leave_gpu(fmt::format("FFmpeg has no decoder for {} there", name));
    } else if (!asked && !GpuDecoder::is_exact(codec.id)) {
        leave_gpu(fmt::format("the GPU may give other bytes for {}, which --decode cuda allows", name));
    } else if (&decoder_with_alpha(codec, *stream_) != &codec) {
        leave_gpu("the GPU ignores its transparency");
    } else {
        try {
            gpu_ = std::make_unique<GpuDecoder>(options_.gpu);
            log_debug("{}: decoding {} on the GPU", name_, name);
            return found;
        } catch (const Error& error) {
            leave_gpu(error.what());
        }
    }
    return nullptr;
}

void FfmpegInput::leave_gpu(const std::string& why) {
    if (options_.decode == DecodeChoice::cuda) fail(ErrorCode::config, "{}: cannot decode on the GPU: {}", name_, why);
    gpu_is_left_ = true;
    why_gpu_is_left_ = why;
    log_info("{}: decoding on the CPU: {}", name_, why);
}

bool FfmpegInput::is_refused() const { return gpu_ && !gpu_is_left_ && !gpu_->refusal().empty(); }

// Opens the decoder of the best video stream and makes the demuxer discard all other streams.
void FfmpegInput::open_decoder() {
    decoder_.reset();
    gpu_.reset();
    const AVCodec* codec = nullptr;
    const int index = av_find_best_stream(format_, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0);
    if (index == AVERROR_DECODER_NOT_FOUND)
        fail(ErrorCode::no_input, "{}: this FFmpeg has no decoder for the video", name_);
    if (index < 0 || (format_->streams[index]->disposition & AV_DISPOSITION_ATTACHED_PIC))
        fail(ErrorCode::no_input, "{} has no video stream", name_);
    stream_ = format_->streams[index];
    for (unsigned other = 0; other < format_->nb_streams; ++other)
        if (static_cast<int>(other) != index) format_->streams[other]->discard = AVDISCARD_ALL;

    const auto& parameters = *stream_->codecpar;
    const auto pixels = std::int64_t{parameters.width} * parameters.height;
    if (parameters.width > max_side_px || parameters.height > max_side_px || pixels > options_.max_pixels)
        fail(ErrorCode::no_input, "{} is {}x{}; allowed: sides of up to {} pixels, {} pixels in total", name_,
             parameters.width, parameters.height, max_side_px, options_.max_pixels);

    const auto* const on_gpu = codec_for_gpu(*codec);
    codec = on_gpu ? on_gpu : &decoder_with_alpha(*codec, *stream_);
    decoder_.reset(avcodec_alloc_context3(codec));
    if (!decoder_) fail(ErrorCode::config, "not enough memory for a decoder");
    if (const int error = avcodec_parameters_to_context(decoder_.get(), &parameters); error < 0)
        fail(ErrorCode::no_input, "cannot decode {}: {}", name_, ffmpeg_error(error));
    decoder_->pkt_timebase = stream_->time_base;
    decoder_->max_pixels = options_.max_pixels;
    // Use more threads than cores, because the threads also wait for each other.
    const int of_cores = static_cast<int>(std::thread::hardware_concurrency()) + 2;
    decoder_->thread_count = std::clamp(options_.decoder_threads > 0 ? options_.decoder_threads : of_cores, 1, 16);
    // Each frame thread delays output by one frame: use frame threads only for files, which can be read ahead.
    decoder_->thread_type = kind_ == FfmpegAddress::Kind::file ? FF_THREAD_FRAME | FF_THREAD_SLICE : FF_THREAD_SLICE;
    // Treat a truncated image as an error: otherwise the JPEG decoder fills the rest with gray without a message. TIFF
    // is excluded, because its decoder would then reject every file with an unknown tag.
    if (is_still_image(*format_) && codec->id != AV_CODEC_ID_TIFF)
        decoder_->err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE;
    // Also treat a wrong checksum in a lossless picture as an error. The FFV1 decoder only logs it and conceals the
    // damage; without frame threads it logs on this thread, where take_complaint() finds the message.
    if (checks_sums()) decoder_->thread_type = FF_THREAD_SLICE;
    if (alone_) {
        decoder_->thread_count = 1;
        decoder_->thread_type = FF_THREAD_SLICE;
        decoder_->get_buffer2 = get_clean_buffer;
    }
    if (gpu_) {
        // The GPU decodes one picture after the other, so threads have nothing to do. But a live source goes on with
        // this decoder if the GPU refuses its stream.
        if (!live_) decoder_->thread_count = 1;
        decoder_->thread_type = FF_THREAD_SLICE;
        gpu_->attach(*decoder_);
    }
    alarm_.watch(*decoder_, gpu_ != nullptr);
    if (const int error = avcodec_open2(decoder_.get(), codec, nullptr); error < 0)
        fail(ErrorCode::no_input, "cannot decode {}: {}", name_, ffmpeg_error(error));
    take_complaint();  // messages from opening the decoder are irrelevant
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

// Returns true for 32-bit pictures in AVI. The byte that FFmpeg takes for alpha is padding there, mostly 0, which would
// make the picture invisible.
bool FfmpegInput::has_padded_alpha() const {
    return decoder_->codec_id == AV_CODEC_ID_RAWVIDEO && std::string_view(format_->iformat->name) == "avi";
}

void FfmpegInput::note_damage(const std::string& text) {
    // If the recording was cut out of a stream, packets before the first key frame cannot be decoded. That is not
    // damage.
    if (!seen_key_) return;
    if (damaged_++ == 0) first_damage_ = fmt::format("after frame {}: {}", frames_read_, text);
    log_debug("{}: damaged data after frame {}: {}", name_, frames_read_, text);
}

// Returns true if frame threads or the GPU may affect the result and the file can be opened again.
bool FfmpegInput::may_begin_again() const { return !alone_ && (has_frame_threads() || gpu_) && may_open_again(); }

bool FfmpegInput::may_open_again() const {
    std::error_code error;
    return kind_ == FfmpegAddress::Kind::file && !is_still_image(*format_) &&
           std::filesystem::is_regular_file(address_.name, error);
}

// Reopens the file and continues from the position where reading began. Returns false and changes nothing if the file
// has changed meanwhile.
bool FfmpegInput::begin_again() {
    auto demuxer = std::exchange(demuxer_, nullptr);
    auto gpu = std::exchange(gpu_, nullptr);  // outlives the decoder
    auto decoder = std::exchange(decoder_, nullptr);
    const auto* const stream = stream_;
    interrupt_.allow(patience_);
    try {
        open();
        if (sought_ && !go_to(*sought_))
            fail(ErrorCode::source_lost, "{}: the position {:.3f} s no longer exists", name_, *sought_);
    } catch (const Error& error) {
        log_debug("{}", error.what());
        decoder_ = std::move(decoder);
        gpu_ = std::move(gpu);
        sound_.reset();
        demuxer_ = std::move(demuxer);
        format_ = &demuxer_->format();
        stream_ = stream;
        return false;
    }
    decoder.reset();  // the decoder may raise the alarm up to here
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

// Returns the next frame. For files, decodes one frame ahead, because only the end of the file tells how long its last
// frame is displayed.
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

// Extends the last frame to the end of the stream. In AVI files, null frames may follow it, and Matroska stores no
// frame durations.
void FfmpegInput::show_to_the_end(AVFrame& frame) const {
    const auto at = seconds(frame);
    const auto end = length_seconds();
    if (!at || !end) return;
    const double ticks = (*end - *at) / av_q2d(stream_->time_base);
    if (ticks > static_cast<double>(frame.pkt_duration) && ticks < 0x1p62) frame.pkt_duration = std::llround(ticks);
}

// Decodes a frame and counts damage that only the log reveals. With frame threads, the alarm may concern a picture that
// another thread is decoding; such damage is counted when the file is decoded again.
FfmpegInput::Progress FfmpegInput::next_counted(AVFrame& frame) {
    const auto progress = next_decoded(frame);
    if (is_unmarked() && !has_frame_threads() && alarm_.take()) note_damage("parts of a frame could not be decoded");
    return progress;
}

// Decodes a frame. At the first damage, starts again on one thread: frame threads conceal errors with neighbouring
// pictures that are themselves being concealed, and lose the output's corruption flag. Frames delivered before the
// first message were intact, so they are decoded again and skipped.
FfmpegInput::Progress FfmpegInput::next_now(AVFrame& frame) {
    const auto damaged = damaged_;
    auto progress = next_counted(frame);
    if (is_refused()) progress = next_without_gpu(frame);
    const bool reported = alarm_.take();
    const bool broken = reported || damaged_ > damaged;
    std::optional<Progress> again;
    if (broken && progress != Progress::stopped && may_begin_again()) {
        log_debug("{}: damaged; decoding again on one thread for reproducible results", name_);
        alone_ = true;
        if (gpu_) why_gpu_is_left_ = "the file is damaged";
        again = next_again(frame);
    }
    if (again)
        progress = *again;
    else if (reported && has_frame_threads())
        note_damage("parts of a frame could not be decoded");  // the frame's own flag may be lost
    if (progress == Progress::frame) {
        ++given_since_seek_;
        report_decoder(frame);
    }
    return progress;
}

void FfmpegInput::report_decoder(const AVFrame& frame) {
    const bool on_gpu = gpu_picture(frame) != nullptr;
    if (!options_.decode_monitor || reported_gpu_ == on_gpu) return;
    reported_gpu_ = on_gpu;
    options_.decode_monitor->set({on_gpu ? Backend::cuda : Backend::cpu, on_gpu ? std::string() : why_gpu_is_left_});
}

// Frames that were given are decoded again and skipped.
std::optional<FfmpegInput::Progress> FfmpegInput::next_again(AVFrame& frame) {
    if (!begin_again()) return std::nullopt;
    av_frame_unref(&frame);
    auto progress = next_counted(frame);
    for (std::int64_t again = 0; again < given_since_seek_ && progress == Progress::frame; ++again) {
        av_frame_unref(&frame);
        progress = next_counted(frame);
    }
    return progress;
}

// A file is decoded again, with threads. A live source goes on with its decoder, whose frames now come from the CPU,
// unless that decoder only works on the GPU.
FfmpegInput::Progress FfmpegInput::next_without_gpu(AVFrame& frame) {
    leave_gpu(gpu_->refusal());
    av_frame_unref(&frame);
    if (may_open_again())
        if (const auto progress = next_again(frame)) return *progress;
    if (decoder_->pix_fmt == AV_PIX_FMT_CUDA || decoder_->codec_id == AV_CODEC_ID_AV1) {
        open_decoder();
        seen_key_ = false;
    }
    return next_counted(frame);
}

// Runs the decoding loop: receives a frame or feeds the next packet, until a frame, the end, a stop or a loss.
FfmpegInput::Progress FfmpegInput::next_decoded(AVFrame& frame) {
    if (!reader_) interrupt_.allow(patience_);
    if (checks_sums()) take_complaint();  // earlier complaints may concern files that this thread read before
    for (;;) {
        if (interrupt_.stopped()) return Progress::stopped;
        if (is_refused()) return Progress::lost;
        if (reader_ ? late_ : interrupt_.late()) {
            why_lost_ =
                fmt::format("no frame arrived within {:.1f} s", std::chrono::duration<double>(patience_).count());
            return Progress::lost;
        }
        const int result = avcodec_receive_frame(decoder_.get(), &frame);
        if (result == 0) {
            if (frame.format == AV_PIX_FMT_CUDA) {
                take_from_gpu(frame);
                if (is_refused()) continue;
            }
            errors_in_a_row_ = 0;
            seen_key_ = true;
            if (checks_sums()) {
                if (const auto complaint = take_complaint(); !complaint.empty()) {
                    note_damage(complaint);
                    continue;
                }
            }
            if (frame.decode_error_flags || (frame.flags & AV_FRAME_FLAG_CORRUPT))
                note_damage("parts of the frame could not be decoded");
            if (frame.width > max_side_px || frame.height > max_side_px) {
                why_lost_ = fmt::format("its frame size changed to {}x{}; allowed: sides of up to {} pixels",
                                        frame.width, frame.height, max_side_px);
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
                why_lost_ = "no more frames can be decoded";
                return Progress::lost;
            }
            if (draining_) continue;
        }
        if (const auto progress = feed()) return *progress;
    }
}

// Memory of the GPU may be exhausted.
void FfmpegInput::take_from_gpu(AVFrame& frame) {
    try {
        gpu_->take(*decoder_, frame);
    } catch (const Error& error) {
        gpu_->refuse(error.what());
    }
}

// Sends the next packet to the decoder. Returns a result if reading ends here, otherwise nullopt.
std::optional<FfmpegInput::Progress> FfmpegInput::feed() {
    if (sound_) sound_->choose();
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
        // Some demuxers report the end of the file although reading it failed.
        const int error = read == AVERROR_EOF && format_->pb ? format_->pb->error : read;
        if (error < 0 && error != AVERROR_EOF) why_lost_ = ffmpeg_error(error);
        settle_suspicion();
        draining_ = true;
        avcodec_send_packet(decoder_.get(), nullptr);
        return std::nullopt;
    }
    if (packet_->stream_index == stream_->index) {
        if (packet_->flags & AV_PKT_FLAG_KEY) seen_key_ = true;
        // An image file is a single packet.
        if (decoder_->codec_id == AV_CODEC_ID_TIFF)
            tiff_orientation_ = exif_orientation({packet_->data, static_cast<std::size_t>(packet_->size)});
        take_splice(*packet_);
        if (packet_->flags & AV_PKT_FLAG_CORRUPT) splices_ ? suspect() : note_damage(broken_packet);
        const int sent = avcodec_send_packet(decoder_.get(), packet_.get());
        if (sent < 0 && sent != AVERROR(EAGAIN)) note_damage(ffmpeg_error(sent));
    }
    if (sound_) sound_->take(*packet_, start_time(), splices_);
    av_packet_unref(packet_.get());
    return std::nullopt;
}

// Places the packet on the continuous clock. If one transport stream follows another, the continuity counters jump, and
// the demuxer marks one of the last packets before the splice as corrupt although it is intact. A real loss lies within
// a stream. A marked packet is therefore only suspected, and counted as damage if no splice follows soon.
void FfmpegInput::take_splice(AVPacket& packet) {
    if (!splices_) return;
    if (splices_->take(packet)) {
        suspected_for_ = 0;
        log_debug("{}: its timestamps restart after frame {}", name_, frames_read_);
    }
    splices_->place(packet);
    if (suspected_for_ > 0 && --suspected_for_ == 0) note_damage(broken_packet);
}

void FfmpegInput::suspect() {
    settle_suspicion();
    constexpr int packets = 2;  // the demuxer's parser reads one packet ahead
    suspected_for_ = packets;
}

// Counts the suspected packet, if any, as damage.
void FfmpegInput::settle_suspicion() {
    if (std::exchange(suspected_for_, 0) > 0) note_damage(broken_packet);
}

// Returns `lost` instead of `end` if the last frame ends before the duration that the file declares, with a tolerance
// of 1.5 frames or 2 %, whichever is larger.
FfmpegInput::Progress FfmpegInput::ended() {
    if (const auto promised = promised_seconds(); promised && why_lost_.empty()) {
        const double frame = 1 / rate().value();
        if (end_seconds_ + frame < *promised - std::max(1.5 * frame, *promised * 0.02))
            why_lost_ = fmt::format("it ends at {:.2f} s, but declares a duration of {:.2f} s", end_seconds_ + frame,
                                    *promised);
    }
    return why_lost_.empty() ? Progress::end : Progress::lost;
}

// Returns the declared duration of the stream, for formats whose demuxers do not report truncation. Nullopt if the file
// has all its bytes: it is then not truncated, and its last frame is merely displayed longer.
std::optional<double> FfmpegInput::promised_seconds() const {
    if (kind_ != FfmpegAddress::Kind::file) return std::nullopt;
    if (has_all_bytes(address_.name, format_->iformat->name) && !misses_pictures(*format_, stream_->index))
        return std::nullopt;
    return length_seconds();
}

// Returns the duration of the video stream, for formats that declare it.
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

// Returns the start of the stream in ticks. With a packet reader, this is the value at the time when the first packet
// arrived.
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

// Seeks without changing the state of next(); also used when a file is decoded again.
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
    if (sound_) sound_->begin();
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
    // For variable frame rates, FFmpeg's guess is the rate of the time base: use the average instead.
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
        // The JPEG decoder creates a display matrix from EXIF data, the WebP decoder returns the orientation as text,
        // and the TIFF decoder ignores it.
        const auto* exif = is_still_image(*format_) ? av_dict_get(frame.metadata, "Orientation", nullptr, 0) : nullptr;
        return orientation_of_exif(exif ? number_after_spaces(exif->value) : tiff_orientation_);
    }
    if (const auto orientation = orientation_of_matrix(reinterpret_cast<const std::int32_t*>(matrix)))
        return *orientation;
    if (!std::exchange(warned_of_orientation_, true))
        log_warning("{}: the display matrix is not a multiple of 90 degrees; ignored", name_);
    return {};
}

std::optional<double> FfmpegInput::seconds(const AVFrame& frame) const {
    if (frame.best_effort_timestamp == AV_NOPTS_VALUE) return std::nullopt;
    const auto start = start_time();
    // Subtract as integers: as doubles, timestamps far from 0 would lose precision.
    return static_cast<double>(av_sat_sub64(frame.best_effort_timestamp, start)) * av_q2d(stream_->time_base);
}

}  // namespace framewire

// Decides what FFmpeg may open, depending on the kind of address (the demuxers in `never` are always excluded):
//
//    address           demuxers                                     protocols
//    file, video       media demuxers without playlists and sdp     file
//    file, image       image demuxers                               file
//    file, playlist    also the one that its extension names        file, crypto, data
//    network           all; HLS and DASH from HTTP servers only     its own and those below it, never file
//    camera, lavfi     not limited: they are not files

namespace framewire {
namespace {

using Kind = FfmpegAddress::Kind;
using Contents = FfmpegAddress::Contents;

// Demuxer that opens other files, and the extension that permits it.
struct Playlist {
    std::string_view demuxer, ending;
    bool of_the_web;
};
constexpr std::array<Playlist, 5> playlists{{{"hls", ".m3u8", true},
                                             {"hls", ".m3u", true},
                                             {"dash", ".mpd", true},
                                             {"webm_dash_manifest", ".mpd", true},
                                             {"concat", ".ffconcat", false}}};

// Demuxers that are never allowed: they open other files without need, run scripts, or render any text as a picture.
constexpr std::array<std::string_view, 5> never{"avisynth", "imf", "tty", "vapoursynth", "vobsub"};

bool is_playlist(std::string_view demuxer) {
    return std::ranges::any_of(playlists, [&](const auto& list) { return list.demuxer == demuxer; });
}

// Returns true if the address permits this playlist demuxer.
bool is_meant(std::string_view demuxer, const FfmpegAddress& address) {
    const auto url = lower_case(address.url);
    return std::ranges::any_of(playlists, [&](const auto& list) {
        if (list.demuxer != demuxer) return false;
        if (address.kind == Kind::network) return list.of_the_web && url.starts_with("http");
        return address.contents == Contents::playlist && url.ends_with(list.ending);
    });
}

// Returns the first of a demuxer's names.
std::string_view name_of(const AVInputFormat& format) {
    const std::string_view names = format.name;
    return names.substr(0, names.find(','));
}

// Returns true for libavdevice's inputs: cameras, screens, generators.
bool is_device(const AVInputFormat& format) {
    return format.priv_class && AV_IS_INPUT_DEVICE(format.priv_class->category);
}

// Returns true for image demuxers. FFmpeg has one per image format (NAME_pipe), and image2, which chooses by file name.
// SVG is excluded.
bool is_of_images(std::string_view name) { return name == "image2" || (name.ends_with("_pipe") && name != "svg_pipe"); }

// Returns true if a demuxer may open an address. All functions here share this policy.
bool is_allowed(const AVInputFormat& format, const FfmpegAddress& address) {
    const auto name = name_of(format);
    if (is_device(format) || std::ranges::find(never, name) != never.end()) return false;
    if (is_playlist(name)) return is_meant(name, address);
    if (address.kind == Kind::network) return true;
    if (address.contents == Contents::image) return is_of_images(name);
    // Session descriptions (SDP) refer to the network. Demuxers with AVFMT_NOFILE open their input themselves, which
    // bypasses the limits; image2 is the only harmless one.
    return name != "sdp" && (!(format.flags & AVFMT_NOFILE) || name == "image2");
}

}  // namespace

FfmpegAddress::Contents contents_of(const std::string& path) {
    const auto lower = lower_case(path);
    if (std::ranges::any_of(playlists, [&](const auto& list) { return lower.ends_with(list.ending); }))
        return Contents::playlist;
    return is_image_name(path) ? Contents::image : Contents::video;
}

std::string allowed_formats(const FfmpegAddress& address) {
    if (address.kind == Kind::camera || address.kind == Kind::generator) return {};
    std::string names;
    void* at = nullptr;
    while (const auto* format = av_demuxer_iterate(&at)) {
        if (!is_allowed(*format, address)) continue;
        if (!names.empty()) names += ',';
        names += format->name;
    }
    return names;
}

std::string allowed_protocols(const FfmpegAddress& address) {
    switch (address.kind) {
        case Kind::file: return address.contents == Contents::playlist ? "file,crypto,data" : "file";
        case Kind::network:
            // Allow the requested protocol and those on which it may be layered.
            return "crypto,data,ffrtmpcrypt,ffrtmphttp,http,httpproxy,https,rtp,srtp,tcp,tls,udp," +
                   address.url.substr(0, address.url.find_first_of(":,"));
        case Kind::camera:
        case Kind::generator: break;
    }
    return {};
}

std::optional<RefusedFormat> refused_format(const FfmpegAddress& file) {
    AVIOContext* io = nullptr;
    if (avio_open(&io, file.url.c_str(), AVIO_FLAG_READ) < 0) return std::nullopt;
    const AVInputFormat* format = nullptr;
    const int score = av_probe_input_buffer2(io, &format, file.url.c_str(), nullptr, 0, 0);
    avio_closep(&io);
    if (score < 0 || !format || is_allowed(*format, file)) return std::nullopt;
    const auto name = name_of(*format);
    if (name == "tty") return RefusedFormat{"text", false};
    return RefusedFormat{format->long_name ? format->long_name : format->name, is_playlist(name)};
}

}  // namespace framewire

// Decouples reception from processing:
//
//    network or driver -> run() on its thread -> held_ (up to 64 MiB of encoded packets) -> read() -> decoder
//
// If the buffer is full, its oldest packets are dropped if every packet is decodable on its own (a camera with raw or
// JPEG frames). Other sources have to wait, because dropping a packet would damage the frames that depend on it.

namespace framewire {
namespace {

using namespace std::chrono_literals;

// Two minutes of a typical 4 Mbit/s camera, or one second of 30 raw 1280x720 frames.
constexpr std::int64_t most_held_bytes = std::int64_t{64} << 20;

// Returns true if every packet can be decoded on its own, so that any of them may be dropped.
bool is_intra_only(AVCodecID codec) {
    const auto* descriptor = avcodec_descriptor_get(codec);
    return descriptor && (descriptor->props & AV_CODEC_PROP_INTRA_ONLY);
}

}  // namespace

PacketReader::PacketReader(AVFormatContext& format, const AVStream& stream, Interrupt& interrupt,
                           std::chrono::milliseconds patience, std::string name)
    : format_(format),
      stream_(stream),
      interrupt_(interrupt),
      patience_(patience),
      name_(std::move(name)),
      drops_((format.iformat->flags & AVFMT_NOFILE) != 0 && is_intra_only(stream.codecpar->codec_id)),
      start_time_(stream.start_time),
      thread_([this] { run(); }) {}

// Unblocks the thread, which may wait inside FFmpeg (interrupt) or for space in the buffer (taken_).
PacketReader::~PacketReader() {
    {
        const std::lock_guard lock(mutex_);
        cancelled_ = true;
    }
    interrupt_.cancel();
    taken_.notify_all();
    thread_.join();
    interrupt_.renew();
    if (dropped_ > 0)
        log_warning("{}: dropped {} frames that arrived faster than they could be processed", name_, dropped_);
}

int PacketReader::read(AVPacket& packet) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return !held_.empty() || ended_; });
    if (held_.empty()) return result_;
    av_packet_move_ref(&packet, held_.front().packet.get());
    // Keep the first start time: FFmpeg adjusts it while a stream runs, and times from different starts would go
    // backwards.
    if (!std::exchange(began_, true)) start_time_ = held_.front().start_time;
    held_bytes_ -= packet.size;
    held_.pop_front();
    lock.unlock();
    taken_.notify_one();
    return 0;
}

// Runs on the reader's thread: reads packets until an error, the end or the destructor.
void PacketReader::run() {
    int result = 0;
    while (result >= 0) {
        auto packet = make_packet();
        result = read_packet(*packet);
        if (result >= 0 && packet->stream_index == stream_.index && !add({std::move(packet), stream_.start_time}))
            result = AVERROR_EXIT;
    }
    end(result);
}

// Reads a packet, waiting for data. A camera's demuxer does not block, so it is polled every 2 ms.
int PacketReader::read_packet(AVPacket& packet) {
    interrupt_.allow(patience_);
    for (;;) {
        const int result = av_read_frame(&format_, &packet);
        if (result != AVERROR(EAGAIN)) return result;
        if (interrupt_.stopped() || interrupt_.late()) return AVERROR_EXIT;
        std::this_thread::sleep_for(2ms);
    }
}

// Appends a packet. If the buffer is full, drops its oldest packets or waits for space. Returns false if the reader is
// being destroyed.
bool PacketReader::add(Held held) {
    std::unique_lock lock(mutex_);
    const auto is_full = [&] { return !held_.empty() && held_bytes_ + held.packet->size > most_held_bytes; };
    if (is_full() && !std::exchange(warned_, true))
        log_warning("{}: frames arrive faster than they can be processed; {}", name_,
                    drops_ ? "some frames are dropped" : "the sender has to wait, and may drop frames or disconnect");
    while (drops_ && is_full()) {
        held_bytes_ -= held_.front().packet->size;
        held_.pop_front();
        ++dropped_;
    }
    taken_.wait(lock, [&] { return cancelled_ || !is_full(); });
    if (cancelled_) return false;
    held_bytes_ += held.packet->size;
    held_.push_back(std::move(held));
    lock.unlock();
    arrived_.notify_one();
    return true;
}

// Stores the final result and wakes read().
void PacketReader::end(int result) {
    {
        const std::lock_guard lock(mutex_);
        ended_ = true;
        result_ = result;
        timed_out_ = interrupt_.late() && !interrupt_.stopped();
    }
    arrived_.notify_all();
}

}  // namespace framewire

// Turns restarting timestamps into one continuous clock:
//
//    as read     100 101 102 |   0   1   2 |  50  51
//    placed      100 101 102 | 103 104 105 | 106 107
//    offset        0         | 103         |  56
//
// (for packets with a duration of one tick).

extern "C" {
#include <libavutil/common.h>
}

#include <algorithm>

namespace framewire {
namespace {

// Thresholds of FFmpeg's own tools: packets may be slightly out of order, and a stream may pause.
constexpr AVRational least_jump_back{1, 10}, least_jump_ahead{10, 1};

std::int64_t ticks_of(AVRational seconds, AVRational time_base) { return av_rescale_q(1, seconds, time_base); }

}  // namespace

StreamSplices::StreamSplices(const AVStream& stream, bool forward) : time_base_(stream.time_base), forward_(forward) {
    const auto& parameters = *stream.codecpar;
    if (parameters.codec_type == AVMEDIA_TYPE_VIDEO && stream.avg_frame_rate.num > 0 && stream.avg_frame_rate.den > 0)
        frame_ticks_ = av_rescale_q(1, av_inv_q(stream.avg_frame_rate), time_base_);
}

bool StreamSplices::may_occur(const AVFormatContext& format) { return format.iformat->flags & AVFMT_TS_DISCONT; }

void StreamSplices::move(AVPacket& packet, std::int64_t ticks) {
    if (packet.pts != AV_NOPTS_VALUE) packet.pts = av_sat_add64(packet.pts, ticks);
    if (packet.dts != AV_NOPTS_VALUE) packet.dts = av_sat_add64(packet.dts, ticks);
}

bool StreamSplices::take(const AVPacket& packet) {
    bool jumps = false;
    // Detect jumps by decoding times: presentation times go back at every B-frame.
    if (packet.dts != AV_NOPTS_VALUE) {
        const auto step = av_sat_sub64(packet.dts, last_dts_);
        jumps = begun_ && (step < -ticks_of(least_jump_back, time_base_) ||
                           (forward_ && step > ticks_of(least_jump_ahead, time_base_)));
        last_dts_ = packet.dts;
    }
    const auto pts = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
    if (pts == AV_NOPTS_VALUE) return false;
    // The new segment starts at the end of the previous ones.
    if (jumps) offsets_.push_back(av_sat_sub64(end_, pts));
    const auto duration = packet.duration > 0 ? packet.duration : frame_ticks_;
    const auto end = av_sat_add64(av_sat_add64(pts, offsets_.back()), duration);
    end_ = begun_ ? std::max(end_, end) : end;
    begun_ = begun_ || packet.dts != AV_NOPTS_VALUE;
    return jumps;
}

}  // namespace framewire
