#include "framewire/detect/objects.hpp"
#include "framewire/core/error.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <span>
#include <string>

namespace framewire {
namespace {

constexpr Component objects[] = {
    {.id = 1, .x = 3, .y = 4, .width = 10, .height = 20, .area = 150, .sum_x = 1200, .sum_y = 2025},
    {.id = 4, .x = 0, .y = 30, .width = 5, .height = 1, .area = 3, .sum_x = 7, .sum_y = 90}};

std::string file_of(RecordFormat format) {
    ObjectRecords records(format);
    auto text = records.begin();
    text += records.add({.frame = 0, .time_s = 0, .width = 64, .height = 48, .objects = {}});
    text += records.add({.frame = 2, .time_s = 0.2, .width = 64, .height = 48, .objects = objects});
    text += records.add({.frame = 3, .time_s = 0.3, .width = 64, .height = 48, .objects = {objects, 1}});
    return text + records.end();
}

TEST(ObjectRecords, WritesJsonLines) {
    EXPECT_EQ(file_of(RecordFormat::jsonl),
              R"({"frame":0,"time":0.000000,"width":64,"height":48,"objects":[]}
{"frame":2,"time":0.200000,"width":64,"height":48,"objects":[{"id":1,"box":[3,4,10,20],"area":150,"centroid":[8.00,13.50]},{"id":4,"box":[0,30,5,1],"area":3,"centroid":[2.33,30.00]}]}
{"frame":3,"time":0.300000,"width":64,"height":48,"objects":[{"id":1,"box":[3,4,10,20],"area":150,"centroid":[8.00,13.50]}]}
)");
}

TEST(ObjectRecords, WritesScores) {
    const float scores[] = {1.23456f, -0.5f};
    EXPECT_EQ(
        to_json_line({.frame = 2, .time_s = 0.2, .width = 64, .height = 48, .objects = objects, .scores = scores}),
        R"({"frame":2,"time":0.200000,"width":64,"height":48,"objects":[{"id":1,"box":[3,4,10,20],"area":150,"centroid":[8.00,13.50],"score":1.2346},{"id":4,"box":[0,30,5,1],"area":3,"centroid":[2.33,30.00],"score":-0.5000}]}
)");
}

constexpr Track tracks[] = {{.id = 7,
                             .x = 3.4,
                             .y = 4,
                             .width = 5.5,
                             .height = 20,
                             .velocity_x = 31,
                             .velocity_y = -2.46,
                             .age_s = 1.2,
                             .object = 0},
                            {.id = 8, .x = 50, .y = 5, .width = 4, .height = 4, .unseen_s = 0.5, .object = -1},
                            {.id = 9, .x = 8, .y = 4, .width = 5, .height = 18, .age_s = 0.5, .object = 0}};

std::string tracked_file_of(RecordFormat format) {
    ObjectRecords records(format);
    auto text = records.begin();
    text += records.add({.frame = 2, .time_s = 0.2, .width = 64, .height = 48, .objects = objects, .tracks = tracks});
    return text + records.end();
}

TEST(ObjectRecords, WritesTracks) {
    EXPECT_EQ(
        tracked_file_of(RecordFormat::jsonl),
        R"({"frame":2,"time":0.200000,"width":64,"height":48,"objects":[{"id":1,"box":[3,4,6,20],"area":150,"centroid":[8.00,13.50],"track":7,"age":1.200,"velocity":[31.0,-2.5]},{"id":1,"box":[8,4,5,18],"area":150,"centroid":[8.00,13.50],"track":9,"age":0.500,"velocity":[0.0,0.0]},{"id":4,"box":[0,30,5,1],"area":3,"centroid":[2.33,30.00]}]}
)");
    EXPECT_EQ(tracked_file_of(RecordFormat::mot),
              "3,7,4.40,5.00,5.50,20.00,1,-1,-1,-1\n3,9,9.00,5.00,5.00,18.00,1,-1,-1,-1\n");
    EXPECT_EQ(tracked_file_of(RecordFormat::coco),
              R"({"categories":[{"id":1,"name":"moving object"}],"annotations":[
{"id":1,"image_id":2,"category_id":1,"bbox":[3,4,6,20],"area":150,"iscrowd":0,"track_id":7},
{"id":2,"image_id":2,"category_id":1,"bbox":[8,4,5,18],"area":150,"iscrowd":0,"track_id":9},
{"id":3,"image_id":2,"category_id":1,"bbox":[0,30,5,1],"area":3,"iscrowd":0}],"images":[
{"id":2,"width":64,"height":48,"file_name":"frame000002"}]}
)");
}

TEST(ObjectRecords, WritesTheSourceName) {
    EXPECT_EQ(to_json_line({.frame = 7, .width = 64, .height = 48, .source = "a \"b\".jpg"}),
              R"({"frame":7,"source":"a \"b\".jpg","time":0.000000,"width":64,"height":48,"objects":[]})"
              "\n");
    EXPECT_EQ(to_json_line({.frame = 7, .width = 64, .height = 48, .source = "caf\xe9.png"}),
              "{\"frame\":7,\"source\":\"caf\xef\xbf\xbd.png\",\"time\":0.000000,\"width\":64,\"height\":48,"
              "\"objects\":[]}\n");
}

TEST(ObjectRecords, WritesEvents) {
    const auto zone = std::make_shared<const EventZone>(EventZone{.name = "yard"});
    const ZoneEvent events[] = {{.type = ZoneEvent::Type::enter, .zone = zone, .track = 7, .x = 1, .width = 2}};
    EXPECT_EQ(to_json_line({.frame = 7, .width = 64, .height = 48, .events = events}),
              R"({"frame":7,"time":0.000000,"width":64,"height":48,"objects":[],"events":[)"
              R"({"event":"enter","zone":"yard","track":7,"box":[1,0,2,0]}]})"
              "\n");
    EXPECT_EQ(to_json_line({.frame = 7, .width = 64, .height = 48, .events = std::span<const ZoneEvent>()}),
              R"({"frame":7,"time":0.000000,"width":64,"height":48,"objects":[],"events":[]})"
              "\n");
}

TEST(ObjectRecords, WritesCoco) {
    EXPECT_EQ(file_of(RecordFormat::coco), R"({"categories":[{"id":1,"name":"moving object"}],"annotations":[
{"id":1,"image_id":2,"category_id":1,"bbox":[3,4,10,20],"area":150,"iscrowd":0},
{"id":2,"image_id":2,"category_id":1,"bbox":[0,30,5,1],"area":3,"iscrowd":0},
{"id":3,"image_id":3,"category_id":1,"bbox":[3,4,10,20],"area":150,"iscrowd":0}],"images":[
{"id":0,"width":64,"height":48,"file_name":"frame000000"},
{"id":2,"width":64,"height":48,"file_name":"frame000002"},
{"id":3,"width":64,"height":48,"file_name":"frame000003"}]}
)");
}

TEST(ObjectRecords, WritesValidCocoWithoutFrames) {
    ObjectRecords records(RecordFormat::coco);
    EXPECT_EQ(records.begin() + records.end(),
              "{\"categories\":[{\"id\":1,\"name\":\"moving object\"}],\"annotations\":[],\"images\":[]}\n");
}

TEST(ObjectRecords, MotFramesAndPositionsStartAtOne) {
    EXPECT_EQ(file_of(RecordFormat::mot),
              "3,-1,4,5,10,20,1,-1,-1,-1\n3,-1,1,31,5,1,1,-1,-1,-1\n4,-1,4,5,10,20,1,-1,-1,-1\n");
}

TEST(ObjectRecords, RejectsUnknownFormats) {
    EXPECT_EQ(parse_record_format("coco"), RecordFormat::coco);
    EXPECT_THROW(parse_record_format("xml"), Error);
}

}  // namespace
}  // namespace framewire
