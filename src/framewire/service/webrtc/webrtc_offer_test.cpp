#include "framewire/service/webrtc/webrtc_offer.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace framewire::service {
namespace {

const std::string fingerprint =
    "59:97:9B:8E:A8:3E:1A:35:7C:73:78:26:16:C9:D3:D3:C6:CC:48:53:5C:C7:5D:93:D8:00:BF:D2:85:DA:E0:E2";

// An offer of a browser, with fewer formats.
const std::string browser =
    "v=0\r\n"
    "o=- 4800513721202820183 2 IN IP4 127.0.0.1\r\n"
    "s=-\r\n"
    "t=0 0\r\n"
    "a=group:BUNDLE 0 1\r\n"
    "a=msid-semantic: WMS\r\n"
    "m=audio 9 UDP/TLS/RTP/SAVPF 111 63\r\n"
    "c=IN IP4 0.0.0.0\r\n"
    "a=mid:0\r\n"
    "a=recvonly\r\n"
    "a=rtcp-mux\r\n"
    "a=rtpmap:111 opus/48000/2\r\n"
    "m=video 9 UDP/TLS/RTP/SAVPF 96 97 102 104 108 64\r\n"
    "c=IN IP4 0.0.0.0\r\n"
    "a=rtcp:9 IN IP4 0.0.0.0\r\n"
    "a=candidate:2981934041 1 udp 2113937151 0b0768b6-ff37-4e19-8b8b-df6f90e12677.local 47444 typ host\r\n"
    "a=ice-ufrag:+Jbk\r\n"
    "a=ice-pwd:uhKiw0yeiFzWBj7owI0Ebofy\r\n"
    "a=ice-options:trickle\r\n"
    "a=fingerprint:sha-256 " +
    fingerprint +
    "\r\n"
    "a=setup:actpass\r\n"
    "a=mid:1\r\n"
    "a=recvonly\r\n"
    "a=rtcp-mux\r\n"
    "a=rtpmap:96 VP8/90000\r\n"
    "a=rtpmap:97 rtx/90000\r\n"
    "a=fmtp:97 apt=96\r\n"
    "a=rtpmap:102 H264/90000\r\n"
    "a=rtcp-fb:102 ccm fir\r\n"
    "a=rtcp-fb:102 nack pli\r\n"
    "a=fmtp:102 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42001f\r\n"
    "a=rtpmap:104 H264/90000\r\n"
    "a=fmtp:104 level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f\r\n"
    "a=rtpmap:108 H264/90000\r\n"
    "a=fmtp:108 level-asymmetry-allowed=1; packetization-mode=1; profile-level-id=42E01F\r\n"
    "a=rtpmap:64 H264/90000\r\n"
    "a=fmtp:64 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=640c1f\r\n";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
    const auto at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

// Returns the message with which an offer is refused, or an empty text.
std::string refusal(const std::string& sdp) {
    try {
        WebrtcOffer::parse(sdp);
        return {};
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        return error.what();
    }
}

TEST(WebrtcOffer, ParsesWhatABrowserOffers) {
    const auto offer = WebrtcOffer::parse(browser);
    ASSERT_EQ(offer.media.size(), 2u);
    EXPECT_EQ(offer.video, 1u);
    EXPECT_EQ(offer.media[1].mid, "1");
    ASSERT_EQ(offer.formats.size(), 3u);
    EXPECT_EQ(offer.formats[0].payload_type, 102);
    EXPECT_EQ(offer.formats[1].profile_level_id, "42e01f");
    EXPECT_EQ(offer.ice_ufrag, "+Jbk");
    EXPECT_EQ(offer.ice_pwd, "uhKiw0yeiFzWBj7owI0Ebofy");
    EXPECT_EQ(offer.fingerprint, fingerprint);
    EXPECT_EQ(offer.setup, "actpass");
    EXPECT_TRUE(offer.bundled && offer.has_pli && offer.has_fir);
}

TEST(WebrtcOffer, SelectsTheFormatWithTheProfileOfTheStream) {
    const auto offer = WebrtcOffer::parse(browser);
    EXPECT_EQ(offer.format_for("avc1.64001E").payload_type, 64);
    EXPECT_EQ(offer.format_for("avc1.42C01E").payload_type, 108);
    EXPECT_EQ(offer.format_for("avc1.42001E").payload_type, 102);
    EXPECT_EQ(offer.format_for("avc1.4D401E").payload_type, 108) << "constrained baseline";
    EXPECT_EQ(offer.format_for("").payload_type, 108);
    const auto without = WebrtcOffer::parse(replaced(browser, "profile-level-id=42E01F", "profile-level-id=58001f"));
    EXPECT_EQ(without.format_for("avc1.4D401E").payload_type, 102) << "the first one";
}

TEST(WebrtcOffer, PassesOnOnlyTheVideo) {
    const auto offer = WebrtcOffer::parse(browser);
    EXPECT_EQ(offer.for_video(offer.formats[1]),
              "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 1\r\n"
              "m=video 9 UDP/TLS/RTP/SAVPF 108\r\nc=IN IP4 0.0.0.0\r\na=ice-ufrag:+Jbk\r\n"
              "a=ice-pwd:uhKiw0yeiFzWBj7owI0Ebofy\r\na=fingerprint:sha-256 " +
                  fingerprint +
                  "\r\na=setup:actpass\r\na=mid:1\r\na=recvonly\r\na=rtcp-mux\r\na=rtpmap:108 H264/90000\r\n"
                  "a=fmtp:108 packetization-mode=1\r\na=rtcp-fb:108 nack pli\r\na=rtcp-fb:108 ccm fir\r\n");
}

TEST(WebrtcOffer, AnswersEverySection) {
    const auto offer = WebrtcOffer::parse(browser);
    const std::string of_video =
        "v=0\r\ns=-\r\na=group:BUNDLE 1\r\nm=video 9 UDP/TLS/RTP/SAVPF 108\r\na=mid:1\r\na=framerate:30\r\n"
        "a=fmtp:108 packetization-mode=1;sprop-parameter-sets=Z0LAHg==\r\na=candidate:1 1 UDP 1 10.0.0.1 5 typ "
        "host\r\n";
    EXPECT_EQ(offer.answer(offer.formats[1], of_video),
              "v=0\r\ns=-\r\na=group:BUNDLE 1\r\n"
              "m=audio 0 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 0.0.0.0\r\na=inactive\r\na=mid:0\r\n"
              "m=video 9 UDP/TLS/RTP/SAVPF 108\r\na=mid:1\r\na=candidate:1 1 UDP 1 10.0.0.1 5 typ host\r\n"
              "a=msid:framewire video\r\n"
              "a=fmtp:108 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f\r\n");
}

TEST(WebrtcOffer, TakesAttributesOfTheSession) {
    auto sdp = replaced(browser, "a=ice-ufrag:+Jbk\r\na=ice-pwd:uhKiw0yeiFzWBj7owI0Ebofy\r\n", "");
    sdp = replaced(sdp, "t=0 0\r\n", "t=0 0\r\na=ice-ufrag:abcd\r\na=ice-pwd:0123456789abcdef012345\r\n");
    EXPECT_EQ(WebrtcOffer::parse(sdp).ice_ufrag, "abcd");
    EXPECT_EQ(WebrtcOffer::parse(sdp).ice_pwd, "0123456789abcdef012345");
}

TEST(WebrtcOffer, RefusesWhatItCannotServe) {
    EXPECT_EQ(refusal(browser), "");
    const auto change = [](std::string_view from, std::string_view to) {
        return refusal(
            replaced(browser.substr(0, browser.find("m=audio")) + browser.substr(browser.find("m=video")), from, to));
    };
    EXPECT_EQ(change("a=mid:1", "a=mid:1"), "");
    const std::string no_video = "the offer has no video that can receive H.264";
    EXPECT_EQ(change("a=recvonly", "a=sendonly").substr(0, no_video.size()), no_video);
    EXPECT_EQ(change("a=recvonly", "a=inactive").substr(0, no_video.size()), no_video);
    EXPECT_EQ(change("a=rtcp-mux", "a=x").substr(0, no_video.size()), no_video);
    EXPECT_EQ(change("m=video 9", "m=video 0").substr(0, no_video.size()), no_video);
    EXPECT_EQ(change("96 97 102 104 108 64", "96 97 104").substr(0, no_video.size()), no_video);
    EXPECT_EQ(change("UDP/TLS/RTP/SAVPF", "RTP/AVP").substr(0, no_video.size()), no_video);
    EXPECT_NE(change("a=mid:1", "a=mid:1 2").find("mid"), std::string::npos);
    EXPECT_NE(change("a=mid:1\r\n", "").find("mid"), std::string::npos);
    EXPECT_NE(change("a=ice-pwd:uhKiw0yeiFzWBj7owI0Ebofy", "a=ice-pwd:short").find("ice-pwd"), std::string::npos);
    EXPECT_NE(change("a=ice-ufrag:+Jbk", "a=ice-ufrag:+J\"k").find("ice-ufrag"), std::string::npos);
    EXPECT_NE(change("a=ice-ufrag:+Jbk\r\n", "").find("ice-ufrag"), std::string::npos);
    EXPECT_NE(change("sha-256 59", "sha-1 59").find("sha-256"), std::string::npos);
    EXPECT_NE(change("sha-256 59:", "sha-256 ").find("length"), std::string::npos);
    EXPECT_NE(change("sha-256 59", "sha-256 5G").find("hexadecimal"), std::string::npos);
    EXPECT_NE(change("actpass", "both").find("setup"), std::string::npos);
    EXPECT_NE(refusal("").find("v=0"), std::string::npos);
    EXPECT_NE(refusal("v=0\r\n").find("no video"), std::string::npos);
    EXPECT_NE(refusal("v=0\r\nm=\r\n").find("media section"), std::string::npos);
    EXPECT_NE(refusal(browser + std::string(WebrtcOffer::limit_bytes, 'a')).find("longer"), std::string::npos);
    std::string many = "v=0\r\n";
    for (int i = 0; i < 17; ++i) many += "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n";
    EXPECT_NE(refusal(many).find("more than 16"), std::string::npos);
}

}  // namespace
}  // namespace framewire::service
