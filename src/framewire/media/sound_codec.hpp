#pragma once

#include "framewire/media/sound.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace framewire {

/// The part of an AudioSpecificConfig (ISO/IEC 14496-3, 1.6.2.1) that says how silence is coded.
struct AacConfig {
    int object_type = 0;     ///< 2 for AAC-LC; that of the core codec if there is SBR
    int sample_rate = 0;     ///< of the core codec, which is half of the sound's with SBR
    int channel_layout = 0;  ///< 1 to 7; 0 if the header describes the channels in another way
};

/// Parses an AudioSpecificConfig; empty if it is too short or its values are reserved.
std::optional<AacConfig> parse_aac_config(std::string_view header);

/// Returns why clients cannot be given sound of this format, such as "it has 0 channels"; empty if they can.
std::string invalid_sound(const SoundFormat& format);

/// A packet of silence, without its time.
struct CodedSilence {
    std::string bytes{};
    std::int64_t samples = 0;  ///< duration in samples per channel at the format's rate
};

/// Returns silence in a format, of 10 to 50 ms if the sample rate is usual; empty if the format has unusual channels or
/// object types.
std::optional<CodedSilence> coded_silence(const SoundFormat& format);

}  // namespace framewire
