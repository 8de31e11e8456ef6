#include "framewire/service/webrtc/webrtc_offer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>

namespace framewire::service {
namespace {

// Media sections and payload types that are considered. Browsers offer about 50 payload types.
constexpr std::size_t most_sections = 16, most_payload_types = 128;
// Length of a media identifier.
constexpr std::size_t most_mid_bytes = 64;
// Lengths of ICE credentials (RFC 8839, 5.4).
constexpr std::size_t min_ufrag = 4, min_pwd = 22, most_credential = 256;
// Length of a SHA-256 fingerprint: 32 pairs of digits with colons.
constexpr std::size_t fingerprint_length = 32 * 3 - 1;
// Profile that a client without one means (RFC 6184, 8.1).
constexpr std::string_view default_profile = "42000a";

bool is_alphanumeric(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hexadecimal(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

std::string lower_case(std::string_view text) {
    std::string lowered(text);
    for (char& c : lowered)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return lowered;
}

// Removes and returns the part before `separator`, or everything.
std::string_view take_until(std::string_view& text, char separator) {
    const auto part = text.substr(0, text.find(separator));
    text.remove_prefix(std::min(part.size() + 1, text.size()));
    return part;
}

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty())
        if (const auto word = take_until(text, ' '); !word.empty()) words.push_back(word);
    return words;
}

// Returns the value of an attribute "a=NAME:VALUE", or nullopt if the line is another one.
std::optional<std::string_view> attribute(std::string_view line, std::string_view name) {
    if (!line.starts_with("a=") || !line.substr(2).starts_with(name)) return std::nullopt;
    line.remove_prefix(2 + name.size());
    if (line.empty()) return line;
    if (line.front() != ':') return std::nullopt;
    return line.substr(1);
}

// A part of a description: the session, or one media section.
struct Section {
    std::vector<std::string_view> lines;  // without the m-line

    std::optional<std::string_view> find(std::string_view name) const {
        for (const auto line : lines)
            if (const auto value = attribute(line, name)) return value;
        return std::nullopt;
    }
};

// The payload types of a media section.
class PayloadTypes {
public:
    explicit PayloadTypes(const Section& section) {
        for (const auto line : section.lines) {
            if (const auto map = attribute(line, "rtpmap"))
                about(*map, [](auto& type, auto rest) { type.encoding = lower_case(rest); });
            if (const auto parameters = attribute(line, "fmtp"))
                about(*parameters, [](auto& type, auto rest) { type.parameters = lower_case(rest); });
        }
    }

    // Returns the H.264 format of a payload type, or nullopt if it is another one or has another packetization mode.
    std::optional<WebrtcOffer::Format> h264(int number) const {
        const auto found = types_.find(number);
        if (found == types_.end() || found->second.encoding != "h264/90000") return std::nullopt;
        WebrtcOffer::Format format{number, std::string(default_profile)};
        bool is_right_mode = false;
        for (std::string_view rest = found->second.parameters; !rest.empty();) {
            auto value = take_until(rest, ';');
            value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
            const auto name = take_until(value, '=');
            if (name == "packetization-mode") is_right_mode = value == "1";
            if (name == "profile-level-id") format.profile_level_id = value;
        }
        const auto& id = format.profile_level_id;
        if (!is_right_mode || id.size() != default_profile.size() || !std::ranges::all_of(id, is_hexadecimal))
            return std::nullopt;
        return format;
    }

private:
    struct Type {
        std::string encoding, parameters;
    };

    // Changes what is known about the payload type that a value begins with.
    template <class Change>
    void about(std::string_view value, const Change& change) {
        const auto number = number_in<int>(take_until(value, ' '));
        if (number && (types_.contains(*number) || types_.size() < most_payload_types)) change(types_[*number], value);
    }

    std::map<int, Type> types_;
};

// Returns the value of an attribute of a media section, which the session may give for all of them.
std::string_view required(const Section& media, const Section& session, std::string_view name) {
    auto value = media.find(name);
    if (!value) value = session.find(name);
    if (!value) fail(ErrorCode::usage, "the offer has no a={}", name);
    return *value;
}

std::string credential(std::string_view text, std::string_view name, std::size_t min_length) {
    const auto is_allowed = [](char c) { return is_alphanumeric(c) || c == '+' || c == '/'; };
    if (text.size() < min_length || text.size() > most_credential || !std::ranges::all_of(text, is_allowed))
        fail(ErrorCode::usage, "a={} of the offer is not {} to {} letters, digits, + or /", name, min_length,
             most_credential);
    return std::string(text);
}

std::string fingerprint_of(std::string_view text) {
    auto words = words_of(text);
    if (words.size() != 2 || lower_case(words[0]) != "sha-256")
        fail(ErrorCode::usage, "a=fingerprint of the offer is not one of sha-256");
    std::string digits(words[1]);
    if (digits.size() != fingerprint_length) fail(ErrorCode::usage, "a=fingerprint of the offer has a wrong length");
    for (std::size_t at = 0; at < digits.size(); ++at) {
        if (at % 3 == 2 ? digits[at] != ':' : !is_hexadecimal(digits[at]))
            fail(ErrorCode::usage, "a=fingerprint of the offer is not made of hexadecimal digits");
        digits[at] = static_cast<char>(std::toupper(static_cast<unsigned char>(digits[at])));
    }
    return digits;
}

std::string setup_of(std::string_view text) {
    if (text != "actpass" && text != "active" && text != "passive")
        fail(ErrorCode::usage, "a=setup:{} of the offer is none of actpass, active and passive", printable(text));
    return std::string(text);
}

bool is_token(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](char c) {
        return is_alphanumeric(c) || c == '-' || c == '_' || c == '.' || c == '/' || c == '+';
    });
}

// Parses "m=video 9 UDP/TLS/RTP/SAVPF 96 97".
WebrtcOffer::Media media_of(std::string_view line, const Section& section) {
    const auto words = words_of(line.substr(2));
    if (words.size() < 4 || !is_token(words[0]) || !is_token(words[2]) || !is_token(words[3]))
        fail(ErrorCode::usage, "a media section of the offer begins with {}", in_quotes(line));
    const auto mid = section.find("mid").value_or("");
    if (!is_token(mid) || mid.size() > most_mid_bytes)
        fail(ErrorCode::usage, "a media section of the offer has no a=mid, or one that is not allowed");
    // The answer refuses a section with its first format.
    return {std::string(words[0]), std::string(words[2]), std::string(words[3]), std::string(mid)};
}

// Returns the H.264 formats of a media section, if it can receive video.
std::vector<WebrtcOffer::Format> formats_of(std::string_view line, const Section& section, const Section& session) {
    const auto words = words_of(line.substr(2));
    std::vector<WebrtcOffer::Format> formats;
    if (words[0] != "video" || words[1] == "0" || words[2] != "UDP/TLS/RTP/SAVPF" || !section.find("rtcp-mux"))
        return formats;
    for (const auto* const name : {"sendonly", "inactive"})
        if (section.find(name) || (session.find(name) && !section.find("recvonly") && !section.find("sendrecv")))
            return formats;
    const PayloadTypes types(section);
    for (std::size_t at = 3; at < words.size() && formats.size() < most_payload_types; ++at) {
        const auto number = number_in<int>(words[at]);
        if (number && *number >= 0 && *number < 128)
            if (auto format = types.h264(*number)) formats.push_back(std::move(*format));
    }
    return formats;
}

}  // namespace

WebrtcOffer WebrtcOffer::parse(std::string_view sdp) {
    if (sdp.size() > limit_bytes) fail(ErrorCode::usage, "the offer is longer than {} bytes", limit_bytes);
    if (!sdp.starts_with("v=0\r\n") && !sdp.starts_with("v=0\n"))
        fail(ErrorCode::usage, "the offer is not a session description: it does not begin with v=0");
    Section session;
    std::vector<std::pair<std::string_view, Section>> sections;
    while (!sdp.empty()) {
        auto line = take_until(sdp, '\n');
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (!line.starts_with("m="))
            (sections.empty() ? session : sections.back().second).lines.push_back(line);
        else if (sections.size() < most_sections)
            sections.emplace_back(line, Section());
        else
            fail(ErrorCode::usage, "the offer has more than {} media sections", most_sections);
    }

    WebrtcOffer offer;
    for (const auto& [line, section] : sections) {
        offer.media.push_back(media_of(line, section));
        if (!offer.formats.empty()) continue;
        offer.formats = formats_of(line, section, session);
        offer.video = offer.media.size() - 1;
    }
    if (offer.formats.empty())
        fail(ErrorCode::usage, "the offer has no video that can receive H.264 with packetization-mode=1 and rtcp-mux");
    const auto& section = sections[offer.video].second;
    offer.ice_ufrag = credential(required(section, session, "ice-ufrag"), "ice-ufrag", min_ufrag);
    offer.ice_pwd = credential(required(section, session, "ice-pwd"), "ice-pwd", min_pwd);
    offer.fingerprint = fingerprint_of(required(section, session, "fingerprint"));
    offer.setup = setup_of(required(section, session, "setup"));
    for (const auto line : session.lines)
        if (const auto group = attribute(line, "group"); group && group->starts_with("BUNDLE ")) {
            const auto names = words_of(*group);
            offer.bundled |= std::ranges::find(names, offer.media[offer.video].mid) != names.end();
        }
    for (const auto line : section.lines) {
        const auto feedback = attribute(line, "rtcp-fb").value_or("");
        offer.has_pli |= feedback.ends_with(" nack pli");
        offer.has_fir |= feedback.ends_with(" ccm fir");
    }
    return offer;
}

const WebrtcOffer::Format& WebrtcOffer::format_for(std::string_view codec) const {
    // profile_idc, and of the constraint flags the one that makes baseline constrained (ITU-T H.264, A.2.1.1)
    const auto profile_of = [](std::string_view id) {
        const auto flags = number_in<int>(id.substr(2, 2), 16).value_or(0);
        return std::pair(std::string(id.substr(0, 2)), id.starts_with("42") && (flags & 0x40) != 0);
    };
    const auto find = [&](std::string_view id) {
        return std::ranges::find_if(
            formats, [&](const auto& format) { return profile_of(format.profile_level_id) == profile_of(id); });
    };
    constexpr std::string_view prefix = "avc1.", constrained_baseline = "42e01f";
    if (codec.starts_with(prefix) && codec.size() == prefix.size() + default_profile.size())
        if (const auto found = find(lower_case(codec.substr(prefix.size()))); found != formats.end()) return *found;
    const auto found = find(constrained_baseline);
    return found == formats.end() ? formats.front() : *found;
}

std::string WebrtcOffer::for_video(const Format& format) const {
    const auto& [kind, protocol, first_format, mid] = media[video];
    auto text = fmt::format("v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE {}\r\n", mid);
    const auto add = [&](std::string_view line) { text.append(line).append("\r\n"); };
    const auto type = format.payload_type;
    add(fmt::format("m=video 9 UDP/TLS/RTP/SAVPF {}", type));
    add("c=IN IP4 0.0.0.0");
    add("a=ice-ufrag:" + ice_ufrag);
    add("a=ice-pwd:" + ice_pwd);
    add("a=fingerprint:sha-256 " + fingerprint);
    add("a=setup:" + setup);
    add("a=mid:" + mid);
    add("a=recvonly");
    add("a=rtcp-mux");
    add(fmt::format("a=rtpmap:{} H264/90000", type));
    add(fmt::format("a=fmtp:{} packetization-mode=1", type));
    if (has_pli) add(fmt::format("a=rtcp-fb:{} nack pli", type));
    if (has_fir) add(fmt::format("a=rtcp-fb:{} ccm fir", type));
    return text;
}

std::string WebrtcOffer::answer(const Format& format, std::string_view answer) const {
    std::string head, section;
    while (!answer.empty()) {
        auto line = take_until(answer, '\n');
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || attribute(line, "fmtp") || attribute(line, "framerate")) continue;
        if (!bundled && attribute(line, "group")) continue;
        const bool in_section = !section.empty() || line.starts_with("m=");
        (in_section ? section : head).append(line).append("\r\n");
    }
    // Scripts find the track in this stream.
    section += "a=msid:framewire video\r\n";
    section += fmt::format("a=fmtp:{} level-asymmetry-allowed=1;packetization-mode=1;profile-level-id={}\r\n",
                           format.payload_type, format.profile_level_id);
    for (std::size_t at = 0; at < media.size(); ++at) {
        if (at == video)
            head += section;
        else
            head += fmt::format("m={} 0 {} {}\r\nc=IN IP4 0.0.0.0\r\na=inactive\r\na=mid:{}\r\n", media[at].kind,
                                media[at].protocol, media[at].formats, media[at].mid);
    }
    return head;
}

}  // namespace framewire::service
