#include "framewire/media/sound.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/sound_codec.hpp"

#include <gtest/gtest.h>

#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace framewire {
namespace {

using namespace std::chrono_literals;

std::shared_ptr<const SoundFormat> format_of(int sample_rate) {
    return std::make_shared<const SoundFormat>(
        SoundFormat{.codec = SoundCodec::alaw, .sample_rate = sample_rate, .channels = 1});
}

// A tap whose frames were sent 100 s after their times, with one reader.
struct Tap {
    std::shared_ptr<SoundTap> tap = std::make_shared<SoundTap>();
    Clock::time_point zero = Clock::now() + 100s;
    std::unique_ptr<SoundTap::Reader> reader;

    Tap() {
        tap->begin();
        tap->set_format(format_of(8000));
        reader = std::make_unique<SoundTap::Reader>(tap);
    }
    void add(double seconds, const std::string& bytes = "1", std::int64_t samples = 800) const {
        tap->add({.bytes = bytes, .seconds = seconds, .samples = samples});
    }
    // Reads and sends a frame whose time in the opening is `own`.
    void show(double own, double seconds) const {
        tap->mark(own);
        tap->place(seconds);
        tap->sent(seconds, at(seconds));
    }
    Clock::time_point at(double seconds) const {
        return zero + std::chrono::round<Clock::duration>(std::chrono::duration<double>(seconds));
    }
    // Returns the texts of the packets that are due, with their times in tenths of a second.
    std::string take(double seconds) const {
        std::string taken;
        for (const auto& [packet, due] : reader->take(at(seconds)))
            taken += packet->bytes + "@" +
                     std::to_string(std::lround(std::chrono::duration<double>(due - zero).count() * 10)) + " ";
        return taken;
    }
};

TEST(SoundTap, GivesPacketsWhenTheyAreDue) {
    const Tap tap;
    tap.add(10.0, "a");
    tap.add(10.1, "b");
    EXPECT_EQ(tap.take(10), "");
    tap.show(10, 0);
    EXPECT_EQ(tap.take(0.05), "a@0 ");
    EXPECT_EQ(tap.take(0.05), "");
    EXPECT_EQ(tap.take(0.15), "b@1 ");
    tap.add(10.2, "c");
    EXPECT_EQ(tap.take(0.15), "");
    EXPECT_EQ(tap.take(0.3), "c@2 ");
}

TEST(SoundTap, BeginsWithTheFirstFrame) {
    const Tap tap;
    tap.add(9.8, "a");
    tap.add(9.9, "b");  // ends where the frame begins
    tap.add(9.96, "c");
    tap.show(10, 0);
    EXPECT_EQ(tap.take(1), "c@0 ");
}

TEST(SoundTap, EachOpeningHasItsOwnTimes) {
    const Tap tap;
    tap.show(0, 0);
    tap.add(0.1, "a");
    tap.add(0.2, "b");
    tap.add(0.3, "c");  // longer than the pictures of this pass
    EXPECT_EQ(tap.take(0.15), "a@1 ");
    tap.tap->begin();
    tap.tap->set_format(format_of(8000));
    tap.add(5.0, "d");
    tap.add(5.1, "e");
    EXPECT_EQ(tap.take(0.25), "b@2 ");
    tap.show(5, 0.3);
    EXPECT_EQ(tap.take(1), "d@3 e@4 ");
}

TEST(SoundTap, DropsPacketsThatItHasAlready) {
    const Tap tap;
    tap.show(0, 0);
    tap.add(0.1, "a");
    tap.add(0.1, "b");
    tap.add(0.05, "c");
    tap.add(0.2, "d");
    EXPECT_EQ(tap.take(1), "a@1 d@2 ");
}

TEST(SoundTap, DropsInvalidPackets) {
    const Tap tap;
    tap.show(0, 0);
    tap.add(0.1, "");
    tap.add(0.1, std::string(SoundTap::max_packet_bytes + 1, 'x'));
    tap.add(0.1, "a", 0);
    tap.add(0.1, "a", std::numeric_limits<std::int64_t>::max());
    tap.add(std::nan(""), "a");
    tap.add(-std::numeric_limits<double>::infinity(), "a");
    tap.tap->set_format(nullptr);
    tap.add(0.1, "a");
    EXPECT_EQ(tap.take(1), "");
}

TEST(SoundTap, OneLateFrameDoesNotMoveTheSound) {
    const Tap tap;
    for (int i = 0; i < 10; ++i) tap.show(i * 0.1, i * 0.1);
    tap.tap->sent(1.0, tap.at(1.5));
    tap.add(1.1, "a");
    EXPECT_EQ(tap.take(1.2), "a@11 ");
}

// The source loses half a second after the first frame. Until all frames of a second were late, nothing changes, and
// then only later times do.
TEST(SoundTap, FollowsASourceThatFallsBehind) {
    const Tap tap;
    tap.show(0, 0);
    tap.add(1, "a");
    tap.add(2, "b");
    tap.add(3, "c");
    for (int i = 1; i < 40; ++i) tap.tap->sent(i * 0.1, tap.at(i * 0.1 + 0.5));
    EXPECT_EQ(tap.tap->at(1.0), tap.at(1.0));
    EXPECT_EQ(tap.tap->at(3.0), tap.at(3.5));
    EXPECT_EQ(tap.take(5), "a@10 b@20 c@35 ");
}

// Whatever the load does to the frames, frames and sound of the same moment have the same time, and times increase.
TEST(SoundTap, FramesAndSoundOfAMomentHaveOneTime) {
    const Tap tap;
    std::mt19937 random(7);
    std::uniform_real_distribution<double> late_s(0, 0.5);
    std::map<double, Clock::time_point> frames, sound;
    double behind_s = 0;
    tap.show(0, 0);
    for (int i = 1; i < 2000; ++i) {
        const double seconds = 0.04 * i;
        if (i % 400 == 0) behind_s += 0.4;  // the source stalls
        if (i % 700 == 0) behind_s -= 0.4;  // and catches up
        tap.add(seconds, "x", 320);
        const auto now = tap.at(seconds + behind_s + late_s(random));
        tap.tap->mark(seconds);
        tap.tap->place(seconds);
        tap.tap->sent(seconds, now);
        frames[seconds] = tap.tap->at(seconds).value();
        for (const auto& [packet, at] : tap.reader->take(now)) sound[packet->seconds] = at;
    }
    ASSERT_GT(sound.size(), 1900);
    Clock::time_point last{};
    for (const auto& [seconds, at] : sound) {
        ASSERT_EQ(at, frames.at(seconds)) << seconds;
        ASSERT_GT(at, last) << seconds;
        last = at;
    }
}

TEST(SoundTap, FollowsTimesThatJump) {
    const Tap tap;
    tap.show(0, 0);
    tap.tap->sent(1000, tap.at(1));
    EXPECT_EQ(tap.tap->at(1000), tap.at(1));
    EXPECT_EQ(tap.tap->at(0), tap.at(0));
}

TEST(SoundTap, PacketFarAheadDoesNotDelayTheOthers) {
    const Tap tap;
    tap.show(0, 0);
    tap.add(1e6, "a");
    tap.add(0.1, "b");
    EXPECT_EQ(tap.take(1), "b@1 ");
}

TEST(SoundTap, FramesWithoutSoundHaveNoTime) {
    SoundTap tap;
    EXPECT_FALSE(tap.at(0));
    tap.sent(0, Clock::now());
    EXPECT_FALSE(tap.at(0));
    tap.set_format(format_of(8000));
    EXPECT_TRUE(tap.at(0));
    tap.begin();
    EXPECT_TRUE(tap.at(0)) << "the source is opened again";
    tap.restart();
    EXPECT_FALSE(tap.at(0));
}

TEST(SoundTap, IsBounded) {
    const Tap tap;
    tap.show(0, 0);
    for (std::size_t i = 0; i < 2 * SoundTap::max_packets; ++i) tap.add(1 + 0.01 * static_cast<double>(i));
    EXPECT_EQ(tap.reader->take(tap.at(1e6)).size(), SoundTap::max_packets);
    constexpr std::size_t bytes = SoundTap::max_packet_bytes;
    for (int i = 0; i < 100; ++i) tap.add(25 + 0.01 * i, std::string(bytes, 'x'));
    EXPECT_EQ(tap.reader->take(tap.at(1e6)).size(), SoundTap::max_bytes / bytes);
}

TEST(SoundTap, LaterReaderBeginsNow) {
    const auto tap = std::make_shared<SoundTap>();
    EXPECT_FALSE(tap->is_wanted());
    { const SoundTap::Reader earlier(tap); }
    EXPECT_TRUE(tap->is_wanted());
    tap->set_format(format_of(8000));
    tap->mark(0);
    tap->place(0);
    tap->sent(0, Clock::now());
    tap->add({.bytes = "a", .seconds = 0, .samples = 800});
    tap->add({.bytes = "b", .seconds = 20, .samples = 800});
    SoundTap::Reader reader(tap);
    const auto taken = reader.take(Clock::now() + 100s);
    ASSERT_EQ(taken.size(), 1);
    EXPECT_EQ(taken.front().packet->bytes, "b");
}

TEST(SoundTap, NewSourceStartsAgain) {
    const Tap tap;
    tap.show(0, 0);
    tap.add(50, "a");
    tap.tap->restart();
    EXPECT_EQ(tap.tap->format(), nullptr);
    tap.tap->set_format(format_of(8000));
    tap.add(0, "b");
    tap.show(0, 0);
    EXPECT_EQ(tap.take(100), "b@0 ");
}

using namespace std::string_literals;

TEST(AacConfig, IsParsed) {
    const auto lc = parse_aac_config("\x11\x90");
    ASSERT_TRUE(lc);
    EXPECT_EQ(lc->object_type, 2);
    EXPECT_EQ(lc->sample_rate, 48'000);
    EXPECT_EQ(lc->channel_layout, 2);
    const auto with_sbr = parse_aac_config("\x2b\x11\x88"s);  // 24 kHz, and 48 kHz with SBR
    ASSERT_TRUE(with_sbr);
    EXPECT_EQ(with_sbr->object_type, 2);
    EXPECT_EQ(with_sbr->sample_rate, 24'000);
    const auto explicit_rate = parse_aac_config("\x17\x80\x1f\x40\x08"s);
    ASSERT_TRUE(explicit_rate);
    EXPECT_EQ(explicit_rate->sample_rate, 16'000);
    EXPECT_EQ(explicit_rate->channel_layout, 1);
    for (const auto& wrong : {""s, "\x11"s, "\x16\xf0"s, "\x01\x90"s, "\x11\xc0"s, "\x17\x80\x1f"s})
        EXPECT_FALSE(parse_aac_config(wrong)) << wrong.size();
}

TEST(SoundFormat, InvalidOnesAreRefused) {
    const SoundFormat aac{.codec = SoundCodec::aac, .sample_rate = 48'000, .channels = 2, .header = "\x11\x90"};
    const SoundFormat opus{.codec = SoundCodec::opus,
                           .sample_rate = 48'000,
                           .channels = 2,
                           .header = "OpusHead\1\2\0\0\x80\xbb\0\0\0\0\0"s};
    EXPECT_EQ(invalid_sound(aac), "");
    EXPECT_EQ(invalid_sound(opus), "");
    EXPECT_EQ(invalid_sound(*format_of(8000)), "");
    const auto with = [](SoundFormat format, auto&& change) {
        change(format);
        return invalid_sound(format);
    };
    for (const int rate : {0, -1, 192'001, std::numeric_limits<int>::max()})
        EXPECT_EQ(with(aac, [&](auto& one) { one.sample_rate = rate; }),
                  "it has " + std::to_string(rate) + " samples per second");
    EXPECT_EQ(with(aac, [](auto& one) { one.channels = 9; }), "it has 9 channels");
    EXPECT_EQ(with(aac, [](auto& one) { one.header += std::string(2000, 'x'); }),
              "its header has more than 1024 bytes");
    EXPECT_EQ(with(aac, [](auto& one) { one.header = "x"; }), "its header is not that of AAC");
    EXPECT_EQ(with(opus, [](auto& one) { one.header.pop_back(); }), "its header is not that of Opus");
    EXPECT_EQ(with(opus, [](auto& one) { one.header[0] = 'x'; }), "its header is not that of Opus");
    EXPECT_EQ(with(opus, [](auto& one) { one.channels = 1; }), "it has 2 channels of mapping family 0");
    EXPECT_EQ(with(opus, [](auto& one) { one.header.back() = '\1'; }), "it has 2 channels of mapping family 1");
}

TEST(CodedSilence, IsUnknownForUnusualFormats) {
    EXPECT_FALSE(coded_silence({.codec = SoundCodec::aac, .sample_rate = 48'000, .channels = 1, .header = "\x11\x80"}));
    EXPECT_FALSE(coded_silence({.codec = SoundCodec::aac, .sample_rate = 48'000, .channels = 1, .header = "\xb9\x88"}));
    EXPECT_FALSE(coded_silence({.codec = SoundCodec::opus, .sample_rate = 48'000, .channels = 6, .header = ""}));
}

#ifdef FRAMEWIRE_FFMPEG

// Writes a file of two seconds with FFmpeg's program: pictures at 25 frames per second and a tone.
std::string make_file(const std::string& name, const std::string& sound) {
    const auto path = (std::filesystem::path(testing::TempDir()) / name).string();
    const auto command =
        "ffmpeg -nostdin -v error -y -f lavfi -i testsrc2=size=64x48:rate=25:duration=2 -f lavfi -i "
        "sine=frequency=440:sample_rate=48000:duration=2 " +
        sound + " -c:v libx264 -preset ultrafast " + path;
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return path;
}

// Reads all frames of a source, and returns the packets of its sound.
std::vector<SoundTap::Due> sound_of(const std::string& source, SourceOptions options = {}, int frames = 50) {
    const auto tap = std::make_shared<SoundTap>();
    SoundTap::Reader reader(tap);
    options.sound = tap;
    const auto opened = open_source(source, options);
    HostImage image(opened->info().shape);
    std::vector<SoundTap::Due> all;
    const auto zero = Clock::now();
    FrameTime time;
    for (int i = 0; i < frames && opened->read(image.view(), time); ++i) {
        tap->place(time.seconds);
        const auto now = zero + std::chrono::round<Clock::duration>(std::chrono::duration<double>(time.seconds));
        tap->sent(time.seconds, now);
        for (auto& due : reader.take(now)) all.push_back(std::move(due));
    }
    return all;
}

// Returns a frame of AAC-LC with an ADTS header (ISO/IEC 14496-3, 1.A.2.2).
std::string with_adts(const std::string& frame, int rate_index, int channel_layout) {
    const auto size = frame.size() + 7;
    const auto byte = [](std::size_t value) { return static_cast<char>(value & 0xff); };
    const auto layout = static_cast<std::size_t>(channel_layout);
    return std::string("\xff\xf1") + byte(1U << 6 | static_cast<std::size_t>(rate_index) << 2 | layout >> 2) +
           byte(layout << 6 | size >> 11) + byte(size >> 3) + byte((size & 7) << 5 | 0x1f) + byte(0xfc) + frame;
}

// FFmpeg decodes silence of all channel layouts to samples that are 0.
TEST(CodedSilence, IsSilentInAac) {
    const auto path = (std::filesystem::path(testing::TempDir()) / "silence").string();
    for (int layout = 1; layout <= 7; ++layout) {
        const std::string header{'\x11', static_cast<char>(0x80 | layout << 3)};
        const auto silence =
            coded_silence({.codec = SoundCodec::aac, .sample_rate = 48'000, .channels = 1, .header = header});
        ASSERT_TRUE(silence);
        EXPECT_EQ(silence->samples, 1024);
        constexpr int frames = 10;
        std::ofstream file(path + ".aac", std::ios::binary);
        for (int i = 0; i < frames; ++i) file << with_adts(silence->bytes, 3, layout);
        file.close();
        const auto command = "ffmpeg -nostdin -v error -xerror -y -f aac -i " + path + ".aac -f s16le -c:a pcm_s16le " +
                             path + ".raw 2>&1";
        ASSERT_EQ(std::system(command.c_str()), 0) << layout;
        std::ifstream raw(path + ".raw", std::ios::binary);
        const std::string samples{std::istreambuf_iterator<char>(raw), {}};
        const auto channels = layout == 7 ? 8U : static_cast<unsigned>(layout);
        EXPECT_EQ(samples, std::string(std::size_t{frames} * 1024 * channels * 2, '\0')) << layout;
    }
}

struct SoundFile {
    std::string name, options;
    SoundCodec codec;
    int sample_rate;
    std::int64_t samples;  // of each packet; 0: they differ
    bool has_header;
};

class SoundSources : public testing::TestWithParam<SoundFile> {};

TEST_P(SoundSources, GiveTheirPackets) {
    const auto& file = GetParam();
    const auto packets = sound_of(make_file(file.name, file.options));
    ASSERT_GT(packets.size(), 5);
    const auto& format = *packets.front().packet->format;
    EXPECT_EQ(format.codec, file.codec);
    EXPECT_EQ(format.sample_rate, file.sample_rate);
    EXPECT_EQ(format.channels, 1);
    EXPECT_EQ(!format.header.empty(), file.has_header);
    const auto duration = [&](std::size_t i) {
        return static_cast<double>(packets[i].packet->samples) / file.sample_rate;
    };
    EXPECT_NEAR(packets.front().packet->seconds, 0, duration(0) + 0.001);
    EXPECT_NEAR(packets.back().packet->seconds, 1.96, duration(0) + 0.05);
    for (std::size_t i = 1; i < packets.size(); ++i) {
        if (file.samples > 0) {
            EXPECT_EQ(packets[i].packet->samples, file.samples);
        }
        EXPECT_NEAR(packets[i].packet->seconds - packets[i - 1].packet->seconds, duration(i - 1), 0.002);
    }
}

INSTANTIATE_TEST_SUITE_P(
    Codecs, SoundSources,
    testing::Values(SoundFile{"sound-aac.mp4", "-c:a aac", SoundCodec::aac, 48000, 1024, true},
                    SoundFile{"sound-aac-44.mkv", "-c:a aac -ar 44100", SoundCodec::aac, 44100, 1024, true},
                    SoundFile{"sound-adts.ts", "-c:a aac", SoundCodec::aac, 48000, 1024, true},
                    SoundFile{"sound-opus.mkv", "-c:a libopus", SoundCodec::opus, 48000, 960, true},
                    SoundFile{"sound-opus.mp4", "-c:a libopus", SoundCodec::opus, 48000, 960, true},
                    SoundFile{"sound-mulaw.mov", "-c:a pcm_mulaw -ar 8000", SoundCodec::mulaw, 8000, 0, false},
                    SoundFile{"sound-alaw.mov", "-c:a pcm_alaw -ar 8000", SoundCodec::alaw, 8000, 0, false}),
    [](const auto& file) {
        auto name = file.param.name;
        for (auto& letter : name)
            if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
        return name;
    });

TEST(SoundSource, LoopsAreContinuous) {
    const auto packets = sound_of(make_file("sound-loop.ts", "-c:a aac"), {.loop = true}, 140);
    ASSERT_GT(packets.size(), 200);
    for (std::size_t i = 1; i < packets.size(); ++i) {
        const double step = packets[i].packet->seconds - packets[i - 1].packet->seconds;
        EXPECT_GT(step, 0);
        EXPECT_LT(step, 0.1) << packets[i].packet->seconds;
    }
    EXPECT_NEAR(packets.back().packet->seconds, 5.56, 0.05);
}

TEST(SoundSource, OtherCodecsAreLeftOut) {
    EXPECT_TRUE(sound_of(make_file("sound-mp3.mkv", "-c:a libmp3lame")).empty());
}

#endif

}  // namespace
}  // namespace framewire
