#include "framewire/service/mqtt_pictures.hpp"
#include "framewire/core/buffer.hpp"
#include "framewire/media/image_formats.hpp"
#include "framewire/service/web/site_testing.hpp"
#include "kit/eventually.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace framewire::service {
namespace {

using namespace std::chrono_literals;
using When = MqttPictureRules::When;

HostImage noise(const Shape& shape) {
    HostImage image(shape);
    std::mt19937 random(7);
    for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.row_bytes(); ++x) image.view().row(0, y)[x] = static_cast<std::uint8_t>(random());
    return image;
}

// Halves as the header says, pixel by pixel.
HostImage halved_ref(const HostImage& image) {
    const auto from = image.view();
    const auto& shape = from.shape();
    HostImage half({1, (shape.height + 1) / 2, (shape.width + 1) / 2, shape.channels});
    const auto at = [&](int y, int x, int c) {
        return int{from.row(0, std::min(y, shape.height - 1))[std::min(x, shape.width - 1) * shape.channels + c]};
    };
    for (int y = 0; y < half.view().shape().height; ++y)
        for (int x = 0; x < half.view().shape().width; ++x)
            for (int c = 0; c < shape.channels; ++c)
                half.view().row(0, y)[x * shape.channels + c] =
                    static_cast<std::uint8_t>((at(2 * y, 2 * x, c) + at(2 * y, 2 * x + 1, c) + at(2 * y + 1, 2 * x, c) +
                                               at(2 * y + 1, 2 * x + 1, c) + 2) /
                                              4);
    return half;
}

TEST(MqttPicture, IsHalvedUntilItFits) {
    const auto small = noise({1, 90, 1280, 1});
    EXPECT_TRUE(mqtt_picture(std::as_const(small).view()) == encode_jpeg(std::as_const(small).view()));
    const auto wide = noise({1, 101, 1281, 3});
    const auto half = halved_ref(wide);
    EXPECT_TRUE(mqtt_picture(std::as_const(wide).view()) == encode_jpeg(half.view()));
    const auto thin = noise({1, 2600, 1, 1});
    EXPECT_TRUE(mqtt_picture(std::as_const(thin).view()) == encode_jpeg(halved_ref(halved_ref(thin)).view()));
    // Noise of this size fits the limit of pixels, but not that of bytes.
    const auto heavy = noise({1, 1280, 1280, 3});
    ASSERT_GT(encode_jpeg(std::as_const(heavy).view()).size(), mqtt_picture_most_bytes);
    const auto file = mqtt_picture(std::as_const(heavy).view());
    EXPECT_LE(file.size(), mqtt_picture_most_bytes);
    EXPECT_TRUE(file == encode_jpeg(halved_ref(heavy).view()));
}

// A camera whose requests withdraw pictures.
class MaskedCamera final : public web::FakeCamera {
public:
    using FakeCamera::FakeCamera;
    std::uint64_t oldest_picture_version() const override { return oldest_; }
    void withdraw_before(std::uint64_t version) { oldest_ = version; }

private:
    std::atomic<std::uint64_t> oldest_{0};
};

struct Broker {
    explicit Broker(const MqttPictureRules& rules) : pictures(rules, [this] { ++woken; }) {
        pictures.show(std::vector<std::shared_ptr<LiveCamera>>{camera});
    }

    // Waits for the next picture and sends it.
    std::optional<MqttPictures::Picture> next() {
        std::optional<MqttPictures::Picture> taken;
        kit::eventually([&] { return (taken = pictures.take()).has_value(); });
        if (taken) pictures.sent(taken->camera);
        return taken;
    }
    // Returns true if there is no picture within a time in which the thread looks at the camera at least twice.
    bool rests() {
        std::this_thread::sleep_for(300ms);
        return !pictures.take();
    }
    // Expects the picture of FakeCamera::show(value).
    void expect_next(std::uint8_t value) {
        const auto picture = next();
        ASSERT_TRUE(picture);
        EXPECT_EQ(picture->camera, "door");
        HostImage same({1, 12, 16, 3});
        std::ranges::fill(std::span(same.view().data(), 12 * 16 * 3), value);
        EXPECT_TRUE(picture->jpeg == encode_jpeg(same.view()));
    }

    std::shared_ptr<MaskedCamera> camera = std::make_shared<MaskedCamera>("door");
    std::atomic<int> woken{0};
    MqttPictures pictures;
};

TEST(MqttPictures, AreDueOncePerPeriodAndConnection) {
    Broker broker({.when = When::always, .period = 1s});
    broker.camera->show(10);
    EXPECT_TRUE(broker.rests()) << "there is no connection";
    broker.pictures.set_connected(true);
    broker.expect_next(10);
    EXPECT_EQ(broker.woken, 1);
    const auto first = Clock::now();
    EXPECT_TRUE(broker.rests()) << "the picture is the same";
    broker.camera->show(20);
    broker.expect_next(20);
    EXPECT_GE(Clock::now() - first, 600ms);
    EXPECT_TRUE(broker.rests());
    broker.pictures.set_connected(false);
    broker.pictures.set_connected(true);
    broker.expect_next(20);
}

TEST(MqttPictures, AreDueOnlyDuringMotion) {
    Broker broker({.when = When::motion, .period = 1ms});
    broker.camera->show(10);
    broker.pictures.set_connected(true);
    broker.expect_next(10);
    broker.camera->show(20);
    EXPECT_TRUE(broker.rests());
    broker.pictures.set_motion("yard", true);
    EXPECT_TRUE(broker.rests()) << "it is another camera's motion";
    broker.pictures.set_motion("door", true);
    broker.expect_next(20);
    broker.camera->show(30);
    broker.expect_next(30);
    broker.pictures.set_motion("door", false);
    broker.camera->show(40);
    EXPECT_TRUE(broker.rests());
}

// A slow broker gets fewer pictures: there is no next one while one is on its way.
TEST(MqttPictures, WaitForTheOneOnItsWay) {
    Broker broker({.when = When::always, .period = 1ms});
    broker.pictures.set_connected(true);
    broker.camera->show(10);
    std::optional<MqttPictures::Picture> taken;
    ASSERT_TRUE(kit::eventually([&] { return (taken = broker.pictures.take()).has_value(); }));
    broker.camera->show(20);
    broker.camera->show(30);
    EXPECT_TRUE(broker.rests());
    broker.pictures.sent("door");
    broker.expect_next(30);
}

// A privacy mask withdraws the picture that waits, and replaces the one that the broker has, even without motion.
TEST(MqttPictures, AreReplacedIfTheyAreWithdrawn) {
    Broker broker({.when = When::motion, .period = 1h});
    broker.pictures.set_connected(true);
    broker.camera->show(10);
    ASSERT_TRUE(kit::eventually([&] { return broker.woken == 1; }));
    broker.camera->withdraw_before(2);
    EXPECT_TRUE(broker.rests()) << "the withdrawn picture is not sent";
    broker.camera->show(20);
    broker.expect_next(20);
    broker.camera->show(30);
    EXPECT_TRUE(broker.rests());
    broker.camera->withdraw_before(3);
    broker.expect_next(30);
}

TEST(MqttPictures, AreNotTakenIfTheyAreOff) {
    Broker broker({});
    broker.camera->show(10);
    broker.pictures.set_connected(true);
    EXPECT_TRUE(broker.rests());
    EXPECT_EQ(broker.camera->pictures_taken(), 0);
}

}  // namespace
}  // namespace framewire::service
