#include "framewire/service/mqtt.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace framewire::service {
namespace {

TEST(MqttAddress, ParsesAllParts) {
    const auto all = parse_mqtt_address("mqtts://bob:p%40ss%2Fw%25rd@broker.lan:8884/home/cams");
    EXPECT_TRUE(all.tls);
    EXPECT_EQ(all.user, "bob");
    EXPECT_EQ(all.password, "p@ss/w%rd");
    EXPECT_EQ(all.host, "broker.lan");
    EXPECT_EQ(all.port, 8884);
    EXPECT_EQ(all.prefix, "home/cams");
    EXPECT_EQ(to_string(all), "mqtts://broker.lan:8884/home/cams");
}

TEST(MqttAddress, HasDefaults) {
    for (const std::string text : {"mqtt://broker", "mqtt://broker/", "mqtt://broker:1883"}) {
        const auto plain = parse_mqtt_address(text);
        EXPECT_FALSE(plain.tls);
        EXPECT_EQ(plain.port, 1883) << text;
        EXPECT_EQ(plain.prefix, "framewire") << text;
        EXPECT_EQ(plain.user, "");
    }
    EXPECT_EQ(parse_mqtt_address("mqtts://broker").port, 8883);
    EXPECT_EQ(parse_mqtt_address("mqtt://[::1]").host, "::1");
    EXPECT_EQ(parse_mqtt_address("mqtt://[::1]:7").port, 7);
    EXPECT_EQ(parse_mqtt_address("mqtt://bob@broker").user, "bob");
    EXPECT_EQ(parse_mqtt_address("mqtt://bob:p@ss:w@broker").password, "p@ss:w");
    EXPECT_EQ(parse_mqtt_address("mqtt://broker/cams/").prefix, "cams");
}

TEST(MqttMessages, ZoneEventsHaveTheirOwnTopic) {
    const auto messages = messages_of({.type = Event::Type::zone, .camera = "door", .json = "{}"}, "cams");
    ASSERT_EQ(messages.size(), 2u);
    EXPECT_EQ(messages[0].topic, "cams/door/zone");
    EXPECT_EQ(messages[1].topic, "cams/events");
    for (const auto& message : messages) {
        EXPECT_EQ(message.payload, "{}");
        EXPECT_FALSE(message.retained);
    }
}

ZoneOccupancy yard_and_gate(bool occupied) {
    const std::vector<EventZone> zones{
        {.name = "back yard", .points = {{0, 0}, {1, 0}, {1, 1}}, .enter = true},
        {.name = R"(ga"te\ü)", .points = {{0.5, 0}, {0.5, 1}}, .cross = true, .directions = {"in", "out"}}};
    return {ZoneSet(zones), {occupied, false}};
}

TEST(MqttMessages, ZonesHaveTheirStateAndAreDiscovered) {
    const auto messages = zone_messages("homeassistant", "home/cams", "door.1", yard_and_gate(true));
    ASSERT_EQ(messages.size(), 3u);
    for (const auto& message : messages) EXPECT_TRUE(message.retained);
    EXPECT_EQ(messages[0].topic, "home/cams/door.1/zone/back_20yard");
    EXPECT_EQ(messages[0].payload, "ON");
    EXPECT_EQ(zone_messages("", "cams", "door", yard_and_gate(false)).at(0).payload, "OFF");
    EXPECT_EQ(zone_messages("", "cams", "door", yard_and_gate(false)).size(), 1u) << "nothing is discovered";

    EXPECT_EQ(messages[1].topic, "homeassistant/binary_sensor/framewire_home_cams/door_1_zone_back_20yard/config");
    const auto sensor = nlohmann::json::parse(messages[1].payload);
    EXPECT_EQ(sensor["name"], "back yard");
    EXPECT_EQ(sensor["unique_id"], "framewire/home/cams/door.1/zone/back_20yard");
    EXPECT_EQ(sensor["device_class"], "occupancy");
    EXPECT_EQ(sensor["state_topic"], messages[0].topic);
    EXPECT_EQ(sensor["availability_topic"], "home/cams/available");

    EXPECT_EQ(messages[2].topic, "homeassistant/event/framewire_home_cams/door_1_zone_ga_22te_5C_C3_BC/config");
    const auto event = nlohmann::json::parse(messages[2].payload);
    EXPECT_EQ(event["name"], R"(ga"te\ü)");
    EXPECT_EQ(event["state_topic"], "home/cams/door.1/zone");
    EXPECT_EQ(event["event_types"], nlohmann::json::parse(R"(["in","out"])"));
    EXPECT_EQ(event["value_template"],
              R"({% if value_json.event == "cross" and value_json.zone == "ga\"te\\ü" %})"
              R"({{ {"event_type": value_json.direction, "track": value_json.track} | to_json }}{% endif %})");
    const auto motion = nlohmann::json::parse(discovery_message("homeassistant", "home/cams", "door.1").payload);
    EXPECT_EQ(event["device"], motion["device"]) << "the entities of a camera are one device";
}

TEST(MqttMessages, PicturesAreDiscoveredAsACamera) {
    const auto message = picture_discovery_message("homeassistant", "home/cams", "door.1");
    EXPECT_EQ(message.topic, "homeassistant/camera/framewire_home_cams/door_1/config");
    EXPECT_TRUE(message.retained);
    const auto camera = nlohmann::json::parse(message.payload);
    const auto motion = nlohmann::json::parse(discovery_message("homeassistant", "home/cams", "door.1").payload);
    EXPECT_EQ(camera["unique_id"], "framewire/home/cams/door.1/picture");
    EXPECT_EQ(camera["device"], motion["device"]);
    const auto picture = picture_message("home/cams", "door.1", "jpeg");
    EXPECT_EQ(picture.topic, camera["topic"]);
    EXPECT_EQ(picture.payload, "jpeg");
    EXPECT_TRUE(picture.retained);
    EXPECT_TRUE(picture.may_be_lost);
}

// Invalid addresses are rejected, and no error message contains the password.
TEST(MqttAddress, ErrorsDoNotRevealThePassword) {
    for (const std::string text : {"",
                                   "mqtt:",
                                   "mqtt://",
                                   "http://bob:secret@broker",
                                   "mqtt://bob:secret@",
                                   "mqtt://bob:secret@:1883",
                                   "mqtt://bob:secret@broker:0",
                                   "mqtt://bob:secret@broker:65536",
                                   "mqtt://bob:secret@broker:x",
                                   "mqtt://bob:secret@::1",
                                   "mqtt://bob:sec/ret@broker",
                                   "mqtt://bob:secret",
                                   "mqtt://:secret@broker",
                                   "mqtt://bob:secret%4@broker",
                                   "mqtt://bob:secret%zz@broker",
                                   "mqtt://bob:secret%00@broker",
                                   "mqtt://bob:secret%-1@broker",
                                   "mqtt://bob:secret@broker/a//b",
                                   "mqtt://bob:secret@broker//a",
                                   "mqtt://bob:secret@broker/a+",
                                   "mqtt://bob:secret@broker/#",
                                   "mqtt://bob:secret@broker/$SYS",
                                   "mqtt://bob:secret@broker/a b",
                                   "mqtt://bob:secret@bro ker"})
        try {
            parse_mqtt_address(text);
            ADD_FAILURE() << text << " is taken";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage) << text;
            EXPECT_EQ(std::string(error.what()).find("sec"), std::string::npos) << error.what();
        }
    EXPECT_THROW(parse_mqtt_address("mqtt://broker/" + std::string(129, 'a')), Error);
    EXPECT_NO_THROW(parse_mqtt_address("mqtt://broker/" + std::string(64, 'a') + "/" + std::string(63, 'b')));
    EXPECT_THROW(parse_mqtt_address("mqtt://" + std::string(1025, 'a') + "@broker"), Error);
}

}  // namespace
}  // namespace framewire::service
