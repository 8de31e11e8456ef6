#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::service {

/// Offer of a WebRTC client to receive H.264, parsed from a session description (SDP, RFC 8866; JSEP, RFC 9429).
/// Candidates are ignored: the server sends only to addresses from which a client with the right ICE password has sent.
struct WebrtcOffer {
    /// A media section. All are listed, because the answer has one for each.
    struct Media {
        std::string kind{}, protocol{}, formats{}, mid{};
    };
    /// An H.264 format with packetization mode 1 (RFC 6184).
    struct Format {
        int payload_type = 0;
        /// profile_idc, constraint flags and level_idc, in lower case: "42e01f".
        std::string profile_level_id{};
    };

    /// Longest session description.
    static constexpr std::size_t limit_bytes = 16 * 1024;

    std::vector<Media> media{};
    /// Index of the media section for the video: the first one that can receive H.264.
    std::size_t video = 0;
    /// Its formats, in the client's order of preference. Not empty.
    std::vector<Format> formats{};
    /// True if the client accepts RTCP feedback that requests keyframes, see RFC 4585 and RFC 5104.
    bool has_pli = false, has_fir = false;
    /// True if the section is in a BUNDLE group (RFC 9143).
    bool bundled = false;
    /// Credentials of ICE (RFC 8839).
    std::string ice_ufrag{}, ice_pwd{};
    /// SHA-256 of the client's certificate, "AB:CD:..." in upper case (RFC 8122).
    std::string fingerprint{};
    /// Role for DTLS: "actpass", "active" or "passive" (RFC 4145).
    std::string setup{};

    /// Parses a session description, which may come from anybody. Throws Error{usage} if it is malformed, or if this
    /// server cannot send H.264 to such a client.
    static WebrtcOffer parse(std::string_view sdp);

    /// Returns the format that fits a stream best: one with its profile, else constrained baseline, which all clients
    /// have, else the first. `codec` is that of the stream (RFC 6381), such as "avc1.64001F".
    const Format& format_for(std::string_view codec) const;
    /// Returns an offer of the video alone in this format, made from values that have been checked.
    std::string for_video(const Format& format) const;
    /// Returns the answer to the client, with a section for each of its own: the video, and others refused. `answer` is
    /// the answer to for_video().
    std::string answer(const Format& format, std::string_view answer) const;
};

}  // namespace framewire::service
