// Tests two hundred viewers of one camera whose settings change all the time. Each displayed picture must be one state
// of the server, within the bound of its own frame with the settings in force, and masked areas must never become
// visible again.

#include "framewire/core/error.hpp"
#include "framewire/net/client.hpp"
#include "framewire/net/testing/test_http.hpp"
#include "network/camera/scene.hpp"
#include "network/cases/rig.hpp"
#include "network/cases/soak/requests.hpp"
#include "network/cases/soak/state_check.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

namespace framewire::network {
namespace {

using namespace std::chrono_literals;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr double fps = 10;
constexpr Shape shape{1, 120, 160, 3};
constexpr int first_threshold = 12;
// Indices of the folders in which the servers' states are stored.
constexpr std::size_t of_first = 0, of_second_relay = 2;

bool changes_size(const CameraSettings& settings) {
    const auto chain = settings.chain_in_force();
    return chain.find("crop") != chain.npos || chain.find("scale") != chain.npos;
}

// Records the pictures of a slow viewer; starts another file for each picture size.
class SlowRecorder {
public:
    SlowRecorder(const e2e::TemporaryFolder& folder, std::string url) : folder_(folder), url_(std::move(url)) {}

    void start() {
        files_.push_back(folder_ / fmt::format("seen-{}.fwd", files_.size()));
        program_ = std::make_unique<e2e::Program>(
            view_command({url_, "-o", files_.back(), "--reconnect", "30", "--progress", "json"}));
    }
    void stop() {
        const bool has_begun = program_->frames_reported() > 0;
        program_->signal(SIGINT);
        const auto ended = program_->wait();
        if (has_begun)
            EXPECT_EQ(ended.code, 128 + SIGINT) << ended.err;
        else
            files_.pop_back();
        program_.reset();
    }
    const std::vector<std::string>& files() const { return files_; }

private:
    const e2e::TemporaryFolder& folder_;
    std::string url_;
    std::vector<std::string> files_;
    std::unique_ptr<e2e::Program> program_;
};

// Viewer that has not acknowledged its first picture, so that the server sends it nothing else.
class HeldBackViewer {
public:
    // If the stream is restarting, there may be no picture.
    explicit HeldBackViewer(const std::string& url) : url_(url) {
        try {
            client_.emplace(net::parse_stream_address(url), net::ClientOptions{.reconnect = 30s, .follows_size = true});
            if (client_->next())
                first_ = client_->state();
            else
                client_.reset();
        } catch (const Error&) {
            client_.reset();
        }
    }
    bool has_begun() const { return client_.has_value(); }
    std::int64_t frame() const { return client_ ? client_->state().frame : 0; }

    // Checks the next picture, which must have been sent after request `number` was answered.
    void expect_next_after(std::size_t number, StateCheck& check) {
        if (!client_->next()) return check.violation("the stream ended");
        const auto matches = check.matches(client_->state().frame, client_->threshold(), client_->picture());
        if (matches.empty() || matches.back() < number)
            check.violation(fmt::format(
                "frame {} matches the settings of requests {}, but was sent after request {} was answered, by {}; "
                "the viewer held frame {}, version {}",
                client_->state().frame, matches, number, url_, first_.frame, first_.version));
    }

private:
    std::string url_;
    std::optional<net::Client> client_;
    net::StateHeader first_{};
};

void wait_until(const std::function<bool()>& is_so, std::chrono::seconds at_most) {
    for (const auto end = Clock::now() + at_most; !is_so() && Clock::now() < end;) std::this_thread::sleep_for(10ms);
}

class Soak : public ::testing::Test {
protected:
    Soak(Scene::Kind kind, const std::string& scene_name, RequestMaker::Mix mix, int noise)
        : scene_(kind, shape, noise),
          camera_(folder_, "cam", fmt::format("{}x{}", shape.width, shape.height), fps, {}, noise, 3,
                  {"scene=" + scene_name}),
          log_(camera_.log()),
          first_({"-i", camera_.source(), "--threshold", std::to_string(first_threshold), "--viewers", "400",
                  "--controls", "--record-dir", new_folder("recordings")}),
          relay_({"-i", through(*to_relay_), "--viewers", "400"}),
          second_({"-i", relay_.url(), "--viewers", "400"}),
          requests_({.threshold = first_threshold}),
          maker_(mix, shape, 20261128),
          check_(scene_, log_, requests_,
                 {new_folder("states"), new_folder("states-of-relay"), new_folder("states-of-second-relay")}),
          recorder_(folder_, through(*halved_)) {}

    std::string new_folder(const std::string& name) {
        std::filesystem::create_directory(folder_ / name);
        return folder_ / name;
    }
    std::string through(Link& link) { return "tcp://" + link.reach(first_.port()) + "/main"; }
    static std::string by_websocket(const std::string& url) { return "ws" + url.substr(3); }

    void add_crowd(const std::string& url, int brief, int whole, const std::string& states) {
        const int viewers = scaled(brief, whole);
        viewers_ += viewers;
        crowds_.push_back(std::make_unique<Crowd>(
            Words{url + "," + camera_.log(), "viewers=0", fmt::format("checking={}", viewers), "reconnect=30",
                  "states=" + folder_ / states, fmt::format("seconds={}", seconds_ + 120)}));
    }

    void add_crowds() {
        const auto line = [](const std::string& text) { return line_settings(text + ":queue=100"); };
        halved_->set(line(fmt::format("delay=5:rate={}", scaled(2, 15) * 250'000)));
        distant_->set(line("delay=300"));
        to_relay_->set(line("delay=20:rate=600k"));
        stalling_->set(open_line());
        add_crowd(first_.url(), 3, 61, "states");
        add_crowd(by_websocket(first_.url()), 3, 60, "states");
        add_crowd(through(*halved_), 1, 8, "states");
        add_crowd(by_websocket(through(*halved_)), 1, 7, "states");
        add_crowd(through(*distant_), 1, 14, "states");
        add_crowd(by_websocket(through(*stalling_)), 1, 8, "states");
        add_crowd(through(*stalling_), 1, 7, "states");
        add_crowd(relay_.url(), 1, 8, "states-of-relay");
        add_crowd(second_.url(), 1, 6, "states-of-second-relay");
        add_crowd(by_websocket(second_.url()), 1, 6, "states-of-second-relay");
        add_crowd(first_.url(), 1, 8, "states");
        add_crowd(by_websocket(first_.url()), 1, 7, "states");
    }
    LinkSettings open_line() { return line_settings("delay=5:rate=20M:queue=50"); }

    // Repeatedly stops a line and the last two crowds for 0.7 s.
    void disturb(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            std::this_thread::sleep_for(1300ms);
            stalling_->set(line_settings("delay=5:rate=20k:queue=50"));
            for (auto at = crowds_.end() - 2; at != crowds_.end(); ++at) (*at)->program().signal(SIGSTOP);
            std::this_thread::sleep_for(700ms);
            stalling_->set(open_line());
            for (auto at = crowds_.end() - 2; at != crowds_.end(); ++at) (*at)->program().signal(SIGCONT);
        }
    }

    void ask(const std::string& request, const std::string& body) {
        const auto answer =
            net::testing::HttpClient(first_.port())
                .ask(request, fmt::format("Content-Type: application/json\r\nContent-Length: {}\r\n", body.size()),
                     body);
        EXPECT_EQ(answer.status, 200) << request << ' ' << body << ": " << answer.body;
    }

    // Waits for frames that have not been sent to a viewer that holds `frame`.
    void await_frames_after(std::int64_t frame) const {
        wait_until([&] { return static_cast<std::int64_t>(log_.newest()) - 1 >= frame + 3; }, 5s);
    }

    void order() {
        const auto now = requests_.entry(requests_.size() - 1).settings;
        const auto request = maker_.next(now);
        const bool turns_size = changes_size(now) || changes_size(request.settings);
        const bool cuts_recording = turns_size && now.chain_in_force() != request.settings.chain_in_force();
        const bool withdraws = changes_picture(now, request.settings);
        std::optional<HeldBackViewer> near, far;
        if (withdraws) near.emplace(first_.url());
        if (withdraws && requests_.size() % scaled(1u, 3u) == 0)
            far.emplace(second_.url());  // connecting takes seconds
        if (withdraws) await_frames_after(std::max(near->frame(), far ? far->frame() : 0));
        if (cuts_recording) recorder_.stop();
        const auto number = requests_.send(request.settings);
        ask("PUT /api/cameras/main/" + request.route, request.body);
        requests_.answer();
        if (cuts_recording) recorder_.start();
        const auto answered = requests_.entry(number).answered;
        if (near && near->has_begun()) near->expect_next_after(number, check_), ++held_back_;
        if (!far || !far->has_begun()) return;
        const auto has_passed = [&] {
            const auto captured = log_.captured(static_cast<std::uint32_t>(check_.newest_frame(of_second_relay) + 1));
            return captured && *captured > answered;
        };
        wait_until(has_passed, 5s);
        if (has_passed()) far->expect_next_after(number, check_), ++held_back_;
    }

    // Starts and stops recordings beside other requests.
    void order_files(int number) {
        if (number % 8 == 2) ask("POST /api/cameras/main/record", R"({"on":true})");
        if (number % 8 == 6) ask("POST /api/cameras/main/record", R"({"on":false})");
        if (number % 8 == 4) ask("POST /api/cameras/main/snapshot", "{}");
    }

    std::unique_ptr<e2e::Program> browser() {
        const char* const script = std::getenv("FRAMEWIRE_WATCH_STATES");
        if (!script) return nullptr;
        ++viewers_;
        return std::make_unique<e2e::Program>(
            Words{"node", script, fmt::format("http://127.0.0.1:{}/", first_.port()), folder_ / "states"});
    }

    void run() {
        const auto begin = Clock::now();
        add_crowds();
        const auto page = browser();
        recorder_.start();
        wait_until([&] { return check_.newest_frame(of_first) >= 0 && check_.newest_frame(of_second_relay) >= 0; },
                   20s);
        {
            const std::jthread disturbing([this](const std::stop_token& stop) { disturb(stop); });
            constexpr int least_requests = 8;  // reached even on a busy machine
            for (int number = 1; number <= least_requests || milliseconds_since(begin) < 1e3 * (seconds_ - 2);
                 ++number) {
                order();
                order_files(number);
                std::this_thread::sleep_for(Milliseconds(scaled(100, 500)));
            }
        }
        // The recorder stops first, so that viewers have seen every recorded state.
        recorder_.stop();
        const auto last = static_cast<std::int64_t>(log_.newest());
        wait_until([&] { return check_.newest_frame(of_first) > last; }, 10s);
        for (const auto& crowd : crowds_) crowd->program().signal(SIGTERM);
        if (page) {
            page->signal(SIGTERM);
            const auto ended = page->wait(60s);
            EXPECT_EQ(ended.code, 0) << ended.err;
            const auto pictures = std::atoi(ended.out.c_str());
            EXPECT_GT(pictures, seconds_);
            tell("pictures in the browser", pictures, "");
        }
        std::int64_t pictures = 0;
        for (const auto& crowd : crowds_) {
            const auto seen = crowd->result();
            EXPECT_EQ(seen["all"]["errors"], Json::array());
            for (const auto& viewer : seen["viewers"]) EXPECT_GT(viewer["checked"], 0);
            pictures += seen["all"]["checked"].get<std::int64_t>();
        }
        check_.finish();
        for (const auto& file : recorder_.files()) check_.check_recording(file, fps);
        int files = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder_ / "recordings"))
            if (entry.path().extension() == ".fwd") check_.check_recording(entry.path(), fps), ++files;
        EXPECT_GT(files, 0);

        const auto findings = check_.findings();
        tell("viewers", viewers_, "");
        tell("pictures checked", static_cast<double>(pictures), "");
        tell("recorded pictures", static_cast<double>(findings.recorded), "");
        tell("recorded pictures that no viewer saw", static_cast<double>(findings.recorded_unseen), "");
        tell("frames", static_cast<double>(findings.frames), "");
        tell("states", static_cast<double>(findings.states), "");
        tell("relay states without a matching state of the first server", static_cast<double>(findings.unseen), "");
        tell("requests", static_cast<double>(requests_.size() - 1), "");
        tell("exact first states after a request", static_cast<double>(findings.exact), "");
        tell("viewers held back during a request", held_back_, "");
        tell("violations", static_cast<double>(findings.violations), "");
        EXPECT_EQ(findings.violations, 0) << fmt::format("{}", fmt::join(findings.first_violations, "\n"));
        EXPECT_GT(requests_.size(), scaled(8u, 60u));
        EXPECT_GT(findings.exact, 0);
        EXPECT_GT(held_back_, 0);
        if (!long_cases()) return;  // viewers on a busy machine skip many states
        EXPECT_LE(findings.unseen, findings.states / 20);
        EXPECT_LE(findings.recorded_unseen, findings.recorded / 10);
    }

    const double seconds_ = scaled(12.0, 600.0);
    const e2e::TemporaryFolder folder_;
    Scene scene_;
    Camera camera_;
    FrameLog log_;
    Served first_;
    const std::unique_ptr<Link> halved_ = make_proxy_link(), stalling_ = make_proxy_link(),
                                distant_ = make_proxy_link(), to_relay_ = make_proxy_link();
    Served relay_, second_;
    RequestLog requests_;
    RequestMaker maker_;
    StateCheck check_;
    SlowRecorder recorder_;
    std::vector<std::unique_ptr<Crowd>> crowds_;
    int viewers_ = 2;  // the recording viewer, and the one that is held back
    int held_back_ = 0;
};

class SoakOfControlRequests : public Soak {
protected:
    SoakOfControlRequests() : Soak(Scene::Kind::room, "room", RequestMaker::Mix::all, 8) {}
};

class SoakOfPrivacyMasks : public Soak {
protected:
    SoakOfPrivacyMasks() : Soak(Scene::Kind::tones, "tones", RequestMaker::Mix::zones, 2) {}
};

TEST_F(SoakOfControlRequests, EveryPictureMatchesOneStateWithinItsBound) { run(); }

TEST_F(SoakOfPrivacyMasks, MaskedAreasNeverBecomeVisible) { run(); }

}  // namespace
}  // namespace framewire::network
