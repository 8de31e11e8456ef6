#include "framewire/jobs/configuration.hpp"
#include "framewire/core/error.hpp"
#include "framewire/media/media_testing.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

namespace framewire::jobs {
namespace {

using testing::error_of;

// Returns the problems of a configuration as "LINE:COLUMN: TEXT".
std::vector<std::string> problems_of(const std::string& text) {
    std::vector<std::string> problems;
    const auto configuration = parse_configuration(text, "x");
    for (const auto& problem : configuration.problems) problems.push_back(to_string(configuration, problem).substr(2));
    return problems;
}

void expect_problem(const std::string& text, const std::string& place, const std::string& words) {
    const auto problems = problems_of(text);
    ASSERT_EQ(problems.size(), 1u) << text;
    EXPECT_TRUE(problems.front().starts_with(place + ": ")) << problems.front();
    EXPECT_NE(problems.front().find(words), std::string::npos) << problems.front();
}

// Checks the error message for a text that is not a valid document.
void expect_refusal(const std::string& text, const std::string& words) {
    std::string message;
    EXPECT_EQ(error_of([&] { parse_configuration(text, "x"); }, &message), ErrorCode::config) << text.substr(0, 80);
    EXPECT_NE(message.find(words), std::string::npos) << message;
}

TEST(Configuration, SetsEveryOption) {
    const auto configuration = parse_configuration(R"(
listen: 0.0.0.0:8000
viewers: 12
webrtc-ports: 50000-50100
webrtc-address: 192.168.1.5
state: kept.json
record-dir: recordings
allow-host: cameras.example,gate
trusted-proxy: 127.0.0.1,10.0.0.0/8
base-path: /cams/
frame-ancestors: self,http://dashboard.local:8123
defaults:
  threshold: 12
  mode: bounded
  record: "{name}.fwd"
cameras:
  door:
    source: synth:size=64x48
    filters: [gray, "gaussian=5:sigma=1"]
    threshold: 8
    max-bitrate: 2M
    threshold-max: 40
    refine: 0
    controls: true
    loop: true
    rate: max
    reconnect: 30
    decode: cpu
    max-pixels: 2073600
    max-memory: 1.5G
  yard:
    source: synth
    start: 1:30
    detect:
      background: first
      blur: 7
      roi: ["0,0,10,10", "5,5,20,20"]
)",
                                                   "x");
    EXPECT_TRUE(configuration.problems.empty()) << to_string(configuration, configuration.problems.front());
    EXPECT_TRUE(configuration.warnings.empty()) << to_string(configuration, configuration.warnings.front());
    EXPECT_EQ(configuration.listener.listen.port, 8000);
    EXPECT_EQ(configuration.listener.viewers_limit, 12);
    EXPECT_EQ(configuration.webrtc.ports, std::pair(50000, 50100));
    EXPECT_EQ(configuration.webrtc.address, "192.168.1.5");
    EXPECT_EQ(configuration.live.state_path, "kept.json");
    EXPECT_EQ(configuration.live.record_folder, "recordings");
    EXPECT_EQ(configuration.listener.allowed_hosts, (std::vector<std::string>{"cameras.example", "gate"}));
    EXPECT_EQ(configuration.listener.trusted_proxies, (std::vector<std::string>{"127.0.0.1", "10.0.0.0/8"}));
    EXPECT_EQ(configuration.listener.base_path, "/cams");
    EXPECT_EQ(configuration.listener.frame_ancestors,
              (std::vector<std::string>{"self", "http://dashboard.local:8123"}));
    ASSERT_EQ(configuration.cameras.size(), 2u);
    const auto& door = configuration.cameras[0];
    EXPECT_EQ(door.server.stream, "door");
    EXPECT_EQ(door.input.source, "synth:size=64x48");
    EXPECT_EQ(door.input.filters, "gray,gaussian=5:sigma=1");
    EXPECT_EQ(door.encoder.threshold, 8);
    EXPECT_EQ(door.encoder.mode, codec::Mode::bounded);
    EXPECT_EQ(door.refine_seconds, 0);
    EXPECT_TRUE(door.input.accepts_control);
    EXPECT_EQ(door.record, "door.fwd");
    EXPECT_TRUE(door.input.loop);
    EXPECT_TRUE(door.hurries);
    ASSERT_TRUE(door.rate);
    EXPECT_EQ(door.rate->bits_per_second, 2e6);
    EXPECT_EQ(door.rate->threshold_max, 40);
    EXPECT_EQ(door.input.reconnect, std::chrono::seconds(30));
    EXPECT_EQ(door.input.decode, DecodeChoice::cpu);
    EXPECT_EQ(door.input.max_pixels, 1920 * 1080);
    EXPECT_EQ(door.input.max_memory_bytes, 1'500'000'000);
    EXPECT_FALSE(door.detector);
    const auto& yard = configuration.cameras[1];
    EXPECT_EQ(yard.encoder.threshold, 12);
    EXPECT_EQ(yard.input.start_seconds, 90);
    EXPECT_FALSE(yard.input.loop);
    ASSERT_TRUE(yard.detector);
    EXPECT_EQ(yard.detector->parameters.blur_px, 7);
    EXPECT_EQ(std::get<std::vector<Zone>>(yard.detector->region).size(), 2u);
}

TEST(Configuration, AcceptsDeprecatedNamesWithAWarning) {
    const auto configuration = parse_configuration(R"(defaults:
  refresh: 5
  panel: true
cameras:
  door:
    source: synth
  yard:
    source: synth
    refresh: 0
    panel: false
)",
                                                   "x");
    EXPECT_TRUE(configuration.problems.empty()) << to_string(configuration, configuration.problems.front());
    std::vector<std::string> warnings;
    for (const auto& warning : configuration.warnings) warnings.push_back(to_string(configuration, warning));
    EXPECT_EQ(warnings, (std::vector<std::string>{
                            "x:2:3: refresh is deprecated and will be removed in the next release; use refine",
                            "x:3:3: panel is deprecated and will be removed in the next release; use controls",
                            "x:9:5: refresh is deprecated and will be removed in the next release; use refine",
                            "x:10:5: panel is deprecated and will be removed in the next release; use controls",
                        }));
    ASSERT_EQ(configuration.cameras.size(), 2u);
    EXPECT_EQ(configuration.cameras[0].refine_seconds, 5);
    EXPECT_TRUE(configuration.cameras[0].input.accepts_control);
    EXPECT_EQ(configuration.cameras[1].refine_seconds, 0);
    EXPECT_FALSE(configuration.cameras[1].input.accepts_control);
}

// A camera's own setting overrides the default, whichever of the setting's two names each of them uses.
TEST(Configuration, OverridesDefaultsByEitherName) {
    for (const auto* names : {"refresh refine", "refine refresh"}) {
        const std::string first(names, std::string_view(names).find(' ')), second(names + first.size() + 1);
        const auto configuration = parse_configuration(
            "cameras:\n  door:\n    source: synth\n    " + first + ": 0\ndefaults:\n  " + second + ": 5\n", "x");
        ASSERT_EQ(configuration.cameras.size(), 1u) << names;
        EXPECT_EQ(configuration.cameras[0].refine_seconds, 0) << names;
    }
}

TEST(Configuration, ReportsErrorsWithTheirPosition) {
    const std::string camera = "cameras:\n  door:\n    source: synth\n";
    expect_problem(camera + "    treshold: 5\n", "4:5", "unknown key 'treshold'; did you mean 'threshold'?");
    expect_problem(camera + "    xyzzyxyzzyxyzzy: 5\n", "4:5", "allowed: source, filters");
    expect_problem(camera + "    threshold: 255\n", "4:16", "from 0 to 254");
    expect_problem(camera + "    threshold: [1, 2]\n", "4:5", "must have a single value");
    expect_problem(camera + "    mode: bonded\n", "4:11", "did you mean 'bounded'?");
    expect_problem(camera + "    filters: grey\n", "4:14", "did you mean 'gray'?");
    expect_problem(camera + "    filters:\n    - gray\n    - text:zise=4\n", "6:7", "zise");
    expect_problem(camera + "    max-bitrate: 2X\n", "4:18", "is not a bitrate");
    expect_problem(camera + "    loop: maybe\n", "4:11", "loop");
    expect_problem(camera + "    record: day.mp4\n", "4:13", ".fwd");
    expect_problem(camera + "    rate: fast\n", "4:11", "own, max");
    expect_problem(camera + "    reconnect: often\n", "4:16", "or forever");
    expect_problem(camera + "    max-pixels: many\n", "4:17", "from 1 to 268435456");
    expect_problem(camera + "    max-memory: much\n", "4:17", "such as 500M or 4G");
    expect_problem(camera + "    detect:\n      blurr: 5\n", "5:7", "did you mean 'blur'?");
    expect_problem(camera + "    detect:\n      roi: 1,2\n", "5:7", "zone");
    expect_problem(camera + "    detect:\n      track: kept=1\n", "5:14", "did you mean 'keep'?");
    expect_problem(camera + "    mode: lossless\n    threshold: 5\n", "2:3",
                   "threshold 5 cannot be combined with mode lossless");
    expect_problem(camera + "listen: nowhere\n", "4:9", "has no port");
    expect_problem(camera + "viewers: 0\n", "4:10", "from 1 to 10000");
    expect_problem(camera + "webrtc-ports: 9-5\n", "4:15", "range of ports");
    expect_problem(camera + "webrtc-ports: 0\n", "4:15", "range of ports");
    expect_problem(camera + "webrtc-address: camera.local\n", "4:17", "numeric address");
    expect_problem(camera + "allow-host: a,,b\n", "4:13", "'' is not a host name");
    expect_problem(camera + "trusted-proxy: 10.0.0.0/8,proxy\n", "4:16", "'proxy' is not a proxy address");
    expect_problem(camera + "base-path: cams\n", "4:12", "'cams' is not a valid base path");
    expect_problem(camera + "frame-ancestors: self,http://a/b\n", "4:18", "'http://a/b' is not a site");
    expect_problem(camera + "allow-host: http://a\n", "4:13", "'http://a' is not a host name");
    expect_problem(camera + "camera: 0\n", "4:1", "did you mean 'cameras'?");
    expect_problem(camera + "defaults:\n  source: synth\n", "5:3", "its own source");
    expect_problem(camera + "defaults:\n  threshold: no\n", "5:14", "threshold");
    expect_problem("cameras:\n  a b:\n    source: synth\n", "2:3", "'a b'");
    expect_problem("cameras:\n  door:\n    loop: true\n", "2:3", "has no source");
    expect_problem("cameras:\n  door:\n    source: /no/such/file.mkv\n", "3:13", "no such file");
    expect_problem("cameras:\n  door:\n    source: synth:sise=64x48\n", "3:13", "did you mean 'size'?");
    expect_problem("cameras:\n  door: synth\n", "2:3", "lines below it");
    expect_problem("cameras:\n", "1:1", "lines below it");
    expect_problem("cameras: {}\n", "1:1", "'cameras' is empty");
    expect_problem("viewers: 3\n", "1:1", "'cameras' is missing");
    expect_problem("", "1:1", "a map");
    expect_problem("- door\n", "1:1", "a map");
}

TEST(Configuration, ReportsAllErrorsInOrder) {
    const auto problems =
        problems_of("cameras:\n  b:\n    source: synth\n    wait: x\nviewers: -1\ndefaults:\n  efort: 1\n");
    ASSERT_EQ(problems.size(), 3u);
    EXPECT_TRUE(problems[0].starts_with("4:11")) << problems[0];
    EXPECT_TRUE(problems[1].starts_with("5:10")) << problems[1];
    EXPECT_TRUE(problems[2].starts_with("7:3")) << problems[2];
    std::string message;
    const auto configuration = parse_configuration("viewers: -1\nviewrs: 2\n", "a.yaml");
    EXPECT_EQ(error_of([&] { configuration.require_right(); }, &message), ErrorCode::config);
    EXPECT_TRUE(message.starts_with("a.yaml:1:")) << message;
    EXPECT_NE(message.find("framewire check a.yaml"), std::string::npos) << message;
}

TEST(Configuration, RejectsUnsupportedDocuments) {
    expect_refusal("cameras: [", "x:");
    expect_refusal("a: 1\na: 2\n", "first on line 1");
    expect_refusal("a: &x [1]\nb: *x\n", "x:2:4: aliases");
    expect_refusal("a: !!binary aGVsbG8=\n", "the tag");
    expect_refusal("[a]: 1\n", "a key must be a string");
    expect_refusal("{a: 1}: 1\n", "a key must be a string");
    expect_refusal("a: 1\n---\nb: 2\n", "a second YAML document");
    expect_refusal("a: " + std::string(20, '[') + std::string(20, ']'), "nested more than 8 levels deep");
    expect_refusal("a: " + std::string(100'000, '['), "x:");
    expect_refusal(std::string(max_document_bytes + 1, ' '), "larger than");
    std::string keys;
    for (int key = 0; key < 2000; ++key) keys += "k" + std::to_string(key) + ": 1\n";
    expect_refusal(keys, "more than 1000 keys");
}

// Event zones are in the configuration, as a list or with the members of a file, or in a file.
TEST(Configuration, ReadsEventZones) {
    const auto path = ::testing::TempDir() + "configuration_zones.json";
    const auto json = R"({"zones":[{"name":"7","line":[[0,0.5],[1,0.5]],"directions":["1","2"]}]})";
    std::ofstream(path) << json;
    const std::string yaml = "[{name: 7, line: [[0, 0.5], [1, 0.5]], directions: [1, 2]}]";
    for (const auto& zones : {yaml, "{zones: " + yaml + "}", path}) {
        const auto read =
            parse_configuration("cameras:\n  d:\n    source: synth\n    detect: true\n    zones: " + zones, "x");
        ASSERT_TRUE(read.problems.empty()) << to_string(read, read.problems[0]);
        EXPECT_EQ(read.cameras[0].event_zones, ZoneSet::parse(json, "z"));
        EXPECT_EQ(read.cameras[0].event_zones_path, zones == path ? path : "");
    }
    const std::string camera = "cameras:\n  d:\n    source: synth\n    detect: true\n    zones: ";
    expect_problem(camera + "[{name: a, line: [[0, 0], [2, 1]]}]", "5:5", "zones: zones[0].line[1][0]: is 2");
    expect_problem(camera + "missing.json", "5:12", "cannot read the zones in 'missing.json'");
    expect_problem("cameras:\n  d:\n    source: synth\n    zones: [{name: a, line: [[0, 0], [1, 1]]}]", "2:3",
                   "zones requires detect");
}

TEST(Configuration, ReadsAFile) {
    const testing::TemporaryFolder folder;
    const std::string text = "cameras:\n  door:\n    source: synth\n";
    testing::write_file(folder / "c.yaml", text.data(), text.size());
    EXPECT_EQ(read_configuration(folder / "c.yaml").cameras.size(), 1u);
    EXPECT_EQ(error_of([&] { read_configuration(folder / "none.yaml"); }), ErrorCode::no_input);
    EXPECT_EQ(error_of([&] { read_configuration(folder / ""); }), ErrorCode::no_input);
    EXPECT_EQ(error_of([&] { read_configuration("/dev/zero"); }), ErrorCode::config);
}

}  // namespace
}  // namespace framewire::jobs
