// Opens and runs several cameras, each on a thread of its own, behind one listener.
#include "framewire/session/cameras/cameras.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/pipeline/statistics/progress.hpp"
#include "framewire/session/broadcast/ending_deadlines.hpp"
#include "framewire/session/cameras/camera.hpp"
#include "framewire/session/cameras/cameras_progress.hpp"
#include "framewire/session/config/event_settings.hpp"
#include "framewire/session/config/settings.hpp"
#include "framewire/session/job/failure.hpp"
#include "framewire/session/job/job.hpp"
#include "framewire/session/live/kept/state_file.hpp"
#include "framewire/session/live/kept/state_keeper.hpp"
#include "framewire/session/web/site.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <set>
#include <thread>
#include <utility>

namespace framewire::session {
namespace {

// Adds the camera's name to errors of `body`, if there are several cameras.
template <class Body>
void naming(const std::string& name, bool several, const Body& body) {
    if (!several) return body();
    try {
        body();
    } catch (const ExcerptError& error) {
        throw ExcerptError(error.code(), fmt::format("camera '{}': {}", name, error.text()), error.excerpt());
    } catch (const Error& error) {
        throw Error(error.code(), fmt::format("camera '{}': {}", name, error.what()));
    }
}

// Divides the machine among the cameras. Each camera has its own threads for capturing, starting, packing and sending.
// The additional threads that speed up a single frame are divided, because with more cameras than cores several frames
// are in progress anyway. The filter loops of all cameras share one set of workers (ThreadPool).
void share_machine(BroadcastOptions& camera, int cameras) {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    constexpr int most_packing = 8;
    camera.packing_threads = std::clamp(cores / 2 / cameras, 1, most_packing);
    camera.input.decoder_threads = std::max(1, (cores + 2) / cameras);
}

// Returns the names of cameras with their own detector.
std::vector<std::string> watched(const CamerasOptions& options) {
    std::vector<std::string> names;
    for (const auto& camera : options.cameras)
        if (camera.detector && !relayed_stream(camera.input.source)) names.push_back(camera.server.stream);
    return names;
}

// Checks everything that can be checked without opening a camera.
const CamerasOptions& checked(const CamerasOptions& options) {
    if (options.cameras.empty()) fail(ErrorCode::usage, "there is no camera to serve");
    std::set<std::string> names;
    for (const auto& camera : options.cameras) {
        const auto& name = camera.server.stream;
        net::validate_stream_name(name);
        if (!names.insert(name).second) fail(ErrorCode::usage, "two cameras have the name '{}'", name);
        if (const auto& path = options.listener.base_path; path == "/" + name || path.starts_with("/" + name + "/"))
            fail(ErrorCode::usage, "the base path {} begins with the name of a camera, whose own address that is",
                 path);
        naming(name, options.cameras.size() > 1, [&] { check_camera(camera); });
    }
    check_events(options.events);
    if (!options.events.mqtt.broker.host.empty() && watched(options).empty())
        fail(ErrorCode::usage, "mqtt tells what detectors find, and no camera has one: it goes with detect");
    return options;
}

void require_folder(const std::string& folder) {
    if (!folder.empty() && !std::filesystem::is_directory(folder))
        fail(ErrorCode::config, "there is no folder {} for recordings", folder);
}

// Calls `body` with each index on its own thread, and returns when all calls have ended.
template <class Body>
void for_all_at_once(std::vector<std::unique_ptr<Camera>>& cameras, const Body& body) {
    std::vector<std::jthread> threads;
    for (std::size_t at = 0; at < cameras.size(); ++at) threads.emplace_back([&, at] { body(at); });
}

}  // namespace

struct CamerasJob::State {
    // Checks, listens, reads the persisted state, opens all cameras, and only then serves the page and the API.
    explicit State(const CamerasOptions& options)
        : job(options.job, files_of(checked(options))),
          listener(options.listener, job.stop()),
          several(options.cameras.size() > 1),
          events(options.events, watched(options), make_outputs(options)) {
        const auto& live = options.live;
        require_folder(live.record_folder);
        auto ordered = live.state_path.empty() ? OrderedOfCameras() : read_state(live.state_path);
        const auto seen = watched(options);
        if (!seen.empty()) result.events.emplace();
        for (auto camera : options.cameras) {
            if (std::ranges::find(seen, camera.server.stream) != seen.end())
                camera.seen = &events.of(camera.server.stream);
            camera.job.stop = job.stop();
            camera.job.progress = several ? ProgressMode::none : options.job.progress;
            camera.job.replace = options.job.replace;
            if (several) share_machine(camera, static_cast<int>(options.cameras.size()));
            cameras.push_back(
                std::make_unique<Camera>(camera, listener, live, fitting(camera, ordered[camera.server.stream])));
            result.cameras.push_back({.name = camera.server.stream});
        }
        open();
        if (!live.state_path.empty()) keep_orders(live.state_path, std::move(ordered));
        if (options.web) serve_web(options);
    }
    ~State() { listener.set_site(nullptr); }

    // Persists settings after each control request, and periodically. Requests may outlive the keeper.
    void keep_orders(const std::string& path, OrderedOfCameras ordered) {
        std::vector<std::shared_ptr<ServedCamera>> served;
        for (const auto& camera : cameras) served.push_back(camera->live());
        keeper = std::make_shared<StateKeeper>(path, std::move(ordered), std::move(served));
        for (const auto& camera : cameras)
            camera->live()->keep_orders_by([name = camera->name(), kept_by = std::weak_ptr(keeper)] {
                const auto there = kept_by.lock();
                if (!there) return;
                try {
                    there->keep_now();
                } catch (const Error& error) {
                    fail(error.code(), "{}: it is in force, but does not survive a restart: {}", name, error.what());
                }
            });
    }

    // Adds the HTTP routes to the listener.
    void serve_web(const CamerasOptions& options) {
        listener.set_site(web::make_site({.cameras = live(),
                                          .viewers = [this] { return listener.metrics(); },
                                          .events = &events.feeds(),
                                          .has_token = !options.listener.token.empty(),
                                          .has_tls = options.listener.tls.has_value(),
                                          .takes_recordings = !options.live.record_folder.empty(),
                                          .base_path = options.listener.base_path}));
        log_info("in a browser: {}://{}{}/", options.listener.tls ? "https" : "http", to_string(listener.address()),
                 options.listener.base_path);
    }

    std::vector<std::shared_ptr<LiveCamera>> live() const {
        std::vector<std::shared_ptr<LiveCamera>> all;
        for (const auto& camera : cameras) all.push_back(camera->live());
        return all;
    }

    // Makes the publisher, if there is a broker. `publisher` refers to it for statistics; the hub owns it.
    std::vector<std::unique_ptr<EventOutput>> make_outputs(const CamerasOptions& options) {
        std::vector<std::unique_ptr<EventOutput>> outputs;
        if (options.events.mqtt.broker.host.empty()) return outputs;
        auto made = std::make_unique<MqttPublisher>(options.events.mqtt, watched(options));
        publisher = made.get();
        outputs.push_back(std::move(made));
        return outputs;
    }

    // Sends the last events and takes the final counters.
    void end_events() {
        events.end(Clock::now() + (job.stopped() ? stopped_deadline : ending_deadline));
        if (result.events) result.events = events.figures();
        if (publisher) result.mqtt = publisher->figures();
    }

    // Opens all cameras in parallel; the first error ends the constructor.
    void open() {
        std::vector<std::exception_ptr> failures(cameras.size());
        for_all_at_once(cameras, [&](std::size_t at) {
            FirstFailure failure;
            failure.attempt([&] { naming(cameras[at]->name(), several, [&] { cameras[at]->open(several); }); });
            failures[at] = failure.what();
        });
        for (const auto& failure : failures)
            if (failure) std::rethrow_exception(failure);
        for (const auto& camera : cameras) camera->tell_address();
    }

    void run() {
        job.begin_run();
        std::vector<std::exception_ptr> failures(cameras.size());
        {
            const Progress progress(several ? job.options().progress : ProgressMode::none, progress_lines(cameras));
            for_all_at_once(cameras, [&](std::size_t at) { failures[at] = run(at); });
        }
        FirstFailure failure;
        for (const auto& of_camera : failures)
            if (of_camera) failure.attempt([&] { std::rethrow_exception(of_camera); });
        end_events();
        listener.close("all streams have come to their end");
        result.total = total_of(cameras);
        result.viewers = listener.metrics();
        failure.attempt([&] { job.statistics_file().write(to_json(result)); });
        failure.rethrow();
    }

    // Runs one camera; its error is logged and becomes part of its result.
    std::exception_ptr run(std::size_t at) {
        auto& of_camera = result.cameras[at];
        FirstFailure failure;
        failure.attempt([&] {
            try {
                naming(cameras[at]->name(), several, [&] { cameras[at]->run(); });
            } catch (const std::exception& error) {
                of_camera.failure = error.what();
                if (several) log_error("{}", error.what());
                throw;
            }
        });
        of_camera.broadcast = cameras[at]->result();
        return failure.what();
    }

    Job job;
    net::Listener listener;
    bool several;
    // owned by `events`
    MqttPublisher* publisher = nullptr;
    EventHub events;
    std::vector<std::unique_ptr<Camera>> cameras;
    CamerasResult result;
    // last member: it refers to the cameras
    std::shared_ptr<StateKeeper> keeper;
};

JobFiles files_of(const CamerasOptions& options) {
    JobFiles files;
    for (auto camera : options.cameras) {
        camera.job.statistics_path.clear();
        files.add(files_of(camera));
    }
    return files.statistics(options.job.statistics_path);
}

CamerasJob::CamerasJob(const CamerasOptions& options) : state_(std::make_unique<State>(options)) {}
CamerasJob::~CamerasJob() = default;

const net::Address& CamerasJob::address() const { return state_->listener.address(); }
const EventHub& CamerasJob::events() const { return state_->events; }

std::optional<MqttFigures> CamerasJob::mqtt() const {
    return state_->publisher ? std::optional(state_->publisher->figures()) : std::nullopt;
}

std::vector<std::shared_ptr<LiveCamera>> CamerasJob::live() const { return state_->live(); }

const CamerasResult& CamerasJob::run() { return state_->run(), state_->result; }
const CamerasResult& CamerasJob::result() const { return state_->result; }

}  // namespace framewire::session
