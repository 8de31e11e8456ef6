#include "framewire/detect/track_overlay.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/filters/filter.hpp"
#include "kit/allocations.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace framewire {
namespace {

class BlackPicture {
public:
    explicit BlackPicture(int channels = 3) : image_(Shape{1, 60, 100, channels}) { clear(); }
    void clear() { std::memset(image_.view().data(), 0, static_cast<std::size_t>(image_.shape().bytes())); }
    HostView<std::uint8_t> view() { return image_.view(); }
    bool is_drawn(int x, int y) {
        const int channels = image_.shape().channels;
        const auto* pixel = image_.view().row(0, y) + x * channels;
        for (int channel = 0; channel < channels; ++channel)
            if (pixel[channel] != 0) return true;
        return false;
    }
    int drawn() {
        int count = 0;
        for (int y = 0; y < 60; ++y)
            for (int x = 0; x < 100; ++x) count += is_drawn(x, y);
        return count;
    }

private:
    HostImage image_;
};

Track track_at(double x, double y, int object = 0) {
    return {.id = 12, .x = x, .y = y, .width = 30, .height = 20, .object = object};
}

TEST(TrackOverlay, DrawsABoxAndItsNumber) {
    for (const int channels : {1, 3}) {
        BlackPicture picture(channels);
        const auto track = track_at(40, 30);
        TrackOverlay(0).draw({&track, 1}, 0, picture.view());
        EXPECT_TRUE(picture.is_drawn(40, 30));
        EXPECT_TRUE(picture.is_drawn(69, 49));
        EXPECT_FALSE(picture.is_drawn(70, 50));
        EXPECT_FALSE(picture.is_drawn(55, 40));
        EXPECT_TRUE(picture.is_drawn(45, 25));  // the label
        EXPECT_EQ(picture.drawn(), 30 * 20 - 26 * 16 + (2 * 8 + 2) * 14);
    }
}

TEST(TrackOverlay, OmitsTracksOutOfSight) {
    BlackPicture picture;
    const auto track = track_at(40, 30, -1);
    TrackOverlay(2).draw({&track, 1}, 0, picture.view());
    EXPECT_EQ(picture.drawn(), 0);
}

TEST(TrackOverlay, DrawsThePathOfTheLastSeconds) {
    BlackPicture picture;
    TrackOverlay overlay(1);
    for (int i = 0; i <= 40; ++i) {
        picture.clear();
        const auto track = track_at(i, 30);
        overlay.draw({&track, 1}, i / 20.0, picture.view());
    }
    EXPECT_TRUE(picture.is_drawn(54, 40));
    EXPECT_TRUE(picture.is_drawn(37, 40));   // 0.9 s ago
    EXPECT_FALSE(picture.is_drawn(32, 40));  // 1.15 s ago
}

TEST(TrackOverlay, ClipsToThePicture) {
    BlackPicture picture;
    for (const double x : {-500.0, -20.0, 90.0, 2000.0}) {
        const auto track = track_at(x, x);
        TrackOverlay(1).draw({&track, 1}, 0, picture.view());
    }
    EXPECT_GT(picture.drawn(), 0);
}

TEST(TrackOverlay, GivesNeighbouringIdsDifferentColours) {
    std::set<Pixel> colours;
    for (std::int64_t id = 1; id <= 100; ++id) colours.insert(color_of_track(id));
    EXPECT_EQ(colours.size(), 100u);
}

TEST(TrackOverlay, AllocatesNothing) {
    BlackPicture picture;
    TrackOverlay overlay(1);
    const auto before = kit::allocations();
    for (int i = 0; i < 200; ++i) {
        auto track = track_at(i % 50, 30);
        track.id = i / 7 + 1;
        overlay.draw({&track, 1}, i / 20.0, picture.view());
    }
    EXPECT_EQ(kit::allocations(), before);
}

}  // namespace
}  // namespace framewire
