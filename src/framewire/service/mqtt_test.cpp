#include "framewire/service/mqtt.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

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
