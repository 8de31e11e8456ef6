#include "framewire/service/control.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <string>

namespace framewire::service {
namespace {

TEST(Control, RoundTripsThroughText) {
    const ControlRequest requests[] = {Adjustment{}, Adjustment{.brightness = -12, .contrast = 1.25, .gain = 8},
                                       FilterRequest{3, false}, FilterRequest{1, true}};
    for (const auto& request : requests) EXPECT_EQ(parse_control(to_text(request)), request) << to_text(request);
    EXPECT_EQ(parse_control("adjust contrast=2"), ControlRequest(Adjustment{.contrast = 2}));
}

TEST(Control, RejectsInvalidRequests) {
    for (const std::string text :
         {"", "adjust", "adjust ", "adjust brightness=256", "adjust brightness=1e9", "adjust colour=1",
          "adjust brightness=1,gaussian=5", "adjust contrast=nan", "adjust 'brightness", "filter", "filter on",
          "filter 1", "filter 1 of", "filter -1 on", "filter 1  on", "filter 99999999999999999999 on", "filter 1 on\n",
          "gaussian=5", "ADJUST brightness=1"})
        EXPECT_THROW(parse_control(text), Error) << text;
    EXPECT_THROW(parse_control("adjust brightness=" + std::string(10'000, '0')), Error);
    try {
        parse_control("open the door");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::usage);
        EXPECT_NE(std::string(error.what()).find("'filter 2 off'"), std::string::npos) << error.what();
    }
}

TEST(Control, RoundTripsTheState) {
    const Controls controls{.adjustment = {.brightness = 3, .saturation = 0.5},
                            .fixed_because = "no camera",
                            .filters = {{"gaussian=5", false, ""}, {"text='\"x\\'", true, "it is \"so\""}}};
    EXPECT_EQ(parse_controls(to_json(controls)), controls);
    EXPECT_EQ(parse_controls(to_json(Controls{})), Controls{});
    for (const char* text : {"", "{}", "[]", "null", "{\"adjust\":1,\"filters\":[]}"})
        EXPECT_THROW(parse_controls(text), Error) << text;
    // If truncated to 32 bits, 4294967299 and 18446744073709551615 would become 3 and -1.
    for (const char* brightness :
         {"3000", "4294967299", "-4294967293", "18446744073709551615", "1e99", "3.5", "true", "\"3\"", "null"}) {
        auto wrong = to_json(controls);
        wrong.replace(wrong.find("\"brightness\":3"), 14, std::string("\"brightness\":") + brightness);
        EXPECT_THROW(parse_controls(wrong), Error) << brightness;
    }
    Controls many;
    many.filters.resize(max_chain_filters + 1);
    EXPECT_THROW(parse_controls(to_json(many)), Error);
}

}  // namespace
}  // namespace framewire::service
