#include "framewire/jobs/cameras.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/retry_pauses.hpp"
#include "framewire/core/text.hpp"
#include "framewire/core/time.hpp"
#include "framewire/jobs/broadcast.hpp"
#include "framewire/jobs/configuration.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/jobs/job.hpp"
#include "framewire/jobs/persisted_state.hpp"
#include "framewire/media/fwd.hpp"
#include "framewire/media/sources.hpp"
#include "framewire/net/address.hpp"
#include "framewire/plan/statistics.hpp"
#include "framewire/service/onvif/device.hpp"
#include "framewire/service/onvif/discovery.hpp"
#include "framewire/service/rtsp/rtsp_server.hpp"
#include "framewire/service/video/camera_video.hpp"
#include "framewire/service/web/site.hpp"
#include "framewire/service/webrtc/whep_server.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <future>
#include <set>
#include <system_error>
#include <thread>
#include <utility>

// Life cycle of a served camera: open it, run a job, and make the next job if the size changed or requests need a
// restart.

namespace framewire::jobs {
namespace {

// Prepares the sound of a camera for its standard video. A file whose frames are not shown at its own rate has none.
void prepare_sound(BroadcastOptions& camera) {
    if (!camera.audio || relayed_stream(camera.input.source)) return;
    const bool is_live = parse_source(camera.input.source).kind->may_be_away;
    if (is_live || (!camera.hurries && camera.input.fps == 0)) camera.input.sound = std::make_shared<SoundTap>();
}

// Waits for `pause`. Returns false if a stop was requested.
bool wait(const std::stop_token& stop, std::chrono::milliseconds pause) {
    std::mutex mutex;
    std::condition_variable_any stopping;
    std::unique_lock lock(mutex);
    return !stopping.wait_for(lock, stop, pause, [&] { return stop.stop_requested(); });
}

// One of several cameras that takes longer to open, for example because it is switched off and its connection times out
// after 10 s, does not hold up the others.
constexpr std::chrono::seconds longest_common_opening{3};

// Returns true if the source was unavailable, so that a retry may succeed.
bool is_away(const Error& error) {
    return error.code() == ErrorCode::no_input || error.code() == ErrorCode::source_lost;
}

}  // namespace

std::string recording_part(const std::string& text, int number) {
    const auto path = fwd::parse_record(text).path;
    std::filesystem::path part(path);
    part.replace_filename(fmt::format("{}-{}{}", part.stem().string(), number, part.extension().string()));
    return part.string() + text.substr(std::min(path.size(), text.size()));
}

Camera::Camera(const BroadcastOptions& options, net::Listener& listener, const service::LiveOptions& live,
               LiveSettings requested)
    : options_(options),
      record_(options.record),
      live_(std::make_shared<ServedCamera>(options, live, std::move(requested), statistics_)) {
    options_.listener = &listener;
    options_.input.follows_size = true;
    options_.job.statistics = statistics_;
    options_.job.statistics_path.clear();
    options_.persist_settings = [live = live_.get()] { live->keep(); };
}

Camera::~Camera() { live_->detach(); }

bool Camera::may_be_away() const { return relays() || parse_source(options_.input.source).kind->may_be_away; }

bool Camera::relays() const { return relayed_stream(options_.input.source).has_value(); }

void Camera::take_gpu() {
    if (!options_.job.gpus || (options_.job.gpu && !must_move())) return;
    const bool moves = options_.job.gpu != nullptr;
    options_.job.gpu = options_.job.gpus->take(load_.value_or(GpuFleet::usual_load));
    if (moves) log_warning("{}: goes on with {}", name(), to_string(options_.job.gpu->processor()));
}

void Camera::make_job() {
    if (relays()) {
        relay_ = std::make_unique<RelayJob>(options_);
        live_->attach(*relay_);
    } else {
        take_gpu();
        while (!job_) try {
                job_ = job_as_requested();
            } catch (const Error&) {
                if (!must_move()) throw;
                take_gpu();
            }
        const auto& source = job_->source();
        load_ = source.rate.value() * source.shape.width * source.shape.height;
        if (options_.job.gpu) options_.job.gpu->set_load(*load_);
        live_->attach(*job_);
    }
    // applies only to the first job
    options_.wait_for_viewers = 0;
}

// Requested or persisted settings may not fit, for example after a change of the frame size. They are then dropped.
std::unique_ptr<BroadcastJob> Camera::job_as_requested() {
    for (;;) {
        try {
            return std::make_unique<BroadcastJob>(live_->options(options_));
        } catch (const Error& error) {
            const bool is_ours = error.code() == ErrorCode::usage || error.code() == ErrorCode::config;
            const std::string why = error.what();
            if (!is_ours || must_move() || !live_->give_up_requests(why.substr(0, why.find('\n')))) throw;
        }
    }
}

void Camera::tell_address() const {
    if (job_) log_info("serving {} at {}", job_->source().name, to_string(job_->address()));
    if (relay_) log_info("forwarding {} at {}", relay_->source(), to_string(relay_->address()));
}

void Camera::open(bool may_come_later) {
    try {
        make_job();
    } catch (const Error& error) {
        if (!may_come_later || !is_away(error) || !may_be_away()) throw;
        log_warning("{}: {}; retrying", name(), error.what());
    }
}

// Retries until the camera is open. Returns false if a stop was requested. Throws the last error when the time limit
// for retries is reached.
bool Camera::open_with_patience() {
    const auto begin = Clock::now();
    const auto patience = options_.input.reconnect.value_or(SourceOptions::for_ever);
    for (RetryPauses pauses; wait(options_.job.stop, pauses.take());) {
        try {
            make_job();
            tell_address();
            return true;
        } catch (const Error& error) {
            if (options_.job.stop.stop_requested()) return false;
            const bool goes_on = patience == SourceOptions::for_ever || Clock::now() - begin < patience;
            if (!is_away(error) || !goes_on) throw;
            log_debug("{}: {}", name(), error.what());
        }
    }
    return false;
}

void Camera::run() {
    // Releases pending control requests on every path out of this function.
    const std::shared_ptr<void> at_end(nullptr, [this](void*) { live_->end(); });
    if (!job_ && !relay_ && !open_with_patience()) return;
    if (relay_) return run_relay();
    do {
        run_job(*job_);
        note_recording_failure(result_.recording_failure);
        note_recording_failure(result_.clip_failure);
    } while (go_on());
    if (recording_failure_) std::rethrow_exception(recording_failure_);
}

void Camera::note_recording_failure(const std::exception_ptr& failure) {
    if (!recording_failure_) recording_failure_ = failure;
}

// Runs a job and adds its result to that of earlier jobs, even if the job throws.
template <class Job>
void Camera::run_job(Job& job) {
    const auto viewers_before = result_.viewers;
    const auto take = [&] {
        result_ = job.result();
        add(result_.viewers, viewers_before);
    };
    try {
        job.run();
    } catch (...) {
        take();
        throw;
    }
    take();
}

// Runs the relay, and reconnects if the stream was lost permanently or came back with different properties.
void Camera::run_relay() {
    for (;;) {
        try {
            return run_job(*relay_);
        } catch (const Error& error) {
            const bool goes_on = options_.input.reconnect.value_or(SourceOptions::for_ever).count() > 0;
            if (!is_away(error) || !goes_on || options_.job.stop.stop_requested()) throw;
            log_warning("{}: {}; retrying", name(), error.what());
        }
        live_->detach();
        // releases the stream's name
        relay_.reset();
        if (!open_with_patience()) return;
    }
}

// Makes the next job if the last one ended for a new frame size, for control requests or because its GPU failed.
// Returns false if the camera has ended. A source that is decoded on the GPU that failed is opened again.
bool Camera::go_on() {
    if (!result_.goes_on()) return false;
    options_.input.opened = result_.ended_with_gpu && job_->opened()->may_use_gpu() ? nullptr : job_->opened();
    const auto before = job_->source().shape;
    live_->detach();
    // releases the stream's name
    job_.reset();
    if (result_.ended_with_gpu) {
        log_info("{}: viewers reconnect", name());
    } else if (result_.ended_at_new_size) {
        auto& source = options_.input.opened->source();
        if (!source.take_new_size()) fail(ErrorCode::internal, "the frame size of {} has not changed", name());
        log_warning("{}: the frame size changed from {} to {}; viewers reconnect to a stream of the new size",
                    source.info().name, to_string(before), to_string(source.info().shape));
    } else {
        log_info("{}: viewers reconnect to a stream with the requested settings", name());
    }
    if (options_.job.frames) *options_.job.frames -= result_.figures.frames - counted_frames_;
    if (options_.job.frames == 0) return false;
    counted_frames_ = result_.figures.frames;
    if (!record_.empty()) {
        do options_.record = recording_part(record_, ++recordings_);
        while (std::filesystem::exists(fwd::parse_record(options_.record).path));
        log_info("{}: recording continues in {}", name(), options_.record);
    }
    make_next_job();
    return job_ != nullptr;
}

// If the recording file cannot be written, the camera continues without a recording. A source that must be opened again
// may be away meanwhile.
void Camera::make_next_job() {
    try {
        return make_job();
    } catch (const Error& error) {
        if (!options_.input.opened && is_away(error)) {
            open_with_patience();
            return;
        }
        if (options_.record.empty() || error.code() != ErrorCode::io) throw;
        note_recording_failure(std::current_exception());
        log_error("{}; the stream continues without a recording", error.what());
    }
    options_.record.clear();
    make_job();
}

namespace {

CameraText split(std::string_view text) {
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) return {"", std::string(text)};
    // "." and ".." count as names here, so that later checks reject them as invalid.
    const auto name = text.substr(0, equals);
    if (!net::is_stream_name(name) && name != "." && name != "..") return {"", std::string(text)};
    return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

}  // namespace

CameraText camera_source(std::string_view text) {
    std::error_code unknown;
    if (std::filesystem::exists(text, unknown)) return {"", std::string(text)};
    return split(text);
}

CameraText camera_text(std::string_view text, std::span<const std::string> names) {
    auto parts = split(text);
    if (std::ranges::find(names, parts.name) == names.end()) return {"", std::string(text)};
    return parts;
}

std::string with_camera_name(std::string_view text, std::string_view name) {
    constexpr std::string_view place = "{name}";
    std::string filled;
    for (auto at = text.find(place); at != text.npos; at = text.find(place)) {
        filled.append(text.substr(0, at)).append(name);
        text.remove_prefix(at + place.size());
    }
    return filled.append(text);
}

}  // namespace framewire::jobs

// Opens and runs several cameras, each on its own thread, with one shared listener.

namespace framewire::jobs {
namespace {

// Runs `body`. If there are several cameras, adds the camera's name to errors.
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

// Divides the machine's decoder threads among the cameras. Each camera has its own threads for capturing, processing
// and sending. With more cameras than cores, several frames are in progress anyway. The loops of all cameras' filters
// and encoders share one set of workers (ThreadPool).
void share_machine(BroadcastOptions& camera, int cameras) {
    const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    camera.input.decoder_threads = std::max(1, (cores + 2) / cameras);
}

// Returns the names of the cameras that have their own detector.
std::vector<std::string> watched(const CamerasOptions& options) {
    std::vector<std::string> names;
    for (const auto& camera : options.cameras)
        if (camera.detector && !relayed_stream(camera.input.source)) names.push_back(camera.server.stream);
    return names;
}

// Throws Error{usage} if Frigate cannot receive the events of the cameras.
void check_frigate(const CamerasOptions& options) {
    const auto& frigate = options.events.frigate;
    if (frigate.server.server.host.empty()) return;
    const auto names = watched(options);
    if (names.empty())
        fail(ErrorCode::usage, "frigate receives detector events, but detect is not enabled for any camera");
    for (const auto& [name, called] : frigate.cameras)
        if (std::ranges::find(names, name) == names.end())
            fail(ErrorCode::usage, "frigate-camera names the camera '{}', but the cameras with detect are: {}", name,
                 fmt::join(names, ", "));
    for (const auto& name : names)
        if (!service::is_frigate_name(frigate.name_of(name)))
            fail(ErrorCode::usage, "'{0}' cannot be a name in Frigate; give its name there: frigate-camera {0}=NAME",
                 name);
}

// Checks everything that can be checked without opening a camera.
const CamerasOptions& checked(const CamerasOptions& options) {
    if (options.cameras.empty()) fail(ErrorCode::usage, "there are no cameras to serve");
    std::set<std::string> names;
    for (const auto& camera : options.cameras) {
        const auto& name = camera.server.stream;
        net::validate_stream_name(name);
        if (!names.insert(name).second) fail(ErrorCode::usage, "two cameras are named '{}'", name);
        if (const auto& path = options.listener.base_path; path == "/" + name || path.starts_with("/" + name + "/"))
            fail(ErrorCode::usage,
                 "the base path {} begins with the name of a camera, so it would hide the camera's address", path);
        naming(name, options.cameras.size() > 1, [&] { check_camera(camera); });
    }
    if (options.rtsp.onvif && (!options.rtsp.listen || !options.web))
        fail(ErrorCode::usage, "onvif requires rtsp, and the page and API over HTTP");
    if (options.webrtc.ports || !options.webrtc.address.empty()) {
        if (!options.web || (!options.video.encoder && !options.rtsp.listen))
            fail(ErrorCode::usage, "webrtc-ports and webrtc-address require video, and the page and API over HTTP");
        service::WhepServer::require();
    }
    check_events(options.events);
    if (!options.events.mqtt.broker.host.empty() && watched(options).empty())
        fail(ErrorCode::usage, "mqtt sends detector events, but detect is not enabled for any camera");
    check_frigate(options);
    return options;
}

// Returns a text that identifies this machine.
std::string machine_id() {
    std::ifstream file("/etc/machine-id");
    std::string id;
    if (std::getline(file, id) && !id.empty()) return id;
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

// Returns the encoder's settings, with RTSP the default ones if none were given.
std::optional<LiveVideoSettings> video_encoder_of(const CamerasOptions& options) {
    if (options.rtsp.listen && !options.video.encoder) return LiveVideoSettings();
    return options.video.encoder;
}

void require_folder(const std::string& folder) {
    if (!folder.empty() && !std::filesystem::is_directory(folder))
        fail(ErrorCode::config, "the recording folder {} does not exist", folder);
}

// Calls `body` with each index on a separate thread, and returns when all calls have ended.
template <class Body>
void for_all_at_once(std::vector<std::unique_ptr<Camera>>& cameras, const Body& body) {
    std::vector<std::jthread> threads;
    for (std::size_t at = 0; at < cameras.size(); ++at) threads.emplace_back([&, at] { body(at); });
}

}  // namespace

struct CamerasJob::State {
    // Checks the options, starts listening, reads the persisted state, opens all cameras, and only then serves the page
    // and the API.
    explicit State(const CamerasOptions& options)
        : job(options.job, files_of(checked(options))),
          listener(options.listener, job.stop()),
          several(options.cameras.size() > 1),
          events(options.events, watched(options), make_outputs(options)) {
        const auto& live = options.live;
        require_folder(live.record_folder);
        const auto encoder = video_encoder_of(options);
        if (encoder) check_live_video(*encoder);
        auto requested = live.state_path.empty() ? PersistedSettings() : read_state(live.state_path);
        const auto seen = watched(options);
        if (!seen.empty()) result.events.emplace();
        for (auto camera : options.cameras) {
            if (std::ranges::find(seen, camera.server.stream) != seen.end())
                camera.seen = &events.of(camera.server.stream);
            camera.job.stop = job.stop();
            camera.job.progress = several ? ProgressMode::none : options.job.progress;
            camera.job.replace = options.job.replace;
            camera.job.gpus = options.job.gpus;
            camera.motion_after_frames = options.events.motion.after_frames;
            if (!camera.clips.empty()) prepare_clip_folder(parse_clips(camera.clips).folder);
            if (encoder) prepare_sound(camera);
            if (several) share_machine(camera, static_cast<int>(options.cameras.size()));
            cameras.push_back(
                std::make_unique<Camera>(camera, listener, live, fitting(camera, requested[camera.server.stream])));
            result.cameras.push_back({.name = camera.server.stream});
        }
        if (encoder)
            for (const auto& camera : cameras)
                videos.push_back(std::make_shared<service::CameraVideos>(camera->live(), *encoder));
        open();
        if (publisher) publisher->show(watched_live(seen));
        if (!live.state_path.empty()) persist_settings(live.state_path, std::move(requested));
        if (options.rtsp.listen) serve_rtsp(options);
        if (options.rtsp.onvif) describe_to_onvif(options);
        if (options.web) serve_web(options);
    }
    ~State() { listener.set_site(nullptr); }

    // Persists settings after each control request and periodically. Requests may outlive the keeper.
    void persist_settings(const std::string& path, PersistedSettings requested) {
        std::vector<std::shared_ptr<ServedCamera>> served;
        for (const auto& camera : cameras) served.push_back(camera->live());
        keeper = std::make_shared<StateKeeper>(path, std::move(requested), std::move(served));
        for (const auto& camera : cameras)
            camera->live()->persist_settings_by([name = camera->name(), kept_by = std::weak_ptr(keeper)] {
                const auto there = kept_by.lock();
                if (!there) return;
                try {
                    there->keep_now();
                } catch (const Error& error) {
                    fail(error.code(), "{}: the change was applied but will be lost at a restart: {}", name,
                         error.what());
                }
            });
    }

    // Adds the HTTP routes to the listener.
    void serve_web(const CamerasOptions& options) {
        if (!videos.empty()) webrtc = std::make_shared<service::WhepServer>(webrtc_of(options));
        listener.set_site(service::web::make_site({.cameras = live(),
                                                   .videos = videos,
                                                   .webrtc = webrtc,
                                                   .viewers = [this] { return listener.metrics(); },
                                                   .rtsp =
                                                       [server = std::weak_ptr(rtsp)] {
                                                           const auto there = server.lock();
                                                           return there ? std::optional(there->statistics())
                                                                        : std::nullopt;
                                                       },
                                                   .events = &events.feeds(),
                                                   .has_token = !options.listener.token.empty(),
                                                   .has_tls = options.listener.tls.has_value(),
                                                   .takes_recordings = !options.live.record_folder.empty(),
                                                   .base_path = options.listener.base_path,
                                                   .onvif = onvif}));
        log_info("in a browser: {}://{}{}/", options.listener.tls ? "https" : "http", to_string(listener.address()),
                 options.listener.base_path);
    }

    // Returns the settings of WebRTC with the listener's limits. Sessions use the listener's address, unless that
    // stands for all addresses of the machine or is a name.
    service::WhepOptions webrtc_of(const CamerasOptions& options) const {
        auto settings = options.webrtc;
        settings.sessions_limit = options.listener.viewers_limit;
        settings.base_path = options.listener.base_path;
        const auto& host = listener.address().host;
        if (!settings.address.empty()) return settings;
        if (net::is_loopback(listener.address()))
            settings.address = host == "localhost" ? "127.0.0.1" : host;
        else if (host.find_first_not_of("0.:") != std::string::npos &&
                 host.find_first_not_of("0123456789abcdefABCDEF.:") == std::string::npos)
            settings.address = host;
        return settings;
    }

    // Starts the RTSP server with the access control of the listener.
    void serve_rtsp(const CamerasOptions& options) {
        auto settings = options.rtsp;
        settings.token = options.listener.token;
        settings.open = options.listener.open;
        settings.tls = options.listener.tls;
        settings.sessions_limit = options.listener.viewers_limit;
        rtsp = std::make_shared<service::RtspServer>(settings, videos);
        for (const auto& camera : cameras) log_info("over RTSP: {}", rtsp->url(camera->name()));
    }

    // Answers ONVIF clients: requests over HTTP, and probes that look for cameras in the network.
    void describe_to_onvif(const CamerasOptions& options) {
        const auto& address = listener.address();
        const auto uuid = service::onvif::uuid_of(fmt::format("framewire {} {}", machine_id(), to_string(address)));
        onvif = std::make_shared<service::onvif::Device>(
            service::onvif::DeviceParts{.cameras = live(),
                                        .token = options.listener.token,
                                        .tls = options.listener.tls.has_value(),
                                        .rtsp_port = rtsp->address().port,
                                        .base_path = options.listener.base_path,
                                        .uuid = uuid});
        discovery = std::make_unique<service::onvif::Discovery>(
            service::onvif::DiscoveryOptions{.http = address,
                                             .tls = options.listener.tls.has_value(),
                                             .base_path = options.listener.base_path,
                                             .uuid = uuid,
                                             .name = "framewire"});
        log_info("ONVIF clients find the cameras at {}://{}{}{}", options.listener.tls ? "https" : "http",
                 to_string(address), options.listener.base_path, service::onvif::device_path);
    }

    std::vector<std::shared_ptr<service::LiveCamera>> live() const {
        std::vector<std::shared_ptr<service::LiveCamera>> all;
        for (const auto& camera : cameras) all.push_back(camera->live());
        return all;
    }

    // Returns the cameras with these names.
    std::vector<std::shared_ptr<service::LiveCamera>> watched_live(const std::vector<std::string>& names) const {
        auto all = live();
        std::erase_if(all, [&](const auto& camera) { return std::ranges::find(names, camera->name()) == names.end(); });
        return all;
    }

    // Makes the publisher if a broker is configured, and the sender to Frigate. `publisher` and `frigate` refer to them
    // for statistics; the event hub owns them.
    std::vector<std::unique_ptr<service::EventOutput>> make_outputs(const CamerasOptions& options) {
        std::vector<std::unique_ptr<service::EventOutput>> outputs;
        if (!options.events.mqtt.broker.host.empty()) {
            auto made = std::make_unique<service::MqttPublisher>(options.events.mqtt, watched(options));
            publisher = made.get();
            outputs.push_back(std::move(made));
        }
        if (!options.events.frigate.server.server.host.empty()) {
            auto made = std::make_unique<service::FrigateEvents>(options.events.frigate, watched(options));
            frigate = made.get();
            outputs.push_back(std::move(made));
        }
        return outputs;
    }

    // Sends the last events and stores the final counters.
    void end_events() {
        events.end(Clock::now() + (job.stopped() ? stopped_deadline : ending_deadline));
        if (result.events) result.events = events.figures();
        if (publisher) result.mqtt = publisher->figures();
        if (frigate) result.frigate = frigate->figures();
    }

    // Opens all cameras in parallel. The first error ends the constructor, except those of slow cameras.
    void open() {
        for (const auto& camera : cameras)
            opening.push_back(std::async(std::launch::async, [this, &camera = *camera] {
                naming(camera.name(), several, [&] { camera.open(several); });
            }));
        const auto deadline = Clock::now() + longest_common_opening;
        FirstFailure failure;
        for (std::size_t at = 0; at < cameras.size(); ++at)
            if (!several || !cameras[at]->may_be_away() ||
                opening[at].wait_until(deadline) == std::future_status::ready)
                failure.attempt([&] { opening[at].get(); });
        failure.rethrow();
        for (std::size_t at = 0; at < cameras.size(); ++at)
            if (!opening[at].valid()) cameras[at]->tell_address();
    }

    // Waits until a slow camera is open.
    void finish_opening(std::size_t at) {
        if (!opening[at].valid()) return;
        try {
            opening[at].get();
        } catch (...) {
            cameras[at]->live()->end();
            throw;
        }
        cameras[at]->tell_address();
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
        discovery.reset();
        rtsp.reset();
        end_events();
        listener.close("all streams have ended");
        result.total = total_of(cameras);
        result.viewers = listener.metrics();
        failure.attempt([&] { job.statistics_file().write(to_json(result)); });
        failure.rethrow();
    }

    // Runs one camera. Its error is logged and stored in its result.
    std::exception_ptr run(std::size_t at) {
        auto& of_camera = result.cameras[at];
        FirstFailure failure;
        failure.attempt([&] {
            try {
                finish_opening(at);
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
    service::MqttPublisher* publisher = nullptr;
    service::FrigateEvents* frigate = nullptr;
    service::EventHub events;
    std::vector<std::unique_ptr<Camera>> cameras;
    // of each camera; empty without video
    std::vector<std::shared_ptr<service::CameraVideos>> videos;
    // of each camera; not valid any more when its result was taken
    std::vector<std::future<void>> opening;
    CamerasResult result;
    std::shared_ptr<service::RtspServer> rtsp;
    std::shared_ptr<service::WhepServer> webrtc;
    std::shared_ptr<service::onvif::Device> onvif;
    std::unique_ptr<service::onvif::Discovery> discovery;
    // last member, because it refers to the cameras
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
const service::EventHub& CamerasJob::events() const { return state_->events; }

std::optional<service::MqttStatistics> CamerasJob::mqtt() const {
    return state_->publisher ? std::optional(state_->publisher->figures()) : std::nullopt;
}

std::vector<std::shared_ptr<service::LiveCamera>> CamerasJob::live() const { return state_->live(); }

const CamerasResult& CamerasJob::run() { return state_->run(), state_->result; }
const CamerasResult& CamerasJob::result() const { return state_->result; }

namespace {

using Json = nlohmann::ordered_json;

double per_second(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

// Returns the totals with the same member names as a single camera's statistics.
Json total_json(const CamerasTotal& total) {
    return {{"frames", total.frames},       {"drops", total.drops},
            {"seconds", total.seconds},     {"fps", per_second(static_cast<double>(total.frames), total.seconds)},
            {"raw_bytes", total.raw_bytes}, {"sent_bytes", total.sent_bytes}};
}

}  // namespace

CamerasTotal total_of(const std::vector<std::unique_ptr<Camera>>& cameras) {
    CamerasTotal total;
    for (const auto& camera : cameras) {
        const auto figures = camera->figures();
        total.frames += figures.frames;
        total.drops += figures.drops;
        total.seconds = std::max(total.seconds, figures.seconds);
        total.raw_bytes += figures.raw_bytes;
        total.sent_bytes += figures.sent_bytes;
    }
    return total;
}

ProgressLines progress_lines(const std::vector<std::unique_ptr<Camera>>& cameras) {
    const auto bar = [&cameras](int columns) {
        const auto total = total_of(cameras);
        auto line = fmt::format("{} cameras, {} frames  {:.1f} fps  {:.2f} Mbit/s", cameras.size(), total.frames,
                                per_second(static_cast<double>(total.frames), total.seconds),
                                per_second(8e-6 * static_cast<double>(total.sent_bytes), total.seconds));
        if (total.drops > 0) line += fmt::format("  {} dropped", total.drops);
        return line.substr(0, static_cast<std::size_t>(std::max(columns, 0)));
    };
    const auto json = [&cameras] {
        auto line = total_json(total_of(cameras));
        for (const auto& camera : cameras)
            line["cameras"][camera->name()] = Json::parse(progress_json(camera->figures(), std::nullopt));
        return json_text(line);
    };
    return {bar, json};
}

std::string to_json(const CamerasResult& result) {
    const auto text = [](const Json& json) { return json_text(json, 2) + "\n"; };
    const auto of = [](const CameraResult& camera) {
        auto json = Json::parse(to_json(camera.broadcast.figures, camera.broadcast.description));
        if (camera.failure) json["failure"] = *camera.failure;
        return json;
    };
    const auto add_events = [&result](Json json) {
        if (const auto& events = result.events)
            json["events"] = {{"objects", events->objects},
                              {"motion", events->motion},
                              {"zone", events->zone},
                              {"left_out", events->left_out}};
        if (const auto& mqtt = result.mqtt)
            json["mqtt"] = {{"connections", mqtt->connections},
                            {"acknowledged", mqtt->acknowledged},
                            {"waiting", mqtt->waiting},
                            {"dropped", mqtt->dropped},
                            {"pictures", mqtt->pictures}};
        if (const auto& frigate = result.frigate)
            json["frigate"] = {{"created", frigate->created},
                               {"ended", frigate->ended},
                               {"waiting", frigate->waiting},
                               {"dropped", frigate->dropped}};
        return json;
    };
    if (result.cameras.size() == 1) return text(add_events(of(result.cameras.front())));
    auto json = total_json(result.total);
    json["viewers_total"] = result.viewers.viewers_total;
    for (const auto& camera : result.cameras) json["cameras"][camera.name] = of(camera);
    return text(add_events(json));
}

}  // namespace framewire::jobs
