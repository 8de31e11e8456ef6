#include "framewire/media/ffmpeg/sound_stream.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/sound_codec.hpp"

extern "C" {
#include <libavcodec/codec_desc.h>
}

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace framewire {
namespace {

// Packets that wait for the pictures at a splice.
constexpr std::size_t most_waiting_packets = 256;

std::optional<SoundCodec> sound_codec_of(AVCodecID codec) {
    switch (codec) {
        case AV_CODEC_ID_AAC: return SoundCodec::aac;
        case AV_CODEC_ID_OPUS: return SoundCodec::opus;
        case AV_CODEC_ID_PCM_MULAW: return SoundCodec::mulaw;
        case AV_CODEC_ID_PCM_ALAW: return SoundCodec::alaw;
        default: return std::nullopt;
    }
}

constexpr int opus_rate = 48'000;

// Identification header of Opus in up to two channels (RFC 7845, 5.1), for streams without one, as in RTP.
std::string opus_header(int channels) {
    std::string header = "OpusHead";
    header += '\1';
    header += static_cast<char>(channels);
    header += std::string("\0\0", 2);          // samples to skip at the start
    header += std::string("\x80\xbb\0\0", 4);  // original sample rate, little-endian
    return header + std::string("\0\0\0", 3);  // gain and mapping family
}

// AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1) of AAC whose frames have ADTS headers, so that the format is known
// before the first packet. Empty if the probed properties do not determine it.
std::string adts_header(const AVCodecParameters& parameters) {
    constexpr std::array rates{96'000, 88'200, 64'000, 48'000, 44'100, 32'000, 24'000,
                               22'050, 16'000, 12'000, 11'025, 8'000,  7'350};
    const auto rate = std::ranges::find(rates, parameters.sample_rate);
    const int channels = parameters.ch_layout.nb_channels;
    if (rate == rates.end() || channels < 1 || channels > 2 || parameters.profile != FF_PROFILE_AAC_LOW) return {};
    const auto bits = (parameters.profile + 1) << 11 | static_cast<int>(rate - rates.begin()) << 7 | channels << 3;
    return {static_cast<char>(bits >> 8), static_cast<char>(bits & 0xff)};
}

}  // namespace

SoundStream::SoundStream(AVFormatContext& format, const AVStream& video, bool is_file, std::shared_ptr<SoundTap> tap,
                         const std::string& name)
    : video_(video), is_file_(is_file), tap_(std::move(tap)), name_(name) {
    tap_->begin();
    const int index = av_find_best_stream(&format, AVMEDIA_TYPE_AUDIO, -1, video.index, nullptr, 0);
    if (index < 0) return;
    auto* stream = format.streams[index];
    const auto& parameters = *stream->codecpar;
    const auto codec = sound_codec_of(parameters.codec_id);
    if (!codec) {
        if (tap_->is_first_complaint())
            log_info("{}: its sound ({}) is not sent to clients; AAC, Opus and G.711 are", name,
                     avcodec_get_name(parameters.codec_id));
        return;
    }
    stream_ = stream;
    codec_ = *codec;
    splices_ = StreamSplices(*stream_, is_file_);
    const auto header_bytes = static_cast<std::size_t>(std::max(parameters.extradata_size, 0));
    if (codec_ == SoundCodec::aac && header_bytes == 0) {
        const auto header = adts_header(parameters);
        if (!open_filter())
            stream_ = nullptr;
        else if (!header.empty())
            describe(reinterpret_cast<const std::uint8_t*>(header.data()), header.size());
    } else if (codec_ == SoundCodec::opus && header_bytes == 0) {
        const auto header = opus_header(std::clamp(parameters.ch_layout.nb_channels, 1, 2));
        describe(reinterpret_cast<const std::uint8_t*>(header.data()), header.size());
    } else if (codec_ == SoundCodec::aac || codec_ == SoundCodec::opus) {
        describe(parameters.extradata, header_bytes);
    } else {
        describe(nullptr, 0);
    }
}

// The filter's packets have the header, from which the format is made.
bool SoundStream::open_filter() {
    const auto* kind = av_bsf_get_by_name("aac_adtstoasc");
    AVBSFContext* made = nullptr;
    if (!kind || av_bsf_alloc(kind, &made) < 0) return false;
    filter_.reset(made);
    filter_->time_base_in = stream_->time_base;
    return avcodec_parameters_copy(filter_->par_in, stream_->codecpar) >= 0 && av_bsf_init(filter_.get()) >= 0;
}

void SoundStream::describe(const std::uint8_t* header, std::size_t bytes) {
    const auto& parameters = *stream_->codecpar;
    SoundFormat format{.codec = codec_,
                       .sample_rate = codec_ == SoundCodec::opus ? opus_rate : parameters.sample_rate,
                       .channels = parameters.ch_layout.nb_channels};
    constexpr auto most = SoundFormat::max_header_bytes + 1;  // enough to be refused
    if (bytes > 0) format.header.assign(reinterpret_cast<const char*>(header), std::min(bytes, most));
    if (const auto why = invalid_sound(format); !why.empty()) {
        if (tap_->is_first_complaint())
            log_warning("{}: its sound ({}) is not sent to clients: {}", name_, to_string(codec_), why);
        stream_ = nullptr;
        return;
    }
    format_ = std::make_shared<const SoundFormat>(std::move(format));
    tap_->set_format(format_);
}

// Consumers must know the format before they ask for packets.
void SoundStream::choose() {
    if (stream_) stream_->discard = !format_ || tap_->is_wanted() ? AVDISCARD_DEFAULT : AVDISCARD_ALL;
}

void SoundStream::begin() {
    tap_->begin();
    tap_->set_format(format_);
    waiting_.clear();
    segment_ = 0;
    if (stream_) splices_ = StreamSplices(*stream_, is_file_);
}

void SoundStream::take(const AVPacket& packet, std::int64_t start_ticks, const std::optional<StreamSplices>& splices) {
    if (!stream_) return;
    if (packet.stream_index == video_.index) return give_waiting(start_ticks, splices);
    if (packet.stream_index != stream_->index || packet.size <= 0 || (packet.flags & AV_PKT_FLAG_CORRUPT)) return;
    if (static_cast<std::size_t>(packet.size) > SoundTap::max_packet_bytes) return;
    if (packet.pts == AV_NOPTS_VALUE && packet.dts == AV_NOPTS_VALUE) return;
    if (splices && splices_.take(packet)) ++segment_;
    auto held = make_packet();
    if (av_packet_ref(held.get(), &packet) < 0) return;
    waiting_.push_back({std::move(held), segment_});
    if (waiting_.size() > most_waiting_packets) {
        // The pictures have no such splice.
        waiting_.clear();
        segment_ = splices ? splices->segments() - 1 : 0;
    }
    give_waiting(start_ticks, splices);
}

// At a splice, only the pictures say where the segment lies.
void SoundStream::give_waiting(std::int64_t start_ticks, const std::optional<StreamSplices>& splices) {
    while (stream_ && !waiting_.empty() && (!splices || waiting_.front().segment < splices->segments())) {
        auto [packet, segment] = std::move(waiting_.front());
        waiting_.pop_front();
        if (splices)
            StreamSplices::move(*packet,
                                av_rescale_q(splices->offset(segment), splices->time_base(), stream_->time_base));
        give(*packet, start_ticks);
    }
}

void SoundStream::give(AVPacket& packet, std::int64_t start_ticks) {
    if (filter_) {
        if (av_bsf_send_packet(filter_.get(), &packet) < 0 || av_bsf_receive_packet(filter_.get(), &packet) < 0)
            return static_cast<void>(take_complaint());  // corrupt sound
        std::size_t bytes = 0;
        const auto* header = av_packet_get_side_data(&packet, AV_PKT_DATA_NEW_EXTRADATA, &bytes);
        if (header) describe(header, bytes);
    }
    if (!stream_ || !format_ || !tap_->is_wanted() || packet.size <= 0) return;
    const auto time = packet.pts != AV_NOPTS_VALUE ? packet.pts : packet.dts;
    const auto start = av_rescale_q(start_ticks, video_.time_base, stream_->time_base);
    tap_->add({.bytes = std::string(reinterpret_cast<const char*>(packet.data), static_cast<std::size_t>(packet.size)),
               .seconds = static_cast<double>(av_sat_sub64(time, start)) * av_q2d(stream_->time_base),
               .samples = samples_of(packet)});
}

// Containers round durations to their ticks, so the codec's own number of samples is preferred.
std::int64_t SoundStream::samples_of(const AVPacket& packet) const {
    if (codec_ != SoundCodec::opus)
        if (const int samples = av_get_audio_frame_duration2(stream_->codecpar, packet.size); samples > 0)
            return samples;
    const int rate = codec_ == SoundCodec::opus ? opus_rate : stream_->codecpar->sample_rate;
    const auto samples = av_rescale_q(packet.duration, stream_->time_base, {1, rate});
    if (codec_ != SoundCodec::opus) return samples;
    constexpr std::int64_t shortest = opus_rate / 400, usual = opus_rate / 50;
    return samples > 0 ? std::max<std::int64_t>(1, (samples + shortest / 2) / shortest) * shortest : usual;
}

}  // namespace framewire
