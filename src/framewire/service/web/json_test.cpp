#include "framewire/service/web/json.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace framewire::service::web {
namespace {

TEST(ControlRequestBodies, ValidBodiesAreParsed) {
    EXPECT_EQ(read_chain_request(R"({"chain":"gaussian=5,text={fps}"})"), "gaussian=5,text={fps}");
    EXPECT_EQ(read_chain_request(R"( {"chain" : ""} )"), "");
    EXPECT_EQ(std::get<FilterRequest>(read_control_request(R"({"filter":2,"on":false})", {})),
              (FilterRequest{2, false}));
    EXPECT_TRUE(read_record_request(R"({"on":true})"));
    EXPECT_NO_THROW(read_empty_request("{}"));
    const auto request = read_threshold_request(R"({"threshold":12,"mode":"bounded"})");
    EXPECT_EQ(request.threshold, 12);
    EXPECT_EQ(request.mode, codec::Mode::bounded);
    EXPECT_FALSE(read_threshold_request(R"({"mode":"lossless"})").threshold);
    EXPECT_EQ(read_zones_request(R"({"zones":[]})").size(), 0u);
    const auto zones = read_zones_request(R"({"zones":[{"kind":"mosaic","x":1,"y":2,"width":3,"height":4},
                                      {"kind":"detect","x":0,"y":0,"width":64,"height":48}]})");
    EXPECT_EQ(zones, (std::vector<LiveZone>{{LiveZone::Kind::mosaic, {1, 2, 3, 4}},
                                            {LiveZone::Kind::detect, {0, 0, 64, 48}}}));
}

TEST(ControlRequestBodies, OmittedControlsKeepTheirValues) {
    const Adjustment now{.brightness = 5, .contrast = 2, .saturation = 0.5, .gain = 3};
    const auto set = [&](const char* body) { return std::get<Adjustment>(read_control_request(body, now)); };
    EXPECT_EQ(set(R"({"brightness":-10})"), (Adjustment{-10, 2, 0.5, 3}));
    EXPECT_EQ(set(R"({"contrast":1.25,"gain":1})"), (Adjustment{5, 1.25, 0.5, 1}));
    EXPECT_EQ(set(R"({"brightness":0,"contrast":1,"saturation":1,"gain":1})"), Adjustment{});
}

struct Wrong {
    void (*read)(const std::string& body);
    std::string body;
    std::string words;
};

void chain(const std::string& body) { read_chain_request(body); }
void controls(const std::string& body) { read_control_request(body, {}); }
void threshold(const std::string& body) { read_threshold_request(body); }
void zones(const std::string& body) { read_zones_request(body); }
void record(const std::string& body) { read_record_request(body); }

std::string many_zones(int count) {
    std::string all;
    for (int zone = 0; zone < count; ++zone)
        all += std::string(zone ? "," : "") + R"({"kind":"privacy","x":0,"y":0,"width":1,"height":1})";
    return R"({"zones":[)" + all + "]}";
}

TEST(ControlRequestBodies, InvalidBodiesAreExplained) {
    const Wrong all[] = {
        {chain, "", "not valid JSON"},
        {chain, "{\"chain\":\"a\"", "not valid JSON: error at byte"},
        {chain, "{\"chain\":\"a\"} x", "not valid JSON"},
        {chain, "[1]", "it must be an object"},
        {chain, "{}", "is empty; allowed: chain"},
        {chain, R"({"chain":1})", "chain is 1; allowed: a string"},
        {chain, R"({"chain":"a","chain":"b"})", "'chain' is given twice"},
        {chain, R"({"chian":"a"})", "the unknown key 'chian'; allowed: chain; did you mean 'chain'?"},
        {chain, "{\"chain\":\"\xff\"}", "not valid JSON"},
        {chain, R"({"chain":{"a":{"b":{"c":{"d":{"e":1}}}}}})", "nested deeper"},
        {controls, R"({"brightness":300})",
         "brightness '300' is out of range; allowed: a whole number from -255 to 255"},
        {controls, R"({"brightness":1.5})", "brightness '1.5'"},
        {controls, R"({"contrast":"1:gain=2"})", "contrast is of type string; allowed: a number"},
        {controls, R"({"contrast":1e999})", "too large"},
        {controls, R"({"hue":1})", "the unknown key 'hue'; allowed: brightness, contrast"},
        {controls, R"({"filter":2})", "'on' is missing"},
        {controls, R"({"filter":2,"on":1})", "on is 1; allowed: true or false"},
        {controls, R"({"filter":0,"on":true})", "filter 0 is out of range"},
        {controls, R"({"filter":18446744073709551615,"on":true})", "out of range"},
        {controls, R"({"filter":1,"on":true,"gain":2})", "the unknown key 'gain'"},
        {threshold, R"({"threshold":255})", "threshold '255' is out of range"},
        {threshold, R"({"threshold":-1})", "threshold '-1' is out of range"},
        {threshold, R"({"threshold":2.0})", "threshold is 2.0; allowed: a whole number"},
        {threshold, R"({"mode":"exakt"})", "did you mean 'exact'?"},
        {threshold, "{}", "is empty; allowed: threshold, mode"},
        {zones, R"({"zones":{}})", "it must be an array"},
        {zones, R"({"zones":[1]})", "a zone is of type number"},
        {zones, R"({"zones":[{"kind":"secret","x":0,"y":0,"width":1,"height":1}]})",
         "allowed: privacy, mosaic and detect"},
        {zones, R"({"zones":[{"kind":"mosaic","x":-1,"y":0,"width":1,"height":1}]})", "x -1 is out of range"},
        {zones, R"({"zones":[{"kind":"mosaic","x":0,"y":0,"width":0,"height":1}]})", "width 0 is out of range"},
        {zones, R"({"zones":[{"kind":"mosaic","x":0,"y":0,"width":1}]})", "'height' is missing"},
        {zones, many_zones(65), "65 zones; the limit is 64"},
        {record, R"({"on":"yes"})", "on is of type string; allowed: true or false"},
        {record, R"({"on":null})", "on is of type null"},
    };
    for (const auto& wrong : all) try {
            wrong.read(wrong.body);
            ADD_FAILURE() << wrong.body << " was taken";
        } catch (const Error& error) {
            EXPECT_EQ(error.code(), ErrorCode::usage) << wrong.body;
            EXPECT_NE(std::string(error.what()).find(wrong.words), std::string::npos) << error.what();
        }
    EXPECT_EQ(read_zones_request(many_zones(64)).size(), 64u);
}

}  // namespace
}  // namespace framewire::service::web
