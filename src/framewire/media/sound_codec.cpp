#include "framewire/media/sound_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>

namespace framewire {
namespace {

// Reads the bits of a header, the highest one of each byte first. Reads 0 behind the end.
class HeaderBits {
public:
    explicit HeaderBits(std::string_view bytes) : bytes_(bytes) {}

    unsigned take(int count) {
        unsigned value = 0;
        for (; count > 0; --count, ++at_) {
            const auto byte = at_ / 8 < bytes_.size() ? static_cast<unsigned char>(bytes_[at_ / 8]) : 0U;
            value = value << 1 | (byte >> (7 - at_ % 8) & 1U);
        }
        return value;
    }
    bool is_complete() const { return at_ <= 8 * bytes_.size(); }

private:
    std::string_view bytes_;
    std::size_t at_ = 0;
};

class BitWriter {
public:
    void put(unsigned value, int count) {
        for (; count > 0; --count, ++used_) {
            if (used_ % 8 == 0) bytes_ += '\0';
            if (value >> (count - 1) & 1U) bytes_.back() = static_cast<char>(bytes_.back() | 0x80 >> used_ % 8);
        }
    }
    const std::string& bytes() const { return bytes_; }

private:
    std::string bytes_;
    std::size_t used_ = 0;
};

constexpr std::array aac_rates{96'000, 88'200, 64'000, 48'000, 44'100, 32'000, 24'000,
                               22'050, 16'000, 12'000, 11'025, 8'000,  7'350};
constexpr int aac_lc = 2, sbr = 5, parametric_stereo = 29, aac_samples = 1024;

int aac_object_type(HeaderBits& bits) {
    constexpr unsigned escape = 31;
    const auto type = bits.take(5);
    return static_cast<int>(type == escape ? 32 + bits.take(6) : type);
}

// 0 if the index is reserved.
int aac_rate(HeaderBits& bits) {
    constexpr unsigned explicit_rate = 15;
    const auto index = bits.take(4);
    if (index == explicit_rate) return static_cast<int>(bits.take(24));
    return index < aac_rates.size() ? aac_rates[index] : 0;
}

// Identifiers of syntactic elements (ISO/IEC 14496-3, table 4.85), and the elements of each channel layout (table
// 1.19).
constexpr unsigned single = 0, pair = 1, low_frequency = 3, frame_end = 7;
constexpr std::array<std::array<unsigned, 5>, 8> aac_elements{{{frame_end},
                                                               {single, frame_end},
                                                               {pair, frame_end},
                                                               {single, pair, frame_end},
                                                               {single, pair, single, frame_end},
                                                               {single, pair, pair, frame_end},
                                                               {single, pair, pair, low_frequency, frame_end},
                                                               {single, pair, pair, pair, low_frequency}}};

// Writes a frame whose channels have no scale factor bands, so all coefficients are 0 (4.4.2.1, 4.4.2.7).
std::string silent_aac_frame(int channel_layout) {
    BitWriter bits;
    const auto put_ics_info = [&] { bits.put(0, 1 + 2 + 1 + 6 + 1); };  // long window, no bands, no prediction
    const auto put_gain = [&] { bits.put(0, 8); };
    const auto put_no_tools = [&] { bits.put(0, 1 + 1 + 1); };  // no pulses, TNS or gain control
    std::array<unsigned, 4> used{};                             // elements of each kind
    for (const auto element : aac_elements[static_cast<std::size_t>(channel_layout)]) {
        if (element == frame_end) break;
        bits.put(element, 3);
        bits.put(used[element]++, 4);
        if (element == pair) {
            bits.put(1, 1);  // common window
            put_ics_info();
            bits.put(0, 2);  // no mid/side stereo
            for (int channel = 0; channel < 2; ++channel) {
                put_gain();
                put_no_tools();
            }
        } else {
            put_gain();
            put_ics_info();
            put_no_tools();
        }
    }
    bits.put(frame_end, 3);
    return bits.bytes();
}

std::string invalid_opus(const SoundFormat& format) {
    constexpr std::size_t header_bytes = 19, channels_at = 9, family_at = 18;
    const auto& header = format.header;
    const auto number_at = [&](std::size_t at) { return static_cast<unsigned char>(header[at]); };
    if (header.size() < header_bytes || !header.starts_with("OpusHead") || number_at(8) > 15)
        return "its header is not that of Opus";
    const int channels = number_at(channels_at), family = number_at(family_at);
    const auto mapping_bytes = family == 0 ? 0 : 2 + static_cast<std::size_t>(channels);
    const bool is_known = family == 0 ? channels == 1 || channels == 2 : family == 1 && channels >= 1 && channels <= 8;
    if (!is_known || channels != format.channels || header.size() < header_bytes + mapping_bytes)
        return fmt::format("it has {} channels of mapping family {}", channels, family);
    return {};
}

}  // namespace

std::optional<AacConfig> parse_aac_config(std::string_view header) {
    HeaderBits bits(header);
    AacConfig config;
    config.object_type = aac_object_type(bits);
    config.sample_rate = aac_rate(bits);
    config.channel_layout = static_cast<int>(bits.take(4));
    if (config.object_type == sbr || config.object_type == parametric_stereo) {
        if (aac_rate(bits) == 0) return std::nullopt;  // that of the sound
        config.object_type = aac_object_type(bits);
    }
    if (!bits.is_complete() || config.object_type == 0 || config.sample_rate == 0 || config.channel_layout > 7)
        return std::nullopt;
    return config;
}

std::string invalid_sound(const SoundFormat& format) {
    if (format.sample_rate < 1 || format.sample_rate > SoundFormat::max_rate)
        return fmt::format("it has {} samples per second", format.sample_rate);
    if (format.channels < 1 || format.channels > SoundFormat::max_channels)
        return fmt::format("it has {} channels", format.channels);
    if (format.header.size() > SoundFormat::max_header_bytes)
        return fmt::format("its header has more than {} bytes", SoundFormat::max_header_bytes);
    if (format.codec == SoundCodec::opus) return invalid_opus(format);
    if (format.codec == SoundCodec::aac && !parse_aac_config(format.header)) return "its header is not that of AAC";
    return {};
}

std::optional<CodedSilence> coded_silence(const SoundFormat& format) {
    switch (format.codec) {
        case SoundCodec::aac: {
            const auto config = parse_aac_config(format.header);
            if (!config || config->object_type != aac_lc || config->channel_layout == 0) return std::nullopt;
            // With SBR, a frame has twice as many samples of the sound.
            const int factor = format.sample_rate == 2 * config->sample_rate ? 2 : 1;
            return CodedSilence{silent_aac_frame(config->channel_layout), std::int64_t{factor} * aac_samples};
        }
        case SoundCodec::opus: {
            // CELT, fullband, one frame of 20 ms that is marked as silent (RFC 6716, 3.1 and 4.3).
            constexpr std::int64_t samples = 960;
            if (format.channels > 2) return std::nullopt;
            return CodedSilence{format.channels == 1 ? "\xf8\xff\xfe" : "\xfc\xff\xfe", samples};
        }
        case SoundCodec::mulaw:
        case SoundCodec::alaw: {
            constexpr int per_second = 50;
            const auto samples = std::max(1, format.sample_rate / per_second);
            const char zero = format.codec == SoundCodec::mulaw ? '\xff' : '\xd5';
            return CodedSilence{std::string(static_cast<std::size_t>(samples * format.channels), zero), samples};
        }
    }
    return std::nullopt;
}

}  // namespace framewire
