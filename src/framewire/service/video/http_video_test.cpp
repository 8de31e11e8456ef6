#include "framewire/service/video/http_video.hpp"
#include "framewire/core/error.hpp"
#include "framewire/service/web/site_testing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace framewire::service {
namespace {

using namespace std::chrono_literals;
using net::http::FeedClient;
using net::http::Response;
using web::FakeCamera;

constexpr Shape small{1, 96, 128, 3};
const auto nothing = [] {};

// Waits until `condition` holds; returns false after ten seconds.
template <class Condition>
bool within_ten_seconds(Condition&& condition) {
    for (int i = 0; i < 2000; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(5ms);
    }
    return false;
}

// Top-level boxes of an MP4 stream: "ftyp moov moof mdat".
std::string boxes_of(const std::string& bytes) {
    std::string names;
    for (std::size_t at = 0; at + 8 <= bytes.size();) {
        std::size_t size = 0;
        for (std::size_t i = 0; i < 4; ++i) size = size << 8 | static_cast<unsigned char>(bytes[at + i]);
        names += (names.empty() ? "" : " ") + bytes.substr(at + 4, 4);
        if (size < 8) return names + " broken";
        at += size;
    }
    return names;
}

// Returns the big-endian number after a box's type and `skip` bytes.
std::uint64_t number_after(const std::string& bytes, const std::string& type, std::size_t skip, std::size_t count) {
    const auto at = bytes.find(type) + type.size() + skip;
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < count; ++i) number = number << 8 | static_cast<unsigned char>(bytes.at(at + i));
    return number;
}

std::uint64_t sequence_of(const std::string& fragment) { return number_after(fragment, "mfhd", 4, 4); }
std::uint64_t start_of(const std::string& fragment) { return number_after(fragment, "tfdt", 4, 8); }
std::string payload_of(const std::string& fragment) { return fragment.substr(fragment.find("mdat")); }

// Takes what a client has been sent so far.
std::vector<std::string> take(FeedClient& client) {
    std::vector<std::string> parts;
    for (auto taken = client.take(); !taken.parts.empty(); taken = client.take()) parts.push_back(*taken.parts.front());
    return parts;
}

// Takes parts until there are `count`.
std::vector<std::string> take(FeedClient& client, std::size_t count) {
    std::vector<std::string> parts;
    EXPECT_TRUE(within_ten_seconds([&] {
        const auto more = take(client);
        parts.insert(parts.end(), more.begin(), more.end());
        return parts.size() >= count;
    }));
    return parts;
}

// A camera that shows 30 pictures per second while it exists.
struct Moving {
    explicit Moving(std::shared_ptr<FakeCamera> camera_) : camera(std::move(camera_)) {}
    std::shared_ptr<FakeCamera> camera;
    std::jthread thread{[this](const std::stop_token& stop) {
        for (std::uint8_t value = 0; !stop.stop_requested(); value = static_cast<std::uint8_t>((value + 3) % 128)) {
            camera->show(value);
            std::this_thread::sleep_for(33ms);
        }
    }};
};

struct Served {
    std::shared_ptr<FakeCamera> camera = std::make_shared<FakeCamera>("door", small);
    std::shared_ptr<CameraVideo> video = std::make_shared<CameraVideo>(camera, LiveVideoSettings{});
    HlsLimits limits{.segment = 400ms, .first_segment = 200ms, .part = 150ms};
    HttpVideo http{video, limits};

    Served() { camera->show(1); }

    // Shows pictures, each once the previous one has been encoded.
    void show(int count) const {
        for (int i = 0; i < count; ++i) {
            const auto before = video->statistics().frames;
            camera->show(static_cast<std::uint8_t>(20 + 7 * i));
            ASSERT_TRUE(within_ten_seconds([&] { return video->statistics().frames > before; }));
        }
    }
};

// Returns the body of a response that may have to wait.
std::string body_of(const Response& response) {
    if (!response.feed) return *response.body;
    FeedClient client(response.feed, nothing);
    std::string body;
    EXPECT_TRUE(within_ten_seconds([&] {
        const auto taken = client.take();
        if (!taken.parts.empty()) body = *taken.parts.front();
        return !taken.parts.empty() || taken.ended;
    }));
    return body;
}

// Returns the addresses in a playlist.
std::vector<std::string> files_of(const std::string& playlist) {
    std::vector<std::string> files;
    for (std::size_t at = 0; (at = playlist.find("hls/", at)) != std::string::npos;) {
        at += 4;
        files.push_back(playlist.substr(at, playlist.find_first_of("\"\n", at) - at));
    }
    return files;
}

// Waits for a playlist with three complete segments.
std::string long_playlist(HttpVideo& http) {
    std::string playlist;
    EXPECT_TRUE(within_ten_seconds([&] {
        playlist = body_of(http.playlist({}));
        int segments = 0;
        for (auto at = playlist.find("#EXTINF"); at != std::string::npos; at = playlist.find("#EXTINF", at + 1))
            ++segments;
        return segments >= 3;
    })) << playlist;
    return playlist;
}

TEST(HttpVideo, StartsWithTheHeaderAndAKeyframe) {
    Served served;
    const auto response = served.http.mp4();
    EXPECT_EQ(response.content_type, "video/mp4");
    FeedClient client(response.feed, nothing);
    const auto first = take(client, 2);
    EXPECT_EQ(boxes_of(first[0]), "ftyp moov");
    served.show(5);
    const auto rest = take(client, 5);
    EXPECT_EQ(boxes_of(first[1] + rest[0] + rest[1]), "moof mdat moof mdat moof mdat");
    EXPECT_EQ(served.http.clients(), 1);
    EXPECT_FALSE(served.http.is_idle());
}

// Each client's fragments are numbered from its start, and each starts where the previous one ends.
TEST(HttpVideo, LaterClientsHaveTheirOwnNumbers) {
    Served served;
    FeedClient early(served.http.mp4().feed, nothing);
    auto of_early = take(early, 2);
    served.show(5);
    std::this_thread::sleep_for(CameraVideo::keyframe_pause);
    FeedClient late(served.http.mp4().feed, nothing);
    auto of_late = take(late, 2);
    served.show(5);
    EXPECT_TRUE(within_ten_seconds([&] {
        std::ranges::copy(take(early), std::back_inserter(of_early));
        std::ranges::copy(take(late), std::back_inserter(of_late));
        return of_late.size() >= 7 && payload_of(of_early.back()) == payload_of(of_late.back());
    })) << "the clients get the same pictures";
    EXPECT_EQ(of_early.front(), of_late.front());
    EXPECT_GT(sequence_of(of_early.back()), sequence_of(of_late.back()));
    EXPECT_EQ(start_of(of_early[1]), 0);
    EXPECT_EQ(start_of(of_late[1]), 0);
    for (std::size_t i = 1; i < of_late.size(); ++i) EXPECT_EQ(sequence_of(of_late[i]), i);
    for (std::size_t i = 2; i < of_early.size(); ++i) EXPECT_GT(start_of(of_early[i]), start_of(of_early[i - 1]));
    EXPECT_EQ(served.video->statistics().encoders, 1);
    const auto frames = static_cast<double>(served.video->statistics().frames);
    EXPECT_NEAR(served.camera->pictures_taken(), frames, 1) << "one is being encoded";
}

// A client that reads late gets nothing of what was encoded before a mask; nor does a client that comes after it.
TEST(HttpVideo, Mp4ShowsNothingFromBeforeAMask) {
    Served served;
    FeedClient quick(served.http.mp4().feed, nothing), slow(served.http.mp4().feed, nothing);
    auto unmasked = take(quick, 2);
    EXPECT_GE(take(slow, 2).size(), 2);
    served.show(10);
    std::ranges::copy(take(quick, 10), std::back_inserter(unmasked));
    std::set<std::string> forbidden;
    for (const auto& part : unmasked)
        if (part.find("moof") == 4) forbidden.insert(payload_of(part));
    ASSERT_GE(forbidden.size(), 11);
    served.camera->show_instead(250);
    FeedClient late(served.http.mp4().feed, nothing);
    const auto of_slow = take(slow, 1), of_late = take(late, 2);
    EXPECT_EQ(boxes_of(of_slow.front()), "moof mdat");
    EXPECT_EQ(boxes_of(of_late.front()), "ftyp moov");
    for (const auto* parts : {&of_slow, &of_late})
        for (const auto& part : *parts)
            if (part.find("moof") == 4) {
                EXPECT_FALSE(forbidden.contains(payload_of(part)));
            }
}

// Returns true if the fragment has a picture with which decoding can start.
bool is_key(const std::string& fragment) {
    constexpr std::size_t length_bytes = 4, box_name_bytes = 4;
    constexpr int idr = 5;  // ITU-T H.264, table 7-1
    const auto payload = payload_of(fragment);
    for (auto at = box_name_bytes; at + length_bytes < payload.size();) {
        if ((static_cast<unsigned char>(payload[at + length_bytes]) & 31) == idr) return true;
        std::size_t bytes = 0;
        for (std::size_t i = 0; i < length_bytes; ++i) bytes = bytes << 8 | static_cast<unsigned char>(payload[at + i]);
        at += length_bytes + bytes;
    }
    return false;
}

// A client that is late continues with a keyframe; one that takes everything loses nothing.
TEST(HttpVideo, Mp4ClientThatIsLateContinuesWithAKeyframe) {
    const auto camera = std::make_shared<FakeCamera>("door", small);
    HttpVideo http(std::make_shared<CameraVideo>(camera, LiveVideoSettings{.gop = 15}));
    camera->show(1);
    FeedClient late(http.mp4().feed, nothing), quick(http.mp4().feed, nothing);
    const auto begin = start_of(take(late, 2).back());
    const Moving moving(camera);
    std::vector<std::string> all = take(quick, 2);
    constexpr auto ticks = 3 * video_clock_hz;
    while (start_of(all.back()) < begin + ticks) std::ranges::move(take(quick, 1), std::back_inserter(all));
    const auto rest = take(late, 1);
    EXPECT_TRUE(is_key(rest.front()));
    EXPECT_GT(start_of(rest.front()), begin + ticks / 3);
    for (std::size_t i = 2; i < all.size(); ++i) EXPECT_EQ(sequence_of(all[i]), sequence_of(all[i - 1]) + 1);
}

TEST(HttpVideo, ClientThatStopsReadingCostsNobodyElse) {
    Served served;
    FeedClient stuck(served.http.mp4().feed, nothing), other(served.http.mp4().feed, nothing);
    take(other, 2);
    served.show(30);
    EXPECT_GE(take(other, 25).size(), 25);
}

TEST(HttpVideo, PlaylistWaitsForTheFirstSegment) {
    Served served;
    const Moving moving(served.camera);
    const auto response = served.http.playlist({});
    EXPECT_EQ(response.content_type, "application/vnd.apple.mpegurl");
    ASSERT_TRUE(response.feed);
    EXPECT_TRUE(response.feed->is_deferred());
    const auto playlist = body_of(response);
    EXPECT_TRUE(playlist.starts_with("#EXTM3U\n")) << playlist;
    EXPECT_NE(playlist.find("#EXTINF:"), std::string::npos) << playlist;
    EXPECT_FALSE(served.http.playlist({}).feed) << "answered at once";
}

// The parts of a segment, one after the other, are the segment, and the header fits them.
TEST(HttpVideo, PlaylistNamesFilesThatExist) {
    Served served;
    const Moving moving(served.camera);
    const auto playlist = long_playlist(served.http);
    std::map<std::string, std::string> parts;
    int segments = 0;
    auto files = files_of(playlist);
    ASSERT_GE(files.size(), 5) << playlist;
    EXPECT_EQ(boxes_of(body_of(served.http.file(files.front()))), "ftyp moov");
    files.erase(files.begin());
    files.pop_back();  // the preload hint
    for (const auto& file : files) {
        const auto bytes = body_of(served.http.file(file));
        EXPECT_TRUE(boxes_of(bytes).starts_with("moof mdat")) << file;
        const auto segment = file.substr(0, file.find('.'));
        if (HlsWindow::part_named(file)) {
            parts[segment] += bytes;
        } else {
            ++segments;
            if (parts.contains(segment)) {
                EXPECT_TRUE(parts[segment] == bytes) << file;
            }
        }
    }
    EXPECT_GE(segments, 2) << playlist;
}

TEST(HttpVideo, PlaylistWaitsForAPart) {
    Served served;
    const Moving moving(served.camera);
    const auto before = body_of(served.http.playlist({}));
    const auto hint = files_of(before).back();
    const auto [number, part] = HlsWindow::part_named(hint).value();
    const auto waiting =
        served.http.playlist({{"_HLS_msn", std::to_string(number)}, {"_HLS_part", std::to_string(part)}});
    const auto file = served.http.file(hint);
    const auto after = body_of(waiting);
    EXPECT_NE(after.find("#EXT-X-PART:DURATION="), std::string::npos);
    EXPECT_NE(after.find("URI=\"hls/" + hint + "\""), std::string::npos) << after;
    EXPECT_TRUE(boxes_of(body_of(file)).starts_with("moof mdat"));
    // an old part is there already
    EXPECT_FALSE(served.http.playlist({{"_HLS_msn", std::to_string(number - 1)}}).feed);
}

TEST(HttpVideo, RefusesWhatCannotCome) {
    Served served;
    const Moving moving(served.camera);
    const auto hint = files_of(body_of(served.http.playlist({}))).back();
    const auto number = HlsWindow::part_named(hint).value().first;
    EXPECT_THROW(served.http.playlist({{"_HLS_msn", std::to_string(number + 1000)}}), Error);
    EXPECT_THROW(served.http.playlist({{"_HLS_msn", "x"}}), Error);
    EXPECT_THROW(served.http.playlist({{"_HLS_part", "1"}}), Error);
    for (const auto* name : {"1.mp4", "init.mp4", "init-0.mp4", "1.1.mp4", "x", ".mp4", "1..mp4"})
        EXPECT_THROW(served.http.file(name), Error) << name;
    EXPECT_THROW(served.http.file(std::to_string(number + 1000) + ".0.mp4"), Error);
}

// After a mask, the playlist names no file with older pictures, and such files are gone.
TEST(HttpVideo, HlsShowsNothingFromBeforeAMask) {
    Served served;
    auto moving = std::make_unique<Moving>(served.camera);
    auto before = files_of(long_playlist(served.http));
    moving.reset();
    before.erase(before.begin());
    before.pop_back();
    ASSERT_GE(before.size(), 3);
    EXPECT_FALSE(body_of(served.http.file(before.back())).empty());
    served.camera->show_instead(250);
    const auto playlist = served.http.playlist({});
    for (const auto& file : before) EXPECT_THROW(served.http.file(file), Error) << file;
    const auto named = files_of(body_of(playlist));
    EXPECT_GE(named.size(), 3) << "the playlist has a new segment";
    for (const auto& file : before) EXPECT_TRUE(std::ranges::find(named, file) == named.end()) << file;
}

TEST(HttpVideo, EncoderStopsAfterTheLastRequest) {
    Served served;
    HttpVideo http(served.video, {.segment = 400ms, .first_segment = 200ms, .part = 150ms, .idle = 600ms});
    body_of(http.playlist({}));
    EXPECT_GT(served.video->statistics().frames, 0);
    EXPECT_TRUE(within_ten_seconds([&] { return served.video->statistics().encoders == 0; }));
    // and starts again with the next one, with a new header
    const auto playlist = body_of(http.playlist({}));
    EXPECT_NE(playlist.find("#EXT-X-DISCONTINUITY-SEQUENCE:3"), std::string::npos) << playlist;
}

TEST(HttpVideo, LimitsTheNumberOfWaitingRequests) {
    Served served;
    HttpVideo http(served.video, {.waiting = 2});
    const auto first = http.playlist({}), second = http.playlist({});
    EXPECT_TRUE(first.feed && second.feed);
    EXPECT_EQ(http.playlist({}).status, 503);
}

TEST(HttpVideo, ReportsAnEncoderThatFails) {
    const auto camera = std::make_shared<FakeCamera>("door", small);
    const auto video = std::make_shared<CameraVideo>(camera, LiveVideoSettings{.preset = "unheard-of"});
    HttpVideo http(video);
    EXPECT_THROW(http.mp4(), Error) << "no frame yet";
    camera->show(1);
    FeedClient client(http.mp4().feed, nothing);
    EXPECT_TRUE(within_ten_seconds([&] { return client.take().ended; }));
    try {
        http.playlist({});
        ADD_FAILURE() << "an encoder that has just failed is not tried again";
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("camera 'door' cannot be encoded as video"), std::string::npos);
    }
}

TEST(HttpVideos, DropVariantsWithoutClients) {
    const auto camera = std::make_shared<FakeCamera>("door", Shape{1, 360, 640, 3});
    camera->show(1);
    HttpVideos videos(std::make_shared<CameraVideos>(camera, LiveVideoSettings{}));
    const auto full = videos.of({});
    EXPECT_EQ(videos.of({{"width", "640"}}), full);
    EXPECT_NE(videos.of({{"width", "320"}}), full);
    EXPECT_THROW(videos.of({{"width", "321"}}), Error);
    FeedClient client(full->mp4().feed, nothing);
    EXPECT_EQ(videos.clients(), 1);
    for (const auto* width : {"64", "128"}) videos.of({{"width", width}});
    EXPECT_THROW(videos.of({{"width", "192"}}), Error) << "four may be connecting";
}

// --- HlsWindow ---

Mp4Fragment fragment(std::int64_t milliseconds, const std::string& bytes = "f") {
    return {.bytes = bytes, .duration = milliseconds * video_clock_hz / 1000};
}

TEST(HlsWindow, MakesPartsAndSegments) {
    HlsWindow window({.first_segment = 600ms}, "width=640", 10);
    window.begin("h");
    EXPECT_TRUE(window.wants_key());
    EXPECT_EQ(window.number(), 10);
    for (int i = 0; i < 20; ++i) window.add(fragment(40), i == 0, 1);
    EXPECT_FALSE(window.has_segment());
    EXPECT_TRUE(window.wants_key());
    EXPECT_EQ(window.parts(), 1);
    window.add(fragment(40, "k"), true, 1);
    EXPECT_TRUE(window.has_segment());
    EXPECT_FALSE(window.wants_key());
    EXPECT_EQ(window.number(), 11);
    EXPECT_EQ(*window.file("10.mp4"), std::string(20, 'f'));
    EXPECT_EQ(*window.file("10.0.mp4"), std::string(12, 'f'));
    EXPECT_EQ(*window.file("10.1.mp4"), std::string(8, 'f'));
    EXPECT_EQ(*window.file("init-1.mp4"), "h");
    for (const auto* name : {"11.mp4", "11.0.mp4", "10.2.mp4", "9.mp4", "init-2.mp4", ""})
        EXPECT_FALSE(window.file(name));
    auto playlist = window.playlist();
    for (std::size_t at; (at = playlist.find("#EXT-X-PROGRAM-DATE-TIME")) != std::string::npos;)
        playlist.erase(at, playlist.find('\n', at) + 1 - at);
    EXPECT_EQ(playlist,
              "#EXTM3U\n"
              "#EXT-X-VERSION:6\n"
              "#EXT-X-TARGETDURATION:3\n"
              "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES,PART-HOLD-BACK=1.5\n"
              "#EXT-X-PART-INF:PART-TARGET=0.5\n"
              "#EXT-X-MEDIA-SEQUENCE:10\n"
              "#EXT-X-DISCONTINUITY-SEQUENCE:1\n"
              "#EXT-X-MAP:URI=\"hls/init-1.mp4?width=640\"\n"
              "#EXT-X-PART:DURATION=0.48000,URI=\"hls/10.0.mp4?width=640\",INDEPENDENT=YES\n"
              "#EXT-X-PART:DURATION=0.32000,URI=\"hls/10.1.mp4?width=640\"\n"
              "#EXTINF:0.80000,\n"
              "hls/10.mp4?width=640\n"
              "#EXT-X-PRELOAD-HINT:TYPE=PART,URI=\"hls/11.0.mp4?width=640\"\n");
}

TEST(HlsWindow, KnowsWhatIsThere) {
    HlsWindow window({.segment = 100ms, .first_segment = 100ms, .part = 50ms}, "", 5);
    window.begin("h");
    for (int i = 0; i < 5; ++i) window.add(fragment(40), i == 0 || i == 3, 1);
    // segment 5 has three parts, segment 6 has two so far
    EXPECT_TRUE(window.has(5, {}));
    EXPECT_TRUE(window.has(5, 7)) << "will never come";
    EXPECT_TRUE(window.has(6, 0));
    EXPECT_TRUE(window.has(6, 1));
    EXPECT_FALSE(window.has(6, 2));
    EXPECT_FALSE(window.has(6, {}));
    EXPECT_FALSE(window.has(7, 0));
}

TEST(HlsWindow, IsBounded) {
    HlsWindow window({.segment = 40ms, .first_segment = 40ms, .part = 40ms, .listed = 3, .kept = 5, .kept_bytes = 100},
                     "", 1);
    window.begin("h");
    for (int i = 0; i < 100; ++i) window.add(fragment(40, std::string(10, 'x')), true, 1);
    EXPECT_FALSE(window.file("95.mp4"));
    EXPECT_TRUE(window.file("96.mp4"));
    EXPECT_NE(window.playlist().find("#EXT-X-MEDIA-SEQUENCE:98\n"), std::string::npos);
    for (int i = 0; i < 100; ++i) window.add(fragment(40, std::string(60, 'x')), true, 1);
    EXPECT_FALSE(window.file("198.mp4"));
    EXPECT_TRUE(window.file("199.mp4"));
}

TEST(HlsWindow, WithdrawsSegments) {
    HlsWindow window({.segment = 40ms, .first_segment = 40ms, .part = 40ms}, "", 1);
    window.begin("h");
    for (std::uint64_t version = 1; version <= 4; ++version) window.add(fragment(40), true, version);
    window.withdraw(3);
    EXPECT_FALSE(window.file("2.mp4"));
    EXPECT_TRUE(window.file("3.mp4"));
    window.withdraw(9);
    EXPECT_FALSE(window.file("3.mp4"));
    EXPECT_FALSE(window.file("4.0.mp4"));
    EXPECT_TRUE(window.starts_segment());
    EXPECT_EQ(window.number(), 5);
    window.add(fragment(40), true, 9);
    EXPECT_TRUE(window.file("5.0.mp4"));
}

}  // namespace
}  // namespace framewire::service
