#include "framewire/session/config/settings.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/amounts.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/core/time/seconds.hpp"
#include "framewire/delta/refresh/rest_sharpener.hpp"
#include "framewire/media/fwd/settings.hpp"
#include "framewire/media/media.hpp"
#include "framewire/net/access/token.hpp"
#include "framewire/net/access/trusted_proxies.hpp"
#include "framewire/net/tls/identity.hpp"
#include "framewire/pipeline/chain/chain.hpp"
#include "framewire/session/cameras/camera_text.hpp"
#include "framewire/session/input/rate/play_rate.hpp"
#include "framewire/session/relay/relay.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <utility>

namespace framewire::session {
namespace {

using Type = ParameterInfo::Type;

// Each problem_with function returns what is wrong with a text; empty if it is valid.
std::string problem_with_time(const std::string& text) {
    return parse_seconds(text) ? std::string()
                               : fmt::format("{} is no time; allowed are {}", in_quotes(text), allowed_seconds);
}

std::string problem_with_bitrate(const std::string& text) {
    return bits_per_second_of(text)
               ? std::string()
               : fmt::format("{} is no bitrate from 1k to 1000G; 500k, 2M and the like are", in_quotes(text));
}

std::string problem_with_refresh(const std::string& text) {
    const double seconds = number_in<double>(text).value_or(0);
    return seconds == 0 || seconds >= delta::RestSharpener::least_seconds
               ? std::string()
               : fmt::format("{} is no time to rest; 0 and {} to {} seconds are allowed", in_quotes(text),
                             delta::RestSharpener::least_seconds, delta::RestSharpener::most_seconds);
}

// Makes a check from a function that parses a text: the problem is what it throws.
template <class Read>
std::function<std::string(const std::string&)> problem_of(Read read) {
    return [read](const std::string& text) {
        try {
            read(text);
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    };
}

// Splits a list at its commas; empty elements are kept.
std::vector<std::string> split_names(const std::string& text) {
    std::vector<std::string> names(1);
    for (const char letter : text) {
        if (letter == ',')
            names.emplace_back();
        else
            names.back() += letter;
    }
    return names;
}

// Returns true if the text can be a host name: letters, digits, - and ., at most 253 characters.
bool is_host_name(const std::string& text) {
    constexpr std::size_t longest = 253;
    return !text.empty() && text.size() <= longest && std::ranges::all_of(text, [](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) || letter == '-' || letter == '.';
    });
}

// "/cams/" means "/cams", and "/" means no base path.
std::string base_path_of(const std::string& text) {
    return text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
}

constexpr std::string_view for_ever = "forever";

std::string problem_with_patience(const std::string& text) {
    static const ParameterInfo seconds{
        .name = "reconnect", .help = "", .type = Type::real, .minimum = 0, .maximum = 86'400};
    const auto problem = text == for_ever ? std::string_view() : problem_with(seconds, text);
    return problem.empty() ? std::string()
                           : fmt::format("{} {}; allowed is a number of seconds from 0 to 86400, or forever",
                                         in_quotes(text), problem);
}

// Converts a checked text to the time for which reconnecting is tried.
std::chrono::milliseconds patience_of(const std::string& text) {
    if (text == for_ever) return SourceOptions::for_ever;
    return std::chrono::milliseconds(std::llround(1000 * number_in<double>(text).value()));
}

// Settings of a camera: one per encoder parameter, then those of the stream, the recording and control requests.
std::vector<Setting<CameraSettings>> make_camera_settings() {
    std::vector<Setting<CameraSettings>> settings;
    for (const auto& info : delta::encoder_fields().infos())
        settings.push_back({info, [name = info.name](CameraSettings& camera, const std::string& text) {
                                camera.encoder.add(name, text);
                            }});
    settings.push_back(
        {{.name = "max-bitrate",
          .help = "raise the threshold while the stream of a viewer would take more bits per second: 500k, 2M, 1.5G",
          .type = Type::text,
          .optional = true,
          .unit = "BITS"},
         [](CameraSettings& camera, const std::string& text) { camera.max_bitrate = bits_per_second_of(text); },
         problem_with_bitrate});
    settings.push_back(
        {{.name = "threshold-max",
          .help = "with a bitrate, raise it no higher than this; without, 64, or the threshold where "
                  "that is more",
          .maximum = 254,
          .optional = true},
         [](CameraSettings& camera, const std::string& text) { camera.threshold_max = number_in<int>(text); }});
    settings.push_back(
        {{.name = "refresh",
          .help = "blocks that rest for so long get sharper, 0.1 to 3600; 0: none do; without, 1, but 0 with a "
                  "recording",
          .type = Type::real,
          .minimum = 0,
          .maximum = delta::RestSharpener::most_seconds,
          .optional = true,
          .unit = "SECONDS"},
         [](CameraSettings& camera, const std::string& text) { camera.refresh_seconds = number_in<double>(text); },
         problem_with_refresh});
    settings.push_back({{.name = "record",
                         .help = "a .fwd file of what viewers get; :key=SECONDS may follow, {name} is the camera's",
                         .type = Type::text,
                         .optional = true,
                         .unit = "DST"},
                        [](CameraSettings& camera, const std::string& text) { camera.record = text; },
                        problem_of([](const std::string& text) { fwd::parse_record(text); })});
    settings.push_back({{.name = "rate",
                         .help = "how a file is played: own rate, max, or so many frames a second",
                         .type = Type::text,
                         .default_value = "own",
                         .unit = "own|max|FPS"},
                        [](CameraSettings& camera, const std::string& text) { camera.rate = text; },
                        problem_of([](const std::string& text) {
                            InputOptions input;
                            take_rate(text, "own, max", input);
                        })});
    settings.push_back(
        {{.name = "loop", .help = "begin again when the source ends", .type = Type::flag, .default_value = "0"},
         [](CameraSettings& camera, const std::string& text) { camera.input.loop = text == "1"; }});
    settings.push_back(
        {{.name = "wait",
          .help = "hold the first frame until so many viewers are there, and the second until they have the first",
          .default_value = "0",
          .maximum = 10'000,
          .unit = "N"},
         [](CameraSettings& camera, const std::string& text) { camera.wait = number_in<int>(text).value_or(0); }});
    settings.push_back({{.name = "detect",
                         .help = "look for moving objects; viewers draw boxes around them",
                         .type = Type::flag,
                         .default_value = "0"},
                        [](CameraSettings& camera, const std::string& text) { camera.detects = text == "1"; }});
    settings.push_back(
        {{.name = "panel",
          .help = "viewers may give orders: filters, threshold, brightness and its like, zones, recordings",
          .type = Type::flag,
          .default_value = "0"},
         [](CameraSettings& camera, const std::string& text) { camera.input.panel = text == "1"; }});
    settings.push_back(
        {{.name = "relay-token-file",
          .help = "of a stream that is forwarded: the token that its server wants to hear",
          .type = Type::text,
          .optional = true,
          .unit = "FILE"},
         [](CameraSettings& camera, const std::string& text) { camera.upstream.token = net::read_token_file(text); },
         problem_of([](const std::string& text) { net::read_token_file(text); })});
    settings.push_back({{.name = "relay-fingerprint",
                         .help = "of a stream that is forwarded over TLS: trust the certificate with this one",
                         .type = Type::text,
                         .optional = true,
                         .unit = "SHA256:HEX"},
                        [](CameraSettings& camera, const std::string& text) {
                            camera.upstream.fingerprint = net::parse_fingerprint(text);
                        },
                        problem_of([](const std::string& text) { net::parse_fingerprint(text); })});
    return settings;
}

}  // namespace

const std::vector<Setting<InputOptions>>& input_settings() {
    static const std::vector<Setting<InputOptions>> settings = {
        {{.name = "matrix",
          .help = "of YUV colours, instead of what the medium says",
          .type = Type::choice,
          .choices = {"bt601", "bt709", "bt2020"},
          .optional = true},
         [](InputOptions& input, const std::string& text) { input.matrix = text; }},
        {{.name = "range",
          .help = "of YUV colours, instead of what the medium says",
          .type = Type::choice,
          .choices = {"limited", "full"},
          .optional = true},
         [](InputOptions& input, const std::string& text) { input.range = text; }},
        {{.name = "start",
          .help = "begin with the frame of that time, or the next one",
          .type = Type::text,
          .optional = true,
          .unit = "TIME"},
         [](InputOptions& input, const std::string& text) { input.start_seconds = parse_seconds(text).value_or(0); },
         problem_with_time},
        {{.name = "duration",
          .help = "end so long after the start",
          .type = Type::text,
          .optional = true,
          .unit = "TIME"},
         [](InputOptions& input, const std::string& text) { input.duration_seconds = parse_seconds(text); },
         problem_with_time},
        {{.name = "reconnect",
          .help = "how long a camera or a network source that was lost is tried to be had again, from its loss to its "
                  "next frame",
          .type = Type::text,
          .optional = true,
          .unit = "SECONDS|forever"},
         [](InputOptions& input, const std::string& text) { input.reconnect = patience_of(text); },
         problem_with_patience},
        {{.name = "max-pixels",
          .help = "refuse pictures with more pixels, of the source and after any filter",
          .minimum = 1,
          .maximum = double{max_side_px} * max_side_px,
          .optional = true,
          .unit = "N"},
         [](InputOptions& input, const std::string& text) { input.max_pixels = number_in<std::int64_t>(text); }},
        {{.name = "max-memory",
          .help = "refuse chains and pictures of a camera that would take more memory, as estimated: 500M, 4G",
          .type = Type::text,
          .optional = true,
          .unit = "BYTES"},
         [](InputOptions& input, const std::string& text) {
             input.max_memory_bytes = static_cast<std::int64_t>(framewire::bytes_of(text).value_or(0));
         },
         [](const std::string& text) {
             return framewire::bytes_of(text)
                        ? std::string()
                        : fmt::format("{} is no amount of memory; 500M, 4G and the like are", in_quotes(text));
         }}};
    return settings;
}

const std::vector<Setting<CameraSettings>>& camera_settings() {
    static const auto settings = make_camera_settings();
    return settings;
}

const std::vector<Setting<net::ListenerOptions>>& listener_settings() {
    static const std::vector<Setting<net::ListenerOptions>> settings = {
        {{.name = "listen",
          .help = "where viewers connect; port 0 takes a free one; beyond loopback they need a token",
          .type = Type::text,
          .default_value = to_string(net::ListenerOptions{}.listen),
          .unit = "HOST:PORT"},
         [](net::ListenerOptions& listener, const std::string& text) { listener.listen = net::parse_address(text); },
         problem_of([](const std::string& text) { net::parse_address(text); })},
        {{.name = "viewers",
          .help = "how many viewers there may be at a time",
          .default_value = fmt::to_string(net::ListenerOptions{}.viewers_limit),
          .minimum = 1,
          .maximum = 10'000,
          .unit = "N"},
         [](net::ListenerOptions& listener, const std::string& text) {
             listener.viewers_limit = number_in<int>(text).value_or(listener.viewers_limit);
             // All viewers may connect at the same time, for example after a restart of the server.
             listener.greeting_limit = std::max(listener.greeting_limit, listener.viewers_limit);
         }},
        {{.name = "allow-host",
          .help =
              "names that browsers may ask by, beside this machine's own and numeric addresses; commas between them",
          .type = Type::text,
          .optional = true,
          .unit = "NAMES"},
         [](net::ListenerOptions& listener, const std::string& text) { listener.allowed_hosts = split_names(text); },
         [](const std::string& text) {
             for (const auto& name : split_names(text))
                 if (!is_host_name(name)) return fmt::format("{} is no name of a host", in_quotes(name));
             return std::string();
         }},
        {{.name = "trusted-proxy",
          .help = "reverse proxies whose X-Forwarded-For is believed, as addresses or networks such as 10.0.0.0/8; "
                  "commas between them",
          .type = Type::text,
          .optional = true,
          .unit = "ADDRESSES"},
         [](net::ListenerOptions& listener, const std::string& text) { listener.trusted_proxies = split_names(text); },
         problem_of([](const std::string& text) { net::TrustedProxies{split_names(text)}; })},
        {{.name = "base-path",
          .help = "the path below which a reverse proxy shows this server, such as /cams",
          .type = Type::text,
          .optional = true,
          .unit = "PATH"},
         [](net::ListenerOptions& listener, const std::string& text) { listener.base_path = base_path_of(text); },
         problem_of([](const std::string& text) { net::validate_base_path(base_path_of(text)); })}};
    return settings;
}

const std::vector<Setting<LiveOptions>>& live_option_settings() {
    static const std::vector<Setting<LiveOptions>> settings = {
        {{.name = "state",
          .help = "keep what is ordered of cameras there, and begin with what was ordered before",
          .type = Type::text,
          .optional = true,
          .unit = "FILE"},
         [](LiveOptions& live, const std::string& text) { live.state_path = text; }},
        {{.name = "record-dir",
          .help = "a folder for recordings and snapshots that are ordered while cameras are served; there are none "
                  "without",
          .type = Type::text,
          .optional = true,
          .unit = "DIR"},
         [](LiveOptions& live, const std::string& text) { live.record_folder = text; }}};
    return settings;
}

BroadcastOptions broadcast_of(const CameraSettings& settings, const std::string& name, const JobOptions& job,
                              std::string_view dashes) {
    const auto encoder = delta::encoder_fields().from(settings.encoder);
    if (encoder.mode == delta::Mode::lossless && settings.encoder.is_given("threshold") && encoder.threshold > 0)
        fail(ErrorCode::usage, "{0}threshold {1} does not go with {0}mode lossless, whose threshold is 0", dashes,
             encoder.threshold);
    if (encoder.mode != delta::Mode::bounded && settings.encoder.is_given("effort"))
        fail(ErrorCode::usage, "{0}effort is of {0}mode bounded; {0}mode {1} looks for no motion", dashes,
             to_string(encoder.mode));
    if (encoder.mode == delta::Mode::lossless && settings.max_bitrate)
        fail(ErrorCode::usage,
             "{0}max-bitrate does not go with {0}mode lossless, whose threshold is 0; {0}mode exact {0}threshold 0 "
             "begins there",
             dashes);
    if (settings.threshold_max && !settings.max_bitrate)
        fail(ErrorCode::usage, "{0}threshold-max is of {0}max-bitrate, which is not given", dashes);
    if (settings.threshold_max && *settings.threshold_max < encoder.threshold)
        fail(ErrorCode::usage, "{0}threshold-max {1} is below {0}threshold {2}", dashes, *settings.threshold_max,
             encoder.threshold);

    BroadcastOptions options{.job = job, .input = settings.input, .encoder = encoder};
    if (settings.max_bitrate) options.rate = {*settings.max_bitrate, settings.threshold_max};
    options.refresh_seconds = settings.refresh_seconds;
    options.record = with_camera_name(settings.record, name);
    options.wait_for_viewers = settings.wait;
    options.hurries = take_rate(settings.rate, "own, max", options.input) == PlayRate::max;
    options.server.stream = name;
    if (settings.detects) options.detector = detector_of(settings.detector, dashes);
    options.upstream = settings.upstream;
    if (relayed_stream(settings.input.source)) {
        for (const auto* parameter : {"threshold", "mode", "effort"})
            if (settings.encoder.is_given(parameter))
                fail(ErrorCode::usage, "{0}{1} does not go with {2}, which is forwarded as it comes", dashes, parameter,
                     settings.input.source);
        check_relay(options);
    }
    return options;
}

void check_camera(const BroadcastOptions& camera) {
    parse_chain(camera.input.filters);
    check_served_source(camera.input.source);
    if (!camera.record.empty()) fwd::parse_record(camera.record);
}

}  // namespace framewire::session
