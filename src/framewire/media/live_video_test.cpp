#include "framewire/media/live_video.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/fragmented_mp4.hpp"

#include <gtest/gtest.h>
#include <array>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace framewire {
namespace {

std::vector<AccessUnit> encoded(LiveEncoder& encoder, const Shape& shape, int frames, int key_every) {
    std::vector<AccessUnit> units;
    HostImage image(shape);
    for (int frame = 0; frame < frames; ++frame) {
        std::memset(image.view().data(), 40 + frame, static_cast<std::size_t>(shape.bytes()));
        encoder.encode(image.view(), frame * 3000, frame > 0 && frame % key_every == 0,
                       static_cast<std::uint64_t>(100 + frame),
                       [&](AccessUnit&& unit) { units.push_back(std::move(unit)); });
    }
    return units;
}

TEST(LiveVideo, ParsesSettings) {
    const auto defaults = parse_live_video(" ", "video");
    EXPECT_EQ(defaults.codec, "libx264");
    EXPECT_FALSE(defaults.crf || defaults.bitrate || defaults.gop);
    const auto all = parse_live_video("codec=h264_nvenc:bitrate=2.5M:preset=p4:gop=60", "video");
    EXPECT_EQ(all.codec, "h264_nvenc");
    EXPECT_EQ(all.bitrate, 2'500'000);
    EXPECT_EQ(all.preset, "p4");
    EXPECT_EQ(all.gop, 60);
    EXPECT_EQ(parse_live_video("crf=18.5", "video").crf, 18.5);
    for (const auto* text :
         {"bitrate=2X", "bitrate=2T", "gop=0", "gop=1000001", "crf=-1", "crf=20:bitrate=1M", "tune=film"})
        EXPECT_THROW(parse_live_video(text, "video"), Error) << text;
}

TEST(LiveVideo, KeepsEveryPictureAndItsVersion) {
    for (const Shape& shape : {Shape{1, 48, 64, 3}, Shape{1, 48, 64, 1}, Shape{1, 49, 65, 3}}) {
        LiveEncoder encoder({}, shape, {30, 1});
        EXPECT_EQ(encoder.name(), "libx264");
        EXPECT_EQ(encoder.format().sps, "");
        const auto units = encoded(encoder, shape, 10, 4);
        ASSERT_EQ(units.size(), 10) << to_string(shape);
        for (std::size_t i = 0; i < units.size(); ++i) {
            EXPECT_EQ(units[i].pts, static_cast<std::int64_t>(i) * 3000);
            EXPECT_EQ(units[i].duration, 3000);
            EXPECT_EQ(units[i].picture_version, 100 + i);
            EXPECT_EQ(units[i].key, i % 4 == 0) << i;
            EXPECT_EQ(units[i].bytes.find(encoder.format().sps) != std::string::npos, units[i].key) << i;
        }
        EXPECT_EQ(encoder.format().width, 64);
        EXPECT_EQ(encoder.format().height, 48);
        EXPECT_TRUE(encoder.format().codec.starts_with("avc1.64")) << encoder.format().codec;
    }
}

TEST(LiveVideo, RefusesPicturesThatAreTooSmall) {
    EXPECT_THROW(LiveEncoder({}, {1, 1, 64, 3}, {30, 1}), Error);
    EXPECT_THROW(LiveEncoder({}, {1, 64, 1, 1}, {30, 1}), Error);
}

// A fragment starts where the previous one ends, and ends after the nominal duration of its picture.
TEST(FragmentedMp4, HasNoGaps) {
    const Shape shape{1, 48, 64, 3};
    LiveEncoder encoder({}, shape, {30, 1});
    auto units = encoded(encoder, shape, 4, 100);
    Mp4Fragments fragments(encoder.format());
    EXPECT_EQ(fragments.header().substr(4, 4), "ftyp");
    EXPECT_NE(fragments.header().find("avcC"), std::string::npos);
    // the third picture is late
    const std::int64_t times[] = {90'000, 93'000, 99'000, 102'000}, ends[] = {3'000, 6'000, 12'000, 15'000};
    std::int64_t end = 0;
    for (std::size_t i = 0; i < units.size(); ++i) {
        units[i].pts = times[i];
        const auto fragment = fragments.pack(units[i]);
        EXPECT_EQ(fragment.bytes.substr(4, 4), "moof");
        EXPECT_EQ(fragment.start, end);
        end = fragment.start + fragment.duration;
        EXPECT_EQ(end, ends[i]) << i;
    }
}

// Returns the numbers after each `box`: `bytes` bytes, `skip` bytes after the name.
std::vector<std::uint64_t> numbers_after(const std::string& text, const std::string& box, std::size_t skip,
                                         std::size_t bytes) {
    std::vector<std::uint64_t> numbers;
    for (auto at = text.find(box); at != std::string::npos; at = text.find(box, at + 1)) {
        numbers.push_back(0);
        for (std::size_t i = 0; i < bytes; ++i)
            numbers.back() = numbers.back() << 8 | static_cast<unsigned char>(text[at + box.size() + skip + i]);
    }
    return numbers;
}

std::vector<std::uint64_t> times_of(const std::string& fragment) {
    return numbers_after(fragment.substr(0, fragment.find("mdat")), "tfdt", 4, 8);
}

// Returns the composition time offset of a fragment's picture, the last number of its box trun.
std::uint64_t offset_of(const std::string& fragment) {
    const auto trun = fragment.find("trun");
    const auto number_at = [&](std::size_t at) {
        std::uint64_t number = 0;
        for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(fragment[at + i]);
        return number;
    };
    return number_at(trun - 4 + number_at(trun - 4) - 4);
}

// Pictures that come late or are missing are presented at their own times all the same.
TEST(FragmentedMp4, ShowsPicturesInTimeBesideSound) {
    const Shape shape{1, 48, 64, 3};
    LiveEncoder encoder({}, shape, {30, 1});
    auto units = encoded(encoder, shape, 6, 100);
    const auto format = std::make_shared<const SoundFormat>(SoundFormat{
        .codec = SoundCodec::aac, .sample_rate = 48'000, .channels = 1, .header = std::string("\x11\x88", 2)});
    Mp4Fragments fragments(encoder.format(), format);
    constexpr std::array<std::int64_t, 6> times{0, 3000, 30'000, 32'000, 34'000, 60'000};
    std::int64_t end = 0;
    for (std::size_t i = 0; i < units.size(); ++i) {
        units[i].pts = times[i];
        const auto fragment = fragments.pack(units[i]);
        EXPECT_EQ(fragment.start, end);
        end += fragment.duration;
        const auto decoded = static_cast<std::int64_t>(times_of(fragment.bytes).at(0));
        EXPECT_EQ(decoded + (i > 0 ? static_cast<std::int64_t>(offset_of(fragment.bytes)) : 0), times[i]) << i;
    }
}

TEST(FragmentedMp4, HasSound) {
    using Times = std::vector<std::uint64_t>;
    const Shape shape{1, 48, 64, 3};
    LiveEncoder encoder({}, shape, {30, 1});
    auto units = encoded(encoder, shape, 7, 100);
    const auto format = std::make_shared<const SoundFormat>(SoundFormat{
        .codec = SoundCodec::aac, .sample_rate = 48'000, .channels = 1, .header = std::string("\x11\x88", 2)});
    Mp4Fragments fragments(encoder.format(), format);
    EXPECT_NE(fragments.header().find("mp4a"), std::string::npos);
    const auto sound = [&](std::int64_t pts, const std::string& bytes) {
        fragments.add({.packet = std::make_shared<const SoundPacket>(
                           SoundPacket{.bytes = bytes, .seconds = 0, .samples = 1024, .format = format}),
                       .pts = pts,
                       .duration = 1920});
    };
    std::vector<std::string> packed;
    constexpr std::int64_t begin = 90'000;
    for (std::size_t i = 0; i < units.size(); ++i) {
        units[i].pts = begin + 3000 * static_cast<std::int64_t>(i);
        if (i == 0) sound(begin - 1920, "before the first picture");
        if (i == 1) sound(begin + 900, "the first"), sound(begin + 900 + 1925, "the second, almost in time");
        if (i == 2) sound(begin + 900 + 1920, "one too many");
        if (i == 3) sound(begin + 9000, "after a gap");
        if (i == 6) sound(begin + 12'000, "behind the pictures");
        packed.push_back(fragments.pack(units[i]).bytes);
    }
    EXPECT_EQ(times_of(packed[0]), Times({0}));
    // Decoding is half a picture ahead of the presentation.
    EXPECT_EQ(times_of(packed[1]), Times({1500, 480}));
    EXPECT_EQ(times_of(packed[2]), Times({4500}));
    EXPECT_EQ(times_of(packed[3]), Times({7500, 4800}));
    EXPECT_EQ(times_of(packed[4]), Times({10500}));
    for (std::size_t i = 1; i < packed.size(); ++i) EXPECT_EQ(offset_of(packed[i]), 1500) << i;
    // Both packets have their own duration, also at the start of the track.
    EXPECT_EQ(packed[1].find(std::string("\0\0\5\xe0", 4)), std::string::npos) << "480 samples more";
    EXPECT_NE(packed[1].find("the first"), std::string::npos);
    EXPECT_NE(packed[1].find("the second"), std::string::npos);
    EXPECT_NE(packed[3].find("after a gap"), std::string::npos);
    // A client does not get the sound from before its first picture.
    Mp4Renumbering numbers;
    const auto renumbered = [&](const std::string& part) {
        return *numbers.apply(std::make_shared<const std::string>(part));
    };
    EXPECT_EQ(renumbered(fragments.header()), fragments.header());
    const auto first = renumbered(packed[1]), second = renumbered(packed[3]);
    EXPECT_EQ(first.size(), packed[1].size());
    EXPECT_EQ(numbers_after(first, "traf", 0, 4).size(), 1);
    EXPECT_EQ(times_of(first).front(), 0);
    EXPECT_EQ(times_of(second), Times({6000, 4000}));
    EXPECT_EQ(numbers_after(second, "mfhd", 4, 4), Times({2}));
    // Nor does it get such sound in a later fragment, if sound is behind the pictures.
    numbers = {};
    renumbered(fragments.header());
    renumbered(packed[5]);
    EXPECT_EQ(times_of(packed[6]).size(), 2);
    EXPECT_EQ(numbers_after(renumbered(packed[6]), "traf", 0, 4).size(), 1);
}

TEST(FragmentedMp4, RefusesSoundThatMp4CannotHold) {
    const Shape shape{1, 48, 64, 3};
    LiveEncoder encoder({}, shape, {30, 1});
    encoded(encoder, shape, 1, 100);
    const auto format =
        std::make_shared<const SoundFormat>(SoundFormat{.codec = SoundCodec::alaw, .sample_rate = 8000, .channels = 1});
    EXPECT_THROW(Mp4Fragments(encoder.format(), format), Error);
}

TEST(FragmentedMp4, RenumberingLeavesOtherPartsAlone) {
    const auto text = [](const char* bytes, std::size_t size) {
        return std::make_shared<const std::string>(bytes, size);
    };
    Mp4Renumbering numbers;
    for (const auto& part :
         {text("", 0),
          text("\0\0\0\x10"
               "ftypisom",
               12),
          text("\0\0\0\x08moof", 8), text("\xff\xff\xff\xffmoof\0\0\0\x10mfhd\0\0\0\0\0\0\0\x07tfdt", 28),
          text("\0\0\0\x20moof\0\0\0\x10mfhd\0\0\0\0\0\0\0\x07\0\0\0\x10trun", 32)})
        EXPECT_EQ(numbers.apply(part), part);
}

}  // namespace
}  // namespace framewire
