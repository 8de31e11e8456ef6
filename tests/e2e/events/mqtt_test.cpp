// Tests events with real brokers: which messages the brokers receive, and that nothing is lost when they or framewire
// are killed.
#include "e2e/events/brokers.hpp"
#include "e2e/shell.hpp"
#include "kit/needs.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <map>
#include <optional>
#include <set>

#include <sys/stat.h>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

class Mqtt : public ::testing::Test {
protected:
    void SetUp() override {
        FRAMEWIRE_NEEDS(brokers_are_installed(),
                        "mosquitto, mosquitto-clients and nats-server (Debian) are not installed");
    }
};

// Source in which something always moves; the detector finds it from some frame on.
const std::string busy_room = "synth:size=160x120:fps=20:noise=0:objects=3:seed=3";

std::vector<std::string> serve(const std::string& broker, std::vector<std::string> more,
                               const std::string& source = busy_room) {
    more.insert(more.begin(), {"serve", "--backend", "cpu", "--listen", "127.0.0.1:0", "--detect", "--name", "door",
                               "-i", source, "--mqtt", broker});
    return framewire(std::move(more));
}

// Counts how often each event identifier occurs.
std::map<std::string, int> counted(const std::vector<Json>& events) {
    std::map<std::string, int> ids;
    for (const auto& event : events) ++ids[event["id"].get<std::string>()];
    return ids;
}

// Expects the events of each run of framewire to be numbered from 1 without gaps; returns the number of duplicates.
int expect_all(const std::vector<Json>& events, std::size_t reported) {
    const auto ids = counted(events);
    EXPECT_EQ(ids.size(), reported);
    std::map<std::string, std::set<int>> runs;
    int doubled = 0;
    for (const auto& [id, times] : ids) {
        const auto dash = id.rfind('-');
        runs[id.substr(0, dash)].insert(std::stoi(id.substr(dash + 1)));
        doubled += times - 1;
    }
    for (const auto& [run, numbers] : runs) {
        EXPECT_EQ(*numbers.begin(), 1) << run;
        EXPECT_EQ(*numbers.rbegin(), std::ssize(numbers)) << run << " lacks some";
    }
    return doubled;
}

// Expects the events to be in order, ignoring repeated ones.
void expect_in_order(const std::vector<Json>& events) {
    std::set<std::string> seen;
    std::map<std::string, int> last;
    for (const auto& event : events) {
        const auto id = event["id"].get<std::string>();
        if (!seen.insert(id).second) continue;
        const auto dash = id.rfind('-');
        const int number = std::stoi(id.substr(dash + 1));
        EXPECT_GT(number, last[id.substr(0, dash)]) << id;
        last[id.substr(0, dash)] = number;
    }
}

// Returns the address of the page, without its final slash, from the lines that `serve` prints.
std::string page_of(const std::string& words) {
    const auto page = words.find("http://");
    return words.substr(page, words.find("/\n", page) - page);
}

int times_in(const std::string& text, const std::string& words) {
    int times = 0;
    for (auto at = text.find(words); at != text.npos; at = text.find(words, at + words.size())) ++times;
    return times;
}

// Counts the complete lines of events in a spool file, which may not exist yet.
std::size_t events_in(const std::string& path) {
    std::ifstream file(path);
    std::size_t events = 0;
    for (std::string line; std::getline(file, line) && !file.eof();) events += line.starts_with('+') ? 1 : 0;
    return events;
}

TEST_F(Mqtt, PublishesEventsMotionAndHomeAssistantDiscovery) {
    const TemporaryFolder folder;
    Mosquitto broker;
    broker.start();
    const Subscriber all(broker, "#");
    Program serving(serve(broker.url("home/cams"), {"--frames", "60", "--stats", folder / "stats.json"}));
    EXPECT_EQ(serving.wait().code, 0) << serving.err();
    const auto figures = Json::parse(contents(folder / "stats.json"));
    const auto reported =
        figures["events"]["objects"].get<std::size_t>() + figures["events"]["motion"].get<std::size_t>();
    EXPECT_GT(reported, 20u);
    EXPECT_EQ(figures["mqtt"]["acknowledged"], reported);
    EXPECT_EQ(figures["mqtt"]["waiting"], 0);
    EXPECT_EQ(figures["mqtt"]["connections"], 1);
    ASSERT_TRUE(all.wait_for(2 * reported + 3))
        << "expected each event on two topics, the discovery message, online and offline";

    std::map<std::string, std::vector<std::string>> topics;
    for (const auto& [topic, payload] : all.messages()) topics[topic].push_back(payload);
    EXPECT_EQ(topics["home/cams/available"], (std::vector<std::string>{"online", "offline"}));
    EXPECT_EQ(topics["home/cams/events"].size(), reported);
    EXPECT_EQ(topics["home/cams/door/objects"].size(), figures["events"]["objects"]);
    auto motion = topics["home/cams/door/motion"];
    EXPECT_EQ(motion.front(), "OFF");
    EXPECT_EQ(motion[motion.size() - 2], "ON");
    EXPECT_EQ(motion.back(), "OFF");
    EXPECT_EQ(expect_all(all.events(), reported), 0);
    expect_in_order(all.events());
    const auto found = Json::parse(topics["home/cams/door/objects"][10]);
    EXPECT_EQ(found["camera"], "door");
    EXPECT_EQ(found["width"], 160);
    EXPECT_EQ(found["objects"][0]["box"].size(), 4u);

    const auto config = Json::parse(retained(broker, "homeassistant/binary_sensor/framewire_home_cams/door/config"));
    EXPECT_EQ(config["state_topic"], "home/cams/door/motion");
    EXPECT_EQ(config["availability_topic"], "home/cams/available");
    EXPECT_EQ(config["device_class"], "motion");
    EXPECT_EQ(retained(broker, "home/cams/door/motion"), "OFF");
}

// Zones are published with their state and Home Assistant's discovery, and removed when a request removes them.
TEST_F(Mqtt, PublishesZonesAndRemovesThem) {
    const TemporaryFolder folder;
    Mosquitto broker;
    broker.start();
    const Subscriber all(broker, "#");
    std::ofstream(folder / "zones.json") << R"({"zones":[{"name":"room","polygon":[[0,0],[1,0],[1,1],[0,1]]},)"
                                         << R"({"name":"gate","line":[[0.5,0],[0.5,1]]}]})";
    Program serving(serve(broker.url("cams"), {"--controls", "--zones", folder / "zones.json"}));
    const auto newest = [&](const std::string& topic) -> std::optional<std::string> {
        std::optional<std::string> payload;
        for (const auto& message : all.messages())
            if (message.topic == topic) payload = message.payload;
        return payload;
    };
    const std::string room = "cams/door/zone/room";
    const std::string sensor = "homeassistant/binary_sensor/framewire_cams/door_zone_room/config";
    const std::string crossings = "homeassistant/event/framewire_cams/door_zone_gate/config";
    ASSERT_TRUE(becomes_true([&] { return newest(room) == "ON"; })) << serving.err();
    EXPECT_EQ(Json::parse(retained(broker, sensor))["state_topic"], room);
    EXPECT_EQ(Json::parse(retained(broker, crossings))["event_types"], Json::parse(R"(["right","left"])"));

    const auto url = page_of(serving.err());
    const auto remove = [&](const std::string& zones) {
        printed_by(
            fmt::format("curl -sS --max-time 20 -X PUT -H 'Content-Type: application/json' -d '{}' "
                        "{}/api/cameras/door/event-zones",
                        zones, url));
    };
    remove(R"({"zones":[{"name":"gate","line":[[0.5,0],[0.5,1]]}]})");
    EXPECT_TRUE(becomes_true([&] { return newest(room) == "" && newest(sensor) == ""; })) << serving.err();
    EXPECT_NE(newest(crossings), "");
    remove(R"({"zones":[]})");
    EXPECT_TRUE(becomes_true([&] { return newest(crossings) == ""; })) << serving.err();
    serving.signal(SIGINT);
    serving.wait();
}

// Returns the bytes of the retained JPEG file of a topic.
std::string retained_file(const Broker& broker, const std::string& topic) {
    const auto digits = retained(broker, topic, {"-F", "%x"});
    std::string bytes;
    for (std::size_t at = 0; at + 1 < digits.size(); at += 2)
        bytes += static_cast<char>(std::stoi(digits.substr(at, 2), nullptr, 16));
    return bytes;
}

// Decodes a JPEG file of 64x48 pixels and returns its mean over all bytes.
double mean_of(const std::string& jpeg, const TemporaryFolder& folder) {
    std::ofstream(folder / "picture.jpg", std::ios::binary) << jpeg;
    const auto ran =
        Program(framewire({"run", "-y", "-i", folder / "picture.jpg", "-o", folder / "picture.bgr"})).wait();
    EXPECT_EQ(ran.code, 0) << ran.err;
    const auto pixels = contents(folder / "picture.bgr");
    EXPECT_EQ(pixels.size(), 64u * 48 * 3);
    double sum = 0;
    for (const unsigned char value : pixels) sum += value;
    return sum / static_cast<double>(pixels.size());
}

// Home Assistant discovers the pictures. A privacy mask replaces the picture that the broker keeps, without motion.
TEST_F(Mqtt, PublishesPicturesAndReplacesWithdrawnOnes) {
    const TemporaryFolder folder;
    Mosquitto broker;
    broker.start();
    Program serving(serve(broker.url("cams"),
                          {"--controls", "--mqtt-pictures", "motion", "--stats", folder / "stats.json"},
                          "lavfi:color=white:size=64x48:rate=10"));
    ASSERT_TRUE(serving.wait_for_err("events are sent to")) << serving.err();
    const auto config = Json::parse(retained(broker, "homeassistant/camera/framewire_cams/door/config"));
    EXPECT_EQ(config["topic"], "cams/door/picture");
    EXPECT_EQ(config["availability_topic"], "cams/available");
    EXPECT_EQ(config["device"],
              Json::parse(retained(broker, "homeassistant/binary_sensor/framewire_cams/door/config"))["device"]);
    const auto white = retained_file(broker, "cams/door/picture");
    ASSERT_TRUE(white.starts_with("\xff\xd8")) << white.size();
    EXPECT_GT(mean_of(white, folder), 250);

    const auto answer = printed_by(
        fmt::format("curl -sS --max-time 20 -X PUT -H 'Content-Type: application/json' -d '{}' "
                    "{}/api/cameras/door/zones",
                    R"({"zones":[{"kind":"privacy","x":0,"y":0,"width":64,"height":48}]})", page_of(serving.err())));
    EXPECT_NE(answer.find("privacy"), std::string::npos) << answer;
    EXPECT_TRUE(becomes_true([&] { return retained_file(broker, "cams/door/picture") != white; }));
    EXPECT_LT(mean_of(retained_file(broker, "cams/door/picture"), folder), 5);
    serving.signal(SIGINT);
    EXPECT_EQ(serving.wait().code, 128 + SIGINT) << serving.err();
    EXPECT_EQ(Json::parse(contents(folder / "stats.json"))["mqtt"]["pictures"], 2);
}

// Pictures follow the rate, and start again after the broker has been restarted.
TEST_F(Mqtt, PublishesPicturesAtTheirRate) {
    const TemporaryFolder folder;
    Mosquitto broker;
    broker.start();
    Program serving(serve(broker.url("cams"), {"--mqtt-pictures", "0.5"}));
    ASSERT_TRUE(serving.wait_for_err("events are sent to")) << serving.err();
    const auto first = retained_file(broker, "cams/door/picture");
    EXPECT_TRUE(becomes_true([&] { return retained_file(broker, "cams/door/picture") != first; }));
    broker.kill();
    ASSERT_TRUE(serving.wait_for_err("was lost")) << serving.err();
    broker.start();
    ASSERT_TRUE(becomes_true([&] { return times_in(serving.err(), "events are sent to") == 2; })) << serving.err();
    const auto again = retained_file(broker, "cams/door/picture");
    EXPECT_TRUE(becomes_true([&] { return retained_file(broker, "cams/door/picture") != again; }));
    serving.signal(SIGINT);
    EXPECT_EQ(serving.wait().code, 128 + SIGINT) << serving.err();
}

// Tests the last will of MQTT.
TEST_F(Mqtt, PublishesItsLastWillWhenKilled) {
    Mosquitto broker;
    broker.start();
    Program serving(serve(broker.url("cams"), {}));
    ASSERT_TRUE(serving.wait_for_err("events are sent to")) << serving.err();
    const Subscriber available(broker, "cams/available");
    ASSERT_TRUE(available.wait_for(1));
    serving.signal(SIGKILL);
    ASSERT_TRUE(available.wait_for(2));
    EXPECT_EQ(available.messages().back().payload, "offline");
    EXPECT_EQ(retained(broker, "cams/available"), "offline");
}

constexpr int frames_of_a_death = 10;  // each frame has an event

// Kills a broker twice while events arrive, and restarts it: no event is lost.
void kill_and_see(Broker& broker, const std::vector<std::string>& more) {
    const TemporaryFolder folder;
    broker.start();
    const Subscriber all(broker, "cams/#", {"-V", "mqttv311"});
    // The test ends the camera by closing a pipe, so that the camera ends after both kills, however long these take.
    const auto pipe = folder / "camera.y4m";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    Program camera(framewire({"run", "-y", "--backend", "cpu", "--rate", "own", "-i", busy_room, "-o", pipe}));
    auto arguments = more;
    arguments.insert(arguments.end(), {"--progress", "json", "--stats", folder / "stats.json"});
    Program serving(serve(broker.url("cams"), arguments, pipe));
    int connections = 1;
    for (const std::size_t before : {std::size_t{20}, std::size_t{60}}) {
        ASSERT_TRUE(all.wait_for_events(before)) << serving.err();
        broker.kill();
        ASSERT_TRUE(serving.wait_for_err("was lost")) << serving.err();
        ASSERT_TRUE(serving.wait_for_frames(serving.frames_reported() + frames_of_a_death)) << serving.err();
        broker.start();
        ++connections;
        ASSERT_TRUE(becomes_true([&] { return times_in(serving.err(), "events are sent to") == connections; }))
            << serving.err();
    }
    camera.signal(SIGINT);
    camera.wait();
    EXPECT_EQ(serving.wait().code, 0) << serving.err();
    const auto figures = Json::parse(contents(folder / "stats.json"));
    const auto reported =
        figures["events"]["objects"].get<std::size_t>() + figures["events"]["motion"].get<std::size_t>();
    EXPECT_EQ(figures["mqtt"]["acknowledged"], reported) << serving.err();
    EXPECT_EQ(figures["mqtt"]["dropped"], 0);
    EXPECT_EQ(figures["mqtt"]["connections"], connections);
    EXPECT_TRUE(all.wait_for_events(reported)) << counted(all.events()).size() << " of " << reported;
    // If a broker dies between forwarding an event and acknowledging it, it receives the event again, and its
    // subscriber may receive it again, too.
    constexpr int most_doubled_of_a_death = 20;
    const int doubled = expect_all(all.events(), reported);
    EXPECT_LE(doubled, 2 * most_doubled_of_a_death);
    ::testing::Test::RecordProperty("doubled", doubled);
    expect_in_order(all.events());
}

TEST_F(Mqtt, LosesNothingWhenMosquittoIsKilled) {
    Mosquitto broker;
    kill_and_see(broker, {});
}

TEST_F(Mqtt, LosesNothingWhenNatsIsKilled) {
    Nats broker;
    kill_and_see(broker, {"--mqtt-discovery", "none"});
}

// If framewire is killed while the broker is down, the waiting events are in the spool file.
TEST_F(Mqtt, SendsSpooledEventsAfterARestart) {
    const TemporaryFolder folder;
    const std::vector<std::string> kept{"--mqtt-spool-file", folder / "spool"};
    constexpr std::size_t waiting = 40;
    Mosquitto broker;
    broker.start();
    const Subscriber all(broker, "cams/#");
    broker.kill();
    {
        Program serving(serve(broker.url("cams"), kept));
        ASSERT_TRUE(serving.wait_for_err("is unreachable")) << serving.err();
        ASSERT_TRUE(becomes_true([&] { return events_in(folder / "spool") >= waiting; })) << serving.err();
        serving.signal(SIGKILL);
        serving.wait();
    }
    broker.start();
    auto more = kept;
    more.insert(more.end(), {"--frames", "40", "--stats", folder / "stats.json"});
    Program serving(serve(broker.url("cams"), more));
    EXPECT_EQ(serving.wait().code, 0) << serving.err();
    EXPECT_NE(serving.err().find(" events are waiting in "), std::string::npos) << serving.err();
    const auto reported = Json::parse(contents(folder / "stats.json"))["mqtt"]["acknowledged"].get<std::size_t>();
    EXPECT_GT(reported, waiting) << "expected the spooled events and those of this run";
    ASSERT_TRUE(all.wait_for_events(reported));
    EXPECT_EQ(expect_all(all.events(), reported), 0);
    expect_in_order(all.events());
}

TEST_F(Mqtt, DropsTheOldestEventsBeyondTheSpoolLimit) {
    const TemporaryFolder folder;
    Mosquitto broker;
    broker.start();
    const Subscriber all(broker, "cams/#");
    broker.kill();
    Program serving(serve(broker.url("cams"), {"--frames", "800", "--rate", "100", "--mqtt-spool", "100", "--progress",
                                               "json", "--stats", folder / "stats.json"}));
    ASSERT_TRUE(serving.wait_for_err("is unreachable")) << serving.err();
    ASSERT_TRUE(serving.wait_for_frames(250)) << serving.err();
    broker.start();
    EXPECT_EQ(serving.wait().code, 0) << serving.err();
    const auto figures = Json::parse(contents(folder / "stats.json"));
    EXPECT_GT(figures["mqtt"]["dropped"], 0);
    EXPECT_NE(serving.err().find("events were dropped"), std::string::npos) << serving.err();
    const auto reported = figures["mqtt"]["acknowledged"].get<std::size_t>();
    EXPECT_EQ(reported + figures["mqtt"]["dropped"].get<std::size_t>(),
              figures["events"]["objects"].get<std::size_t>() + figures["events"]["motion"].get<std::size_t>());
    ASSERT_TRUE(all.wait_for_events(reported));
    EXPECT_EQ(all.events().back()["state"], "OFF") << "the newest came";
    expect_in_order(all.events());
}

// If the broker rejects framewire, it reports this, continues with the stream, and never prints the password.
TEST_F(Mqtt, ReportsAWrongPasswordWithoutShowingIt) {
    const TemporaryFolder folder;
    EXPECT_EQ(printed_by(fmt::format("mosquitto_passwd -b -c {} bob right-secret", folder / "users")), "");
    Mosquitto broker(fmt::format("allow_anonymous false\npassword_file {}\n", folder / "users"));
    broker.start();
    const auto url_of = [&](const std::string& user) {
        return fmt::format("mqtt://{}@127.0.0.1:{}/cams", user, broker.port());
    };
    Program wrong(serve(url_of("bob:wrong-secret"), {"--frames", "40", "--stats", folder / "stats.json"}));
    ASSERT_TRUE(wrong.wait_for_err("wrong user or password")) << wrong.err();
    const auto line = contents(fmt::format("/proc/{}/cmdline", wrong.id()));
    EXPECT_NE(line.find("mqtt://***"), std::string::npos) << line;
    EXPECT_EQ(line.find("wrong-secret"), std::string::npos) << line;
    wrong.signal(SIGTERM);
    wrong.wait();
    EXPECT_EQ(wrong.err().find("wrong-secret"), std::string::npos) << wrong.err();
    EXPECT_EQ(contents(folder / "stats.json").find("secret"), std::string::npos);

    const auto password = folder / "password";
    std::ofstream(password) << "right-secret\n";
    std::filesystem::permissions(password, std::filesystem::perms::owner_read);
    Program right(serve(url_of("bob"), {"--frames", "10", "--mqtt-password-file", password}));
    EXPECT_EQ(right.wait().code, 0);
    EXPECT_NE(right.err().find("events are sent to mqtt://127.0.0.1"), std::string::npos) << right.err();
    EXPECT_EQ(right.err().find("secret"), std::string::npos) << right.err();
}

TEST_F(Mqtt, TrustsOnlyValidCertificates) {
    const TemporaryFolder folder;
    const auto made =
        printed_by(fmt::format("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext "
                               "subjectAltName=IP:127.0.0.1 -keyout {} -out {}",
                               folder / "key.pem", folder / "certificate.pem"));
    ASSERT_TRUE(std::filesystem::exists(folder / "certificate.pem")) << made;
    Mosquitto broker(
        fmt::format("allow_anonymous true\ncertfile {}\nkeyfile {}\n", folder / "certificate.pem", folder / "key.pem"));
    broker.start();
    const auto url = fmt::format("mqtts://127.0.0.1:{}/cams", broker.port());
    Program trusted(serve(url, {"--frames", "20", "--mqtt-ca", folder / "certificate.pem"}));
    EXPECT_TRUE(trusted.wait_for_err("events are sent to mqtts://")) << trusted.err();
    EXPECT_EQ(trusted.wait().code, 0);
    Program untrusted(serve(url, {}));
    EXPECT_TRUE(untrusted.wait_for_err("certificate verify failed")) << untrusted.err();
    untrusted.signal(SIGTERM);
    untrusted.wait();
    EXPECT_EQ(untrusted.err().find("events are sent to"), std::string::npos) << untrusted.err();
}

TEST_F(Mqtt, RejectsConflictingOptions) {
    const auto refusal = [](std::vector<std::string> more) {
        more.insert(more.begin(), {"serve", "--backend", "cpu", "--listen", "127.0.0.1:0", "--frames", "1", "-i",
                                   "synth:size=64x48"});
        const auto result = run_framewire(std::move(more));
        EXPECT_EQ(result.code, 2) << result.err;
        return result.err;
    };
    const auto expect_in = [](const std::string& text, const std::string& words) {
        EXPECT_NE(text.find(words), std::string::npos) << words << "\nis missing from:\n" << text;
    };
    expect_in(refusal({"--mqtt", "mqtt://broker"}), "detect is not enabled for any camera");
    expect_in(refusal({"--detect", "--mqtt-spool-file", "x"}), "require mqtt");
    expect_in(refusal({"--detect", "--mqtt-pictures", "motion"}), "require mqtt");
    for (const auto* pictures : {"0.1", "3601", "nan", "-1", "on", ""})
        expect_in(refusal({"--detect", "--mqtt", "mqtt://broker", "--mqtt-pictures", pictures}),
                  "allowed: seconds from 0.2 to 3600, motion, off");
    expect_in(refusal({"--detect", "--mqtt", "mqtt://broker", "--mqtt-password-file", "x"}), "needs a user");
    expect_in(refusal({"--detect", "--mqtt", "mqtt://broker", "--mqtt-ca", "x"}), "mqtts://");
    expect_in(refusal({"--detect", "--mqtt", "mqtt://broker", "--mqtt-spool", "7"}), "100");
    const auto words = refusal({"--detect", "--mqtt", "mqtt://bob:top-secret@broker:x"});
    expect_in(words, "no valid host");
    EXPECT_EQ(words.find("top-secret"), std::string::npos) << words;
}

}  // namespace
}  // namespace framewire::e2e
