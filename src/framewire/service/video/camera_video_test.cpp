#include "framewire/service/video/camera_video.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/service/web/site_testing.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace framewire::service {
namespace {

using namespace std::chrono_literals;
using web::FakeCamera;
using Units = std::vector<std::shared_ptr<const AccessUnit>>;

constexpr Shape small{1, 96, 128, 3};

// A camera whose pictures are noise of any size, for large access units.
class NoiseCamera : public FakeCamera {
public:
    using FakeCamera::FakeCamera;
    void resize(const Shape& shape) {
        const std::lock_guard lock(mutex_);
        shape_ = shape;
    }
    std::optional<Picture> picture() const override {
        const std::lock_guard lock(mutex_);
        Picture picture{HostImage(shape_), picture_version()};
        std::mt19937 random(static_cast<unsigned>(picture.version));
        for (int y = 0; y < shape_.height; ++y)
            for (int x = 0; x < shape_.row_bytes(); ++x)
                picture.image.view().row(0, y)[x] = static_cast<std::uint8_t>(random());
        return picture;
    }

private:
    mutable std::mutex mutex_;
    Shape shape_ = small;
};

// Waits until `condition` holds; returns false after ten seconds.
template <class Condition>
bool within_ten_seconds(Condition&& condition) {
    for (int i = 0; i < 2000; ++i) {
        if (condition()) return true;
        std::this_thread::sleep_for(5ms);
    }
    return false;
}

// Takes access units until there are `count`, or for ten seconds.
Units take(CameraVideo::Subscription& subscription, std::size_t count) {
    Units units;
    within_ten_seconds([&] {
        const auto taken = subscription.take();
        units.insert(units.end(), taken.units.begin(), taken.units.end());
        return units.size() >= count || taken.ended;
    });
    return units;
}

// Shows `count` pictures, each once the previous one has been encoded.
void show_pictures(FakeCamera& camera, const CameraVideo& video, int count) {
    for (int i = 0; i < count; ++i) {
        const auto before = video.statistics().frames;
        camera.show(static_cast<std::uint8_t>(40 + 10 * i));
        ASSERT_TRUE(within_ten_seconds([&] { return video.statistics().frames > before; }));
    }
}

const auto nothing = [] {};

TEST(CameraVideo, EncodesNothingWithoutSubscribers) {
    const auto camera = std::make_shared<FakeCamera>("door", small);
    const CameraVideo video(camera, {});
    camera->show(1);
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(camera->pictures_taken(), 0);
    EXPECT_EQ(video.statistics().encoders, 0);
}

TEST(CameraVideo, BeginsWithAKeyframe) {
    const auto camera = std::make_shared<FakeCamera>("door", small);
    camera->show(100);
    CameraVideo video(camera, {});
    std::atomic<int> woken = 0;
    const auto subscription = video.subscribe([&] { ++woken; });
    const auto format = subscription->format();
    ASSERT_TRUE(format);
    EXPECT_EQ(format->width, 128);
    EXPECT_EQ(format->height, 96);
    EXPECT_EQ(format->rate.value(), 30);
    EXPECT_EQ(format->codec.substr(0, 7), "avc1.64");
    EXPECT_EQ(woken, 1);
    const auto taken = subscription->take();
    ASSERT_FALSE(taken.units.empty());
    const auto& unit = *taken.units.front();
    EXPECT_TRUE(unit.key);
    EXPECT_EQ(unit.picture_version, 1);
    EXPECT_EQ(unit.duration, video_clock_hz / 30);
    EXPECT_EQ(unit.bytes.substr(0, 4), std::string("\0\0\0\1", 4));
    EXPECT_NE(unit.bytes.find(format->sps), std::string::npos);
    EXPECT_NE(unit.bytes.find(format->pps), std::string::npos);
    EXPECT_FALSE(taken.lost);
    EXPECT_FALSE(taken.ended);
}

TEST(CameraVideo, EncodesOnceForAllSubscribers) {
    const auto camera = std::make_shared<FakeCamera>("door", small);
    camera->show(1);
    CameraVideo video(camera, {});
    std::vector<std::unique_ptr<CameraVideo::Subscription>> all;
    for (int i = 0; i < 20; ++i) all.push_back(video.subscribe(nothing));
    ASSERT_TRUE(all.front()->format());
    show_pictures(*camera, video, 5);
    const auto first = take(*all.front(), 6);
    for (std::size_t i = 1; i < all.size(); ++i) {
        const auto units = take(*all[i], 1);
        ASSERT_FALSE(units.empty());
        // A subscriber that came later may have been given a keyframe of its own, and have got more by now.
        auto same = std::ranges::find(first, units.front());
        ASSERT_NE(same, first.end());
        for (std::size_t at = 0; at < units.size() && same != first.end(); ++at, ++same) EXPECT_EQ(units[at], *same);
    }
    const auto statistics = video.statistics();
    EXPECT_EQ(statistics.subscribers, 20);
    EXPECT_EQ(statistics.encoders, 1);
    EXPECT_EQ(statistics.encoder, "libx264");
    EXPECT_NEAR(camera->pictures_taken(), static_cast<double>(statistics.frames), 1) << "one is being encoded";
    for (std::size_t i = 1; i < first.size(); ++i) EXPECT_GT(first[i]->pts, first[i - 1]->pts);
}

TEST(CameraVideo, ClosesTheEncoderWithTheLastSubscriber) {
    const auto camera = std::make_shared<FakeCamera>("door", small);
    camera->show(1);
    CameraVideo video(camera, {});
    for (int i = 0; i < 3; ++i) {
        auto subscription = video.subscribe(nothing);
        ASSERT_TRUE(subscription->format());
        EXPECT_TRUE(subscription->take().units.front()->key);
        subscription.reset();
        EXPECT_TRUE(within_ten_seconds([&] { return video.statistics().encoders == 0; }));
        EXPECT_EQ(video.statistics().subscribers, 0);
    }
}

TEST(CameraVideo, RepeatsAPictureThatDoesNotChange) {
    const auto camera = std::make_shared<FakeCamera>("door", small);
    camera->show(1);
    CameraVideo video(camera, {});
    const auto subscription = video.subscribe(nothing);
    const auto units = take(*subscription, 2);
    ASSERT_GE(units.size(), 2);
    EXPECT_FALSE(units[1]->key);
    EXPECT_GE(units[1]->pts - units[0]->pts, video_clock_hz * 2 / 5);
    EXPECT_LT(units[1]->bytes.size(), 100);
}

// Access units of withdrawn pictures are neither delivered from queues nor to new subscribers, and the stream continues
// with a keyframe.
TEST(CameraVideo, WithdrawsPicturesFromBeforeAMask) {
    const auto camera = std::make_shared<FakeCamera>("door", small);
    camera->show(1);
    CameraVideo video(camera, {});
    const auto subscription = video.subscribe(nothing);
    ASSERT_TRUE(subscription->format());
    show_pictures(*camera, video, 4);
    camera->show_instead(200);
    const auto oldest = camera->oldest_picture_version();
    const auto second = video.subscribe(nothing);
    for (const auto* one : {subscription.get(), second.get()}) {
        const auto units = take(const_cast<CameraVideo::Subscription&>(*one), 1);
        ASSERT_FALSE(units.empty());
        EXPECT_TRUE(units.front()->key);
        for (const auto& unit : units) EXPECT_GE(unit->picture_version, oldest);
    }
}

// The same while pictures arrive all the time.
TEST(CameraVideo, WithdrawsPicturesThatAreBeingEncoded) {
    const auto camera = std::make_shared<FakeCamera>("door", Shape{1, 480, 640, 3});
    camera->show(1);
    CameraVideo video(camera, {});
    const auto subscription = video.subscribe(nothing);
    ASSERT_TRUE(subscription->format());
    std::jthread pictures([&](const std::stop_token& stop) {
        for (std::uint8_t value = 0; !stop.stop_requested(); ++value) {
            camera->show(value);
            std::this_thread::sleep_for(3ms);
        }
    });
    int lost = 0;
    for (int i = 0; i < 15; ++i) {
        std::this_thread::sleep_for(std::chrono::milliseconds(10 + 3 * i));
        camera->show_instead(255);
        const auto oldest = camera->oldest_picture_version();
        CameraVideo::Subscription::Taken taken;
        ASSERT_TRUE(within_ten_seconds([&] {
            taken = subscription->take();
            return !taken.units.empty();
        }));
        EXPECT_TRUE(taken.units.front()->key || !taken.lost);
        lost += taken.lost;
        for (const auto& unit : taken.units) EXPECT_GE(unit->picture_version, oldest);
    }
    EXPECT_GT(lost, 0);
}

TEST(CameraVideo, SlowSubscriberContinuesWithAKeyframe) {
    const auto camera = std::make_shared<NoiseCamera>("door", small);
    camera->resize({1, 720, 1280, 3});
    camera->show(1);
    CameraVideo video(camera, {.crf = 1, .preset = "ultrafast"});
    const auto slow = video.subscribe(nothing), fast = video.subscribe(nothing);
    ASSERT_TRUE(fast->format());
    bool lost = false;
    std::int64_t bytes = 0;
    while (bytes < static_cast<std::int64_t>(2 * CameraVideo::queue_limit_bytes)) {
        show_pictures(*camera, video, 1);
        const auto taken = fast->take();
        lost = lost || taken.lost;
        for (const auto& unit : taken.units) bytes += static_cast<std::int64_t>(unit->bytes.size());
    }
    EXPECT_FALSE(lost);
    EXPECT_GT(video.statistics().skipped, 0);
    CameraVideo::Subscription::Taken taken;
    ASSERT_TRUE(within_ten_seconds([&] {
        taken = slow->take();
        return !taken.units.empty();
    }));
    EXPECT_TRUE(taken.lost);
    EXPECT_TRUE(taken.units.front()->key);
    std::size_t queued = 0;
    for (const auto& unit : taken.units) queued += unit->bytes.size();
    EXPECT_LE(queued, CameraVideo::queue_limit_bytes);
}

// The camera's picture does not change, so most access units are repetitions.
TEST(CameraVideo, MakesKeyframesOnRequest) {
    const auto camera = std::make_shared<FakeCamera>("door", small);
    camera->show(1);
    CameraVideo video(camera, {});
    const auto subscription = video.subscribe(nothing);
    std::vector<std::int64_t> keys;
    const auto next_key = [&] {
        return within_ten_seconds([&] {
            bool found = false;
            for (const auto& unit : subscription->take().units)
                if (unit->key) found = true, keys.push_back(unit->pts);
            return found;
        });
    };
    ASSERT_TRUE(next_key());
    for (int i = 0; i < 3; ++i) {
        video.request_keyframe();
        ASSERT_TRUE(next_key());
    }
    ASSERT_EQ(keys.size(), 4);
    // The pause counts from the delivery of the last keyframe, and times are those of the pictures.
    const auto pause = CameraVideo::keyframe_pause.count() * video_clock_hz / 1000;
    for (std::size_t i = 1; i < keys.size(); ++i) EXPECT_GT(keys[i] - keys[i - 1], pause * 9 / 10);
}

TEST(CameraVideo, NewSizeIsANewFormat) {
    const auto camera = std::make_shared<NoiseCamera>("door", small);
    camera->show(1);
    CameraVideo video(camera, {});
    const auto subscription = video.subscribe(nothing);
    ASSERT_TRUE(subscription->format());
    camera->resize({1, 97, 131, 3});
    show_pictures(*camera, video, 1);
    const auto before = subscription->take();
    ASSERT_FALSE(before.units.empty());
    EXPECT_EQ(before.format->width, 128);
    const auto after = subscription->take();
    ASSERT_FALSE(after.units.empty());
    EXPECT_TRUE(after.units.front()->key);
    EXPECT_NE(after.format, before.format);
    // odd sizes are cropped to even ones
    EXPECT_EQ(after.format->width, 130);
    EXPECT_EQ(after.format->height, 96);
}

TEST(CameraVideo, EndsSubscriptionsIfTheEncoderFails) {
    const auto camera = std::make_shared<FakeCamera>("door", small);
    camera->show(1);
    std::vector<std::string> lines;
    std::mutex mutex;
    const auto previous = set_log_output({.least = LogLevel::warning, .sink = [&](LogLevel, std::string_view text) {
                                              const std::lock_guard lock(mutex);
                                              lines.emplace_back(text);
                                          }});
    {
        CameraVideo video(camera, {.preset = "unheard-of"});
        const auto subscription = video.subscribe(nothing);
        EXPECT_FALSE(subscription->format());
        const auto taken = subscription->take();
        EXPECT_TRUE(taken.ended);
        EXPECT_NE(taken.failure.find("libx264"), std::string::npos) << taken.failure;
        EXPECT_EQ(video.statistics().failure, taken.failure);
        // The next subscriber does not try at once.
        const auto second = video.subscribe(nothing);
        EXPECT_EQ(second->take().failure, taken.failure);
        EXPECT_EQ(video.statistics().encoders, 0);
    }
    set_log_output(previous);
    ASSERT_EQ(lines.size(), 1);
    EXPECT_NE(lines.front().find("camera 'door' cannot be encoded as video"), std::string::npos);
}

TEST(CameraVideo, EndsSubscriptionsThatOutliveIt) {
    const auto camera = std::make_shared<FakeCamera>("door", small);
    auto video = std::make_unique<CameraVideo>(camera, LiveVideoSettings{});
    std::atomic<int> woken = 0;
    const auto subscription = video->subscribe([&] { ++woken; });
    video.reset();
    EXPECT_EQ(woken, 1);
    EXPECT_TRUE(subscription->take().ended);
    EXPECT_FALSE(subscription->format());
}

// A camera with sound of 20 ms per packet, whose times are those of its pictures.
struct HeardCamera {
    std::shared_ptr<SoundTap> tap = std::make_shared<SoundTap>();
    std::shared_ptr<FakeCamera> camera = std::make_shared<FakeCamera>("door", small);
    Clock::time_point zero = Clock::now();
    int packets = 0, pictures = 0;

    HeardCamera() {
        tap->set_format(std::make_shared<const SoundFormat>(
            SoundFormat{.codec = SoundCodec::mulaw, .sample_rate = 8000, .channels = 1}));
        camera->set_sound(tap);
        show();
    }
    double seconds() const { return std::chrono::duration<double>(Clock::now() - zero).count(); }
    // Shows a picture whose frame is `late` seconds old.
    void show(double late = 0) {
        const auto time = seconds() - late;
        tap->mark(time);
        tap->place(time);
        tap->sent(time, Clock::now());
        camera->show(static_cast<std::uint8_t>(20 + 7 * pictures++ % 100), time);
    }
    // Shows pictures with sound for that long.
    void play(double more) {
        for (const auto end = seconds() + more; seconds() < end; std::this_thread::sleep_for(5ms)) {
            for (; packets * 0.02 < seconds(); ++packets)
                tap->add({.bytes = std::to_string(packets), .seconds = packets * 0.02, .samples = 160});
            if (pictures * 0.033 < seconds()) show();
        }
    }
};

TEST(CameraVideo, HasSoundThatFitsThePictures) {
    HeardCamera heard;
    CameraVideo video(heard.camera, {});
    const auto with = video.subscribe(nothing, true), without = video.subscribe(nothing);
    ASSERT_TRUE(with->format());
    heard.play(1);
    const auto taken = with->take(), silent = without->take();
    ASSERT_GE(taken.units.size(), 5);
    ASSERT_TRUE(taken.sound_format);
    EXPECT_EQ(taken.sound_format->codec, SoundCodec::mulaw);
    EXPECT_TRUE(silent.sound.empty());
    EXPECT_FALSE(silent.sound_format);
    ASSERT_GE(taken.sound.size(), 30);
    EXPECT_GE(taken.sound.front().pts, taken.units.front()->pts);
    for (std::size_t i = 1; i < taken.sound.size(); ++i) {
        const auto &one = taken.sound[i], &before = taken.sound[i - 1];
        EXPECT_EQ(std::stoi(one.packet->bytes), std::stoi(before.packet->bytes) + 1);
        EXPECT_EQ(one.pts, before.pts + before.duration);
        EXPECT_EQ(one.duration, video_clock_hz / 50);
    }
    // The newest sound and the newest picture are of about the same time.
    constexpr double most_s = 0.2;
    EXPECT_NEAR(static_cast<double>(taken.sound.back().pts - taken.units.back()->pts) / video_clock_hz, 0, most_s);
}

TEST(CameraVideo, TakesSoundOnlyForSubscribersThatWantIt) {
    HeardCamera heard;
    CameraVideo video(heard.camera, {});
    EXPECT_FALSE(heard.tap->is_wanted());
    const auto without = video.subscribe(nothing);
    ASSERT_TRUE(without->format());
    EXPECT_FALSE(heard.tap->is_wanted());
    const auto with = video.subscribe(nothing, true);
    EXPECT_TRUE(within_ten_seconds([&] { return heard.tap->is_wanted(); }));
}

TEST(CameraVideo, SubscriberThatSkipsPicturesSkipsTheirSound) {
    HeardCamera heard;
    CameraVideo video(heard.camera, {});
    const auto subscription = video.subscribe(nothing, true);
    ASSERT_TRUE(subscription->format());
    heard.play(0.3);
    heard.camera->show_instead(200);  // withdraws all pictures
    heard.play(0.3);
    const auto taken = subscription->take();
    ASSERT_FALSE(taken.units.empty());
    ASSERT_FALSE(taken.sound.empty());
    EXPECT_TRUE(taken.lost);
    EXPECT_GE(taken.sound.front().pts, taken.units.front()->pts);
}

// A busy machine delivers some pictures 0.2 s late and the next ones in a burst, but each access unit has the time of
// its frame: a multiple of 60 ms after the first one.
TEST(CameraVideo, LatePicturesHaveTheirOwnTimes) {
    HeardCamera heard;
    CameraVideo video(heard.camera, {});
    const auto subscription = video.subscribe(nothing, true);
    ASSERT_TRUE(subscription->format());
    constexpr double period_s = 0.06;
    constexpr std::array lateness_s{0.0, 0.0, 0.0, 0.0, 0.2, 0.16, 0.12, 0.08};
    const auto first = static_cast<int>(heard.seconds() / period_s) + 1;
    for (int i = 0; i < 40; ++i) {
        const double time = (first + i) * period_s,
                     due = time + lateness_s[static_cast<std::size_t>(i) % lateness_s.size()];
        std::this_thread::sleep_for(std::chrono::duration<double>(due - heard.seconds()));
        heard.show(heard.seconds() - time);
    }
    std::this_thread::sleep_for(60ms);
    const auto taken = subscription->take();
    ASSERT_GE(taken.units.size(), 30);
    constexpr double period_ticks = period_s * video_clock_hz, nearly_ticks = video_clock_hz / 500.0;
    for (const auto& unit : taken.units) {
        const auto since = static_cast<double>(unit->pts - taken.units.front()->pts);
        EXPECT_NEAR(std::remainder(since, period_ticks), 0, nearly_ticks) << since;
    }
}

// Sound pauses twice. Its format stays, silence fills the pauses without gaps or overlaps, and the sound that follows
// has its own time.
TEST(CameraVideo, SilenceFillsPausesOfTheSound) {
    HeardCamera heard;
    CameraVideo video(heard.camera, {});
    const auto subscription = video.subscribe(nothing, true);
    ASSERT_TRUE(subscription->format());
    std::vector<SoundUnit> all;
    const auto take = [&] {
        const auto taken = subscription->take();
        EXPECT_TRUE(taken.sound_format);
        EXPECT_FALSE(taken.lost || taken.ended);
        all.insert(all.end(), taken.sound.begin(), taken.sound.end());
    };
    for (int pause = 0; pause < 2; ++pause) {
        heard.play(0.4);
        take();
        for (const auto end = heard.seconds() + 1.2; heard.seconds() < end; std::this_thread::sleep_for(30ms)) {
            heard.show();
            take();
        }
        heard.packets = static_cast<int>(heard.seconds() / 0.02) + 1;
    }
    heard.play(0.4);
    take();
    const std::string silence(160, '\xff');
    std::size_t silent = 0, gaps = 0;
    for (std::size_t i = 1; i < all.size(); ++i) {
        silent += all[i].packet->bytes == silence;
        const auto gap = all[i].pts - all[i - 1].pts - all[i - 1].duration;
        ASSERT_GE(gap, 0) << i;
        gaps += gap > 0;
        ASSERT_LT(gap, video_clock_hz / 50) << i;  // a packet of silence would not fit
    }
    EXPECT_GE(silent, 20);
    EXPECT_LE(gaps, 3);
    // Packets are numbered by their times.
    const auto offset = [&](const SoundUnit& unit) {
        return unit.pts - std::stoll(unit.packet->bytes) * video_clock_hz / 50;
    };
    EXPECT_NEAR(static_cast<double>(offset(all.back())), static_cast<double>(offset(all.front())),
                video_clock_hz / 30.0);
}

// Packets that arrive 0.9 s after their pictures, as in transport streams, are at first taken for missing.
TEST(CameraVideo, LearnsThatSoundIsLate) {
    HeardCamera heard;
    CameraVideo video(heard.camera, {});
    const auto subscription = video.subscribe(nothing, true);
    ASSERT_TRUE(subscription->format());
    std::size_t silent = 0, sound = 0;
    for (const auto end = heard.seconds() + 4; heard.seconds() < end; std::this_thread::sleep_for(30ms)) {
        heard.show();
        for (; heard.packets * 0.02 < heard.seconds() - 0.9; ++heard.packets)
            heard.tap->add({.bytes = std::to_string(heard.packets), .seconds = heard.packets * 0.02, .samples = 160});
        for (const auto& unit : subscription->take().sound) {
            const bool is_silence = unit.packet->bytes == std::string(160, '\xff');
            EXPECT_FALSE(is_silence && sound > 0);
            ++(is_silence ? silent : sound);
        }
    }
    EXPECT_GE(sound, 80);
    EXPECT_GT(silent, 0);
}

TEST(CameraVideo, VariantIsSmaller) {
    const auto camera = std::make_shared<FakeCamera>("door", Shape{1, 360, 640, 3});
    camera->show(77);
    CameraVideos videos(camera, {});
    const auto video = videos.variant({.width = 160});
    const auto subscription = video->subscribe(nothing);
    const auto format = subscription->format();
    ASSERT_TRUE(format);
    EXPECT_EQ(format->width, 160);
    EXPECT_EQ(format->height, 90);
}

TEST(CameraVideo, VariantIsSlower) {
    const auto camera = std::make_shared<FakeCamera>("door", small);
    camera->show(1);
    CameraVideos videos(camera, {});
    const auto video = videos.variant({.max_rate = 10});
    const auto subscription = video->subscribe(nothing);
    EXPECT_EQ(subscription->format()->rate.value(), 10);
    const auto begin = Clock::now();
    for (int i = 0; i < 60; ++i) {
        camera->show(static_cast<std::uint8_t>(i));
        std::this_thread::sleep_for(begin + i * 33ms - Clock::now());
    }
    const auto seconds = milliseconds_since(begin) / 1000;
    const auto frames = static_cast<double>(video->statistics().frames);
    EXPECT_LE(frames, 10 * seconds + 2);
    EXPECT_GE(frames, 3 * seconds);
}

TEST(CameraVideos, ShareVariantsAndLimitTheirNumber) {
    const auto camera = std::make_shared<FakeCamera>("door", Shape{1, 360, 640, 3});
    CameraVideos videos(camera, {});
    std::vector<std::shared_ptr<CameraVideo>> held{videos.variant({})};
    EXPECT_EQ(videos.variant({}), held.front());
    // neither makes the picture smaller or slower
    EXPECT_EQ(videos.variant({.width = 640, .max_rate = 30}), held.front());
    for (const int width : {64, 128, 320}) held.push_back(videos.variant({.width = width}));
    EXPECT_THROW(videos.variant({.width = 400}), Error);
    EXPECT_EQ(videos.variant({.width = 320}), held.back());
    held.pop_back();
    EXPECT_TRUE(videos.variant({.width = 400}));
}

TEST(VideoVariant, Parses) {
    EXPECT_EQ(VideoVariant::parse(""), VideoVariant());
    EXPECT_EQ(VideoVariant::parse("width=640&max-rate=12.5&other=1"), (VideoVariant{.width = 640, .max_rate = 12.5}));
    EXPECT_EQ(to_string(VideoVariant{.width = 640, .max_rate = 12.5}), "width=640&max-rate=12.5");
    EXPECT_EQ(to_string(VideoVariant()), "");
    for (const auto* text : {"width=", "width=63", "width=65", "width=20000", "width=1e2", "max-rate=0", "max-rate=nan",
                             "max-rate=121", "max-rate=x"})
        EXPECT_THROW(VideoVariant::parse(text), Error) << text;
}

}  // namespace
}  // namespace framewire::service
