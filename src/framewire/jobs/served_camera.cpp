#include "framewire/jobs/served_camera.hpp"
#include "framewire/codec/packing.hpp"
#include "framewire/codec/rate_control.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/text.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/filters/adjust.hpp"
#include "framewire/filters/text.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/jobs/outputs.hpp"
#include "framewire/jobs/relay.hpp"
#include "framewire/media/image_formats.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/output_file.hpp"
#include "framewire/plan/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <utility>
#include <variant>

// Reconstructs the command line of a served camera from its options, for example to restart it with the settings made
// on the page.

namespace framewire::jobs {
namespace {

// Builds a command line. Values are quoted for the shell; empty values and values equal to the defaults are omitted.
class CommandLineText {
public:
    explicit CommandLineText(std::string begin) : text_(std::move(begin)) {}

    void flag(std::string_view name, bool given = true) {
        if (given) text_ += fmt::format(" {}", name);
    }
    void option(std::string_view name, std::string_view value) {
        if (!value.empty()) text_ += fmt::format(" {} {}", name, shell_word(value));
    }
    template <class Number>
    void number(std::string_view name, const std::optional<Number>& value) {
        if (value) option(name, fmt::to_string(*value));
    }
    // Adds one option per parameter that differs from its default.
    template <class Aggregate>
    void differences(const ParameterFields<Aggregate>& fields, const Aggregate& values,
                     std::string_view threshold = "threshold") {
        fields.for_differences(values, Aggregate{}, [&](const auto& info, const auto& text, const auto&) {
            const auto name = info.name == "threshold" ? threshold : info.name;
            if (info.type != ParameterInfo::Type::flag)
                option(fmt::format("--{}", name), text);
            else
                flag(fmt::format("--{}{}", text == "1" ? "" : "no-", name));
        });
    }
    void comment(std::string_view text) { text_ += fmt::format("  # {}", text); }
    const std::string& text() const { return text_; }

private:
    std::string text_;
};

// Adds the options of the source and its filters.
void add_input(CommandLineText& line, const InputOptions& input) {
    line.option("-f", input.filters);
    line.option("--matrix", input.matrix);
    line.option("--range", input.range);
    if (input.decode != DecodeChoice::automatic) line.option("--decode", std::string(to_string(input.decode)));
    if (input.start_seconds > 0) line.option("--start", fmt::to_string(input.start_seconds));
    line.number("--duration", input.duration_seconds);
    if (input.reconnect && *input.reconnect != SourceOptions::for_ever)
        line.option("--reconnect", fmt::format("{:g}", 1e-3 * static_cast<double>(input.reconnect->count())));
    line.number("--max-pixels", input.max_pixels);
    line.number("--max-memory", input.max_memory_bytes);
    line.flag("--loop", input.loop);
    line.flag("--controls", input.accepts_control);
}

// Adds the detector's options that differ from their defaults.
void add_detector(CommandLineText& line, const DetectorOptions& detector) {
    line.flag("--detect");
    line.differences(detector_fields(), detector.parameters, "detect-threshold");
    if (const auto* zones = std::get_if<std::vector<Zone>>(&detector.region))
        for (const auto& zone : *zones)
            line.option("--roi", fmt::format("{},{},{},{}", zone.x, zone.y, zone.width, zone.height));
    if (const auto* picture = std::get_if<std::string>(&detector.region)) line.option("--roi-mask", *picture);
    if (detector.tracker) line.option("--track", tracker_fields().text(*detector.tracker));
}

// Returns an `adjust` filter with the values that are not neutral.
std::string adjust_text(const Adjustment& set) {
    const Adjustment nothing;
    std::string values;
    const auto add = [&](std::string_view name, const auto& value, const auto& usual) {
        if (value != usual) values += fmt::format("{}{}={}", values.empty() ? "" : ":", name, value);
    };
    add("brightness", set.brightness, nothing.brightness);
    add("contrast", set.contrast, nothing.contrast);
    add("saturation", set.saturation, nothing.saturation);
    add("gain", set.gain, nothing.gain);
    return values.empty() ? "adjust" : "adjust=" + values;
}

// Returns the text of a comment that lists the zones.
std::string zones_text(const service::LiveZones& zones) {
    std::string text;
    for (const auto& [kind, area] : zones.zones)
        text += fmt::format("{}{} {},{},{},{}", text.empty() ? "" : "; ", to_string(kind), area.x, area.y, area.width,
                            area.height);
    return fmt::format("zones have no option: {} (on {}x{}); --state FILE keeps them", text, zones.drawn_on.width,
                       zones.drawn_on.height);
}

}  // namespace

std::string chain_in_force(const std::string& chain, std::span<const FilterSwitch> filters,
                           const std::optional<Adjustment>& adjustment) {
    const auto calls = parse_chain(chain).calls;
    std::string on;
    const auto add = [&](std::string_view filter) { on.append(on.empty() ? "" : ",").append(filter); };
    const bool adjusts = std::ranges::any_of(calls, [](const auto& call) { return call.filter->name == "adjust"; });
    // If the chain has no `adjust`, the panel's own one comes first, or directly after the filter that changes the
    // rate.
    const auto changes_rate = [](const auto& call) { return static_cast<bool>(call.filter->rate); };
    bool owes_own = adjustment && !adjusts;
    if (owes_own && std::ranges::none_of(calls, changes_rate)) {
        add(adjust_text(*adjustment));
        owes_own = false;
    }
    bool is_set = !adjustment;
    for (std::size_t number = 0; number < calls.size(); ++number) {
        const bool sets = calls[number].filter->name == "adjust" && !std::exchange(is_set, true);
        if (number < filters.size() && !filters[number].on) continue;
        if (sets) {
            add(adjust_text(*adjustment));
            continue;
        }
        const auto begin = calls[number].offset;
        const auto end = number + 1 < calls.size() ? calls[number + 1].offset : chain.size();
        const auto text = std::string_view(chain).substr(begin, end - begin);
        add(text.substr(0, text.find_last_not_of(number + 1 < calls.size() ? ", \t\n" : " \t\n") + 1));
        if (owes_own && changes_rate(calls[number])) {
            add(adjust_text(*adjustment));
            owes_own = false;
        }
    }
    return on;
}

std::string command_of(const BroadcastOptions& options, const std::string& kept_in) {
    CommandLineText line("framewire serve");
    line.option("-i", fmt::format("{}={}", options.server.stream, address_without_credentials(options.input.source)));
    add_input(line, options.input);
    line.differences(codec::encoder_fields(), options.encoder);
    if (options.rate) {
        line.option("--max-bitrate", fmt::format("{:.0f}", options.rate->bits_per_second));
        line.number("--threshold-max", options.rate->threshold_max);
    }
    line.number("--refine", options.refine_seconds);
    if (options.hurries)
        line.option("--rate", "max");
    else if (options.input.fps > 0)
        line.option("--rate", fmt::to_string(options.input.fps));
    line.flag("--no-audio", !options.audio);
    if (options.detector) add_detector(line, *options.detector);
    line.option("--zones", options.event_zones_path);
    line.option("--record", options.record);
    line.option("--clips", options.clips);
    line.option("--state", kept_in);
    if (kept_in.empty() && !options.zones.zones.empty()) line.comment(zones_text(options.zones));
    if (kept_in.empty() && options.event_zones_path.empty() && !options.event_zones.empty())
        line.comment(fmt::format("--zones FILE has {}", options.event_zones.to_json()));
    return line.text();
}

namespace {

// The only filter parameter that can name a file; a test checks this against the filter registry.
constexpr std::string_view font_parameter = "font";

}  // namespace

codec::EncoderParameters encoder_with(const BroadcastOptions& asked, const LiveSettings& requested) {
    auto encoder = asked.encoder;
    if (requested.mode) encoder.mode = *requested.mode;
    if (requested.threshold) encoder.threshold = *requested.threshold;
    codec::validate_packed_threshold(encoder.threshold);
    if (!asked.rate) return encoder;
    if (encoder.mode == codec::Mode::lossless)
        fail(ErrorCode::usage, "a bitrate cannot be combined with mode lossless; allowed: exact and bounded");
    codec::validate(*asked.rate, encoder.threshold);
    return encoder;
}

// Persisted settings that no longer fit are dropped, so that they do not prevent the server from starting.
LiveSettings fitting(const BroadcastOptions& asked, LiveSettings requested) {
    const auto& name = asked.server.stream;
    if (relayed_stream(asked.input.source) && requested != LiveSettings{}) {
        log_warning("{}: the stream is forwarded unchanged; ignoring its persisted settings", name);
        return {};
    }
    try {
        encoder_with(asked, requested);
    } catch (const Error& error) {
        log_warning("{}: ignoring the persisted threshold and mode: {}", name, error.what());
        requested.threshold.reset();
        requested.mode.reset();
    }
    return requested;
}

BroadcastOptions options_with(const BroadcastOptions& asked, const LiveSettings& requested) {
    auto options = asked;
    if (requested.chain) options.input.filters = *requested.chain;
    options.encoder = encoder_with(asked, requested);
    options.zones = requested.zones;
    if (requested.event_zones) {
        options.event_zones = *requested.event_zones;
        options.event_zones_path.clear();
    }
    return options;
}

Adjustment adjustment_of_chain(const std::string& chain) {
    for (const auto& call : parse_chain(chain).calls)
        if (call.filter->name == "adjust") return adjustment_from(call.values);
    return {};
}

void check_requested_chain(const std::string& chain) {
    for (const auto& call : parse_chain(chain).calls)
        for (const auto& parameter : call.filter->parameters) {
            if (parameter.name != font_parameter || !call.values.is_given(parameter.name)) continue;
            const auto& text = call.values.text(parameter.name);
            if (names_font_file(text))
                fail(ErrorCode::usage,
                     "font {}: font files on the server are not allowed here; use the name of a font family",
                     in_quotes(text));
        }
}

}  // namespace framewire::jobs

// Queries of a ServedCamera, and the attaching and detaching of its jobs.

namespace framewire::jobs {
namespace {

// Returns the file name without the folder, which viewers must not see.
std::string file_of(const std::string& path) { return std::filesystem::path(path).filename().string(); }

// Describes a relayed stream as a BroadcastStanding. A relay has no controls of its own.
BroadcastStanding standing_of(const RelayJob& relay) {
    const auto& info = relay.info();
    return {.source_shape = info.shape,
            .shape = info.shape,
            .rate = info.rate,
            .up = relay.up(),
            .reconnects = relay.reconnects(),
            .mode = info.mode,
            .threshold = info.threshold,
            .threshold_max = info.threshold,
            .controls = {.fixed_because = "the stream is forwarded unchanged"}};
}

}  // namespace

void add(net::StreamMetrics& total, const net::StreamMetrics& part) {
    total.viewers = part.viewers;
    total.viewers_total += part.viewers_total;
    total.dropped += part.dropped;
    total.keyframes += part.keyframes;
    total.delta_frames += part.delta_frames;
    total.skipped += part.skipped;
    total.keyframe_bytes += part.keyframe_bytes;
    total.delta_frame_bytes += part.delta_frame_bytes;
    total.other_bytes += part.other_bytes;
}

ServedCamera::ServedCamera(const BroadcastOptions& asked, const service::LiveOptions& live, LiveSettings requested,
                           std::shared_ptr<const Statistics> statistics)
    : name_(asked.server.stream),
      asked_(asked),
      live_(live),
      relays_(relayed_stream(asked.input.source)),
      statistics_(std::move(statistics)),
      requested_(std::move(requested)) {}

BroadcastOptions ServedCamera::options(const BroadcastOptions& all) const {
    const std::lock_guard lock(requests_mutex_);
    return options_with(all, requested_);
}

// Reverts to the settings of the last job or, if those failed too, to the camera's original options.
bool ServedCamera::give_up_requests(const std::string& why) {
    const std::lock_guard lock(requests_mutex_);
    auto before = requested_ == accepted_ ? LiveSettings{} : accepted_;
    before.zones = requested_.zones;
    before.event_zones = requested_.event_zones;
    if (before == requested_) return false;
    log_warning("{}: cannot apply the request: {}; the camera continues as before", name_, why);
    requested_ = accepted_ = std::move(before);
    given_up_because_ = why;
    return true;
}

// A new job starts with the options that options_with() returns. Filter switches and adjustment are then applied as
// control requests.
void ServedCamera::attach(BroadcastJob& job) {
    const std::lock_guard requests(requests_mutex_);
    const auto attempt = [&](const auto& request) {
        try {
            job.control(request);
        } catch (const Error& error) {
            log_warning("{}: {}", name_, error.what());
        }
    };
    for (const auto number : numbers_of_off(requested_.filters, job.controls().filters))
        attempt(service::FilterRequest{number, false});
    if (requested_.adjustment && *requested_.adjustment != job.controls().adjustment) attempt(*requested_.adjustment);
    accepted_ = requested_;
    job_chain_ = requested_.chain.value_or(asked_.input.filters);
    if (is_recorded_) go_on_recording(job);
    ++job_number_;
    begins_again_ = false;
    const std::lock_guard lock(job_mutex_);
    job_ = &job;
    stands_.notify_all();
}

void ServedCamera::attach(RelayJob& job) {
    const std::lock_guard lock(job_mutex_);
    relay_ = &job;
}

// Adds the job's counters to the totals, so that versions, traffic and reconnects increase across restarts.
void ServedCamera::detach() {
    const std::lock_guard requests(requests_mutex_);
    requested_ = settings_now();
    begins_again_ = job_ || relay_;
    const std::lock_guard lock(job_mutex_);
    const auto leave = [&](const auto& job, BroadcastStanding standing) {
        last_ = std::move(standing);
        last_.up = false;
        version_before_ += job.picture_version();
        add(viewers_before_, job.viewers());
        viewers_before_.viewers = 0;
        reconnects_before_ += last_.reconnects;
    };
    if (const auto* job = std::exchange(job_, nullptr)) leave(*job, job->standing());
    if (const auto* relay = std::exchange(relay_, nullptr)) leave(*relay, standing_of(*relay));
}

void ServedCamera::end() {
    const std::lock_guard requests(requests_mutex_);
    is_over_ = true;
    stands_.notify_all();
}

// Continues the recording in a new file, because the new job may have another shape or mode.
void ServedCamera::go_on_recording(BroadcastJob& job) {
    try {
        job.start_recording(new_file("fwd"));
    } catch (const Error& error) {
        is_recorded_ = false;
        log_error("{}; the stream continues without a recording", error.what());
    }
}

LiveSettings ServedCamera::settings() const {
    const std::lock_guard lock(requests_mutex_);
    return settings_now();
}

// Viewers' panels change the job directly, so its controls are read back.
LiveSettings ServedCamera::settings_now() const {
    auto settings = requested_;
    const std::shared_lock lock(job_mutex_);
    if (!job_) return settings;
    const auto controls = job_->controls();
    const bool all_on = std::ranges::all_of(controls.filters, [](const auto& filter) { return filter.on; });
    settings.filters = all_on ? std::vector<FilterSwitch>() : controls.filters;
    // The adjustment in a new chain takes precedence over one that was requested for the previous chain.
    const auto own = adjustment_of_chain(job_chain_);
    settings.adjustment.reset();
    if (controls.adjustment != own && own == adjustment_of_chain(settings.chain.value_or(asked_.input.filters)))
        settings.adjustment = controls.adjustment;
    return settings;
}

// Reads the state under the locks. Texts and the command line are made after the locks are released.
service::LiveCameraState ServedCamera::state() const {
    LiveSettings requested;
    BroadcastStanding standing;
    service::LiveCameraState state{.name = name_, .source = public_name(asked_.input.source)};
    {
        const std::lock_guard requests(requests_mutex_);
        requested = settings_now();
        const std::shared_lock lock(job_mutex_);
        standing = job_ ? job_->standing() : relay_ ? standing_of(*relay_) : last_;
        state.reconnects = reconnects_before_ + (job_ || relay_ ? standing.reconnects : 0);
        if (const auto recording = job_ ? job_->recording() : std::nullopt)
            state.recording = {file_of(recording->file), recording->seconds, recording->bytes};
    }
    const auto encoder = encoder_with(asked_, requested);
    state.up = standing.up;
    state.may_be_set = asked_.input.accepts_control && !relays_;
    state.source_shape = standing.source_shape;
    state.shape = standing.shape;
    state.rate = standing.rate.value();
    state.chain = requested.chain.value_or(asked_.input.filters);
    state.controls = standing.controls;
    state.plan = std::move(standing.plan);
    state.zones = standing.source_shape.width > 0 ? service::zones_on(requested.zones, standing.source_shape)
                                                  : requested.zones.zones;
    state.event_zones = requested.event_zones.value_or(asked_.event_zones);
    state.mode = relays_ ? standing.mode : encoder.mode;
    state.threshold = relays_ ? standing.threshold : encoder.effective_threshold();
    state.threshold_max = std::max(state.threshold, standing.threshold_max);
    state.detects = asked_.detector.has_value();
    state.command = command(requested);
    return state;
}

std::string ServedCamera::command(const LiveSettings& requested) const {
    auto options = options_with(asked_, requested);
    options.input.filters = chain_in_force(options.input.filters, requested.filters, requested.adjustment);
    return command_of(options, live_.state_path);
}

net::StreamMetrics ServedCamera::viewers() const {
    const std::shared_lock lock(job_mutex_);
    auto total = viewers_before_;
    if (job_) add(total, job_->viewers());
    if (relay_) add(total, relay_->viewers());
    return total;
}

// Copies the picture under the shared lock, so that the job cannot be destroyed meanwhile.
std::optional<service::LiveCamera::Picture> ServedCamera::picture() const {
    const std::shared_lock lock(job_mutex_);
    const auto copy_of = [&](const auto& job, const Shape& shape) -> std::optional<Picture> {
        if (job.picture_version() == 0) return std::nullopt;
        Picture picture{HostImage(shape), 0};
        const auto header = job.copy_picture(picture.image.view());
        picture.version = version_before_ + header.version;
        picture.seconds = header.seconds;
        return picture;
    };
    if (job_) return copy_of(*job_, job_->standing().shape);
    if (relay_) return copy_of(*relay_, relay_->info().shape);
    return std::nullopt;
}

std::uint64_t ServedCamera::oldest_picture_version() const {
    const std::shared_lock lock(job_mutex_);
    return version_before_ + (job_ ? job_->oldest_picture_version() : 0);
}

std::uint64_t ServedCamera::picture_version() const {
    const std::shared_lock lock(job_mutex_);
    return version_before_ + (job_ ? job_->picture_version() : relay_ ? relay_->picture_version() : 0);
}

}  // namespace framewire::jobs

// Control requests of a ServedCamera.

namespace framewire::jobs {

namespace {

// Calls `body` and removes the folder from its error messages about files, because viewers must not learn it. The log
// keeps the full message.
template <class Body>
auto naming_no_folder(const std::string& folder, const Body& body) {
    try {
        return body();
    } catch (const Error& error) {
        const auto front = folder.substr(0, folder.find_last_not_of('/') + 1) + '/';
        std::string text = error.what();
        for (auto at = text.find(front); at != text.npos; at = text.find(front, at)) text.erase(at, front.size());
        if (text != error.what()) log_error("{}", error.what());
        throw Error(error.code(), text);
    }
}

}  // namespace

void ServedCamera::require_settable() const {
    if (relays_)
        fail(ErrorCode::config, "{} is forwarded unchanged; send control requests to its origin server", name_);
    if (!asked_.input.accepts_control)
        fail(ErrorCode::config, "{} does not accept control requests; serve it with --controls", name_);
}

// Waits for the next job if the current one has ended because of a restart.
void ServedCamera::require_job(std::unique_lock<std::mutex>& requests) {
    stands_.wait_for(requests, RequestsInForce::patience, [&] { return job_ || is_over_ || !begins_again_; });
    if (is_over_) fail(ErrorCode::config, "{} has ended", name_);
    if (!job_) fail(ErrorCode::config, "{} is not available yet", name_);
}

// Requests are processed one after the other, each until it is in force. Queries do not wait meanwhile, because the
// mutexes of jobs and settings are free.
template <class ControlHandler>
void ServedCamera::carry_out(const ControlHandler& request) {
    require_settable();
    const std::lock_guard turn(turn_mutex_);
    RequestTicket ticket;
    std::uint64_t job_number = 0;
    {
        std::unique_lock requests(requests_mutex_);
        require_job(requests);
        const std::shared_lock lock(job_mutex_);
        given_up_because_.clear();
        job_number = job_number_;
        if (request(*job_) == Taken::by_job) {
            ticket = job_->ticket();
        } else {
            ticket = job_->next_job();
            job_->end_here();
        }
    }
    wait_until_in_force(ticket, job_number);
    keep();
}

// If the job ends before a frame is made with the request, the next job applies the request from its first frame on.
void ServedCamera::wait_until_in_force(const RequestTicket& ticket, std::uint64_t job_number) {
    auto outcome = ticket.wait();
    if (outcome == RequestsInForce::Outcome::ended) {
        RequestTicket first_frame;
        {
            std::unique_lock requests(requests_mutex_);
            stands_.wait_for(requests, RequestsInForce::patience,
                             [&] { return job_number_ != job_number || is_over_; });
            if (job_number_ == job_number || !job_) fail(ErrorCode::config, "{} has ended", name_);
            if (!given_up_because_.empty())
                fail(ErrorCode::config, "cannot apply the request to {}: {}; the camera continues as before", name_,
                     given_up_because_);
            first_frame = job_->first_frame();
        }
        outcome = first_frame.wait();
    }
    if (outcome == RequestsInForce::Outcome::ended) fail(ErrorCode::config, "{} has ended", name_);
    if (outcome == RequestsInForce::Outcome::late) fail(ErrorCode::config, "{}: {}", name_, late_request_text);
}

// A chain that needs another frame size or rate restarts the job.
void ServedCamera::set_chain(const std::string& text) {
    carry_out([&](BroadcastJob& job) {
        check_requested_chain(text);
        const bool taken = job.take_chain(text);
        requested_.chain = text;
        if (taken) accepted_.chain = job_chain_ = text;
        return taken ? Taken::by_job : Taken::by_next_job;
    });
}

void ServedCamera::control(const service::ControlRequest& request) {
    control_by([&](const auto&) { return request; });
}

void ServedCamera::control_by(const std::function<service::ControlRequest(const Adjustment& now)>& make) {
    carry_out([&](BroadcastJob& job) {
        job.control(make(job.controls().adjustment));
        return Taken::by_job;
    });
}

// Another mode, or a threshold above the signalled bound, restarts the job.
void ServedCamera::set_threshold(std::optional<int> threshold, std::optional<codec::Mode> mode) {
    carry_out([&](BroadcastJob& job) {
        auto wanted = requested_;
        if (threshold) wanted.threshold = threshold;
        if (mode) wanted.mode = mode;
        const auto encoder = encoder_with(asked_, wanted);
        if (encoder.mode == codec::Mode::lossless && threshold.value_or(0) > 0)
            fail(ErrorCode::usage, "threshold {} cannot be combined with mode lossless, whose threshold is 0",
                 *threshold);
        requested_ = std::move(wanted);
        const bool taken = encoder.mode == job.standing().mode && job.set_threshold(encoder.effective_threshold());
        if (taken) accepted_.threshold = requested_.threshold;
        return taken ? Taken::by_job : Taken::by_next_job;
    });
}

void ServedCamera::set_zones(const std::vector<service::LiveZone>& zones) {
    carry_out([&](BroadcastJob& job) {
        job.set_zones(zones);
        requested_.zones = {zones, job.standing().source_shape};
        return Taken::by_job;
    });
}

void ServedCamera::set_event_zones(const ZoneSet& zones) {
    carry_out([&](BroadcastJob& job) {
        job.set_event_zones(zones);
        requested_.event_zones = zones;
        return Taken::by_job;
    });
}

// Returns the path of a new file in the recording folder.
std::string ServedCamera::new_file(std::string_view ending) const {
    if (live_.record_folder.empty())
        fail(ErrorCode::config, "there is no folder for recordings and snapshots; serve with --record-dir DIR");
    return new_file_name(live_.record_folder, name_, ending);
}

std::string ServedCamera::start_recording() {
    require_settable();
    const std::lock_guard turn(turn_mutex_);
    std::unique_lock requests(requests_mutex_);
    require_job(requests);
    const std::shared_lock lock(job_mutex_);
    const auto path = new_file("fwd");
    naming_no_folder(live_.record_folder, [&] { job_->start_recording(path); });
    is_recorded_ = true;
    return std::filesystem::path(path).filename().string();
}

void ServedCamera::stop_recording() {
    require_settable();
    const std::lock_guard turn(turn_mutex_);
    std::unique_lock requests(requests_mutex_);
    require_job(requests);
    const std::shared_lock lock(job_mutex_);
    is_recorded_ = false;
    naming_no_folder(live_.record_folder, [&] { job_->stop_recording(); });
}

// Is serialised with the requests, so that no picture from before a completed request is written after that request.
std::string ServedCamera::save_snapshot() {
    require_settable();
    const std::lock_guard turn(turn_mutex_);
    const auto now = picture();
    if (!now) fail(ErrorCode::config, "{} has no picture yet", name_);
    const auto png = encode_png(std::as_const(now->image).view());
    const std::lock_guard requests(requests_mutex_);
    const auto path = new_file("png");
    naming_no_folder(live_.record_folder, [&] {
        OutputFile file(path);
        file.write(png.data(), png.size());
        file.finish();
    });
    return std::filesystem::path(path).filename().string();
}

}  // namespace framewire::jobs
