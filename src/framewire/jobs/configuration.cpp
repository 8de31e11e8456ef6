#include "framewire/jobs/configuration.hpp"
#include "framewire/codec/refinement.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/core/text.hpp"
#include "framewire/core/time.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/detect/tracker.hpp"
#include "framewire/jobs/cameras.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/jobs/relay.hpp"
#include "framewire/media/fwd.hpp"
#include "framewire/media/media.hpp"
#include "framewire/net/access.hpp"
#include "framewire/net/address.hpp"
#include "framewire/net/tls.hpp"
#include "framewire/plan/chain.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

// Collects all errors instead of stopping at the first one, so that `framewire check` reports everything at once.

namespace framewire::jobs {
namespace {

using Kind = DocumentNode::Kind;

constexpr std::string_view listed_zones = "roi", region_picture = "roi-mask", tracking = "track";

// Returns the map's entry with this key; null if there is none.
const DocumentEntry* entry_of(const DocumentNode& map, std::string_view key) {
    for (const auto& entry : map.entries)
        if (entry.key == key) return &entry;
    return nullptr;
}

// Returns a value in the form that settings expect: a flag as 1 or 0.
std::string text_of(const ParameterInfo& info, const DocumentNode& value) {
    if (info.type != ParameterInfo::Type::flag) return value.text;
    if (value.text == "true") return "1";
    return value.text == "false" ? "0" : value.text;
}

// Fills a Configuration from the document and records every problem with its position.
class Reader {
public:
    Reader(Configuration& configuration, const JobOptions& job) : result_(configuration), job_(job) {}

    // Reads the top level: first the server's settings, then the defaults, then each camera.
    void read(const DocumentNode& root) {
        if (root.kind != Kind::map) return problem(root.place, "expected a map with 'cameras'");
        for (const auto& entry : root.entries)
            if (entry.key != "cameras" && entry.key != "defaults" &&
                !take(entry, listener_settings(), result_.listener) &&
                !take(entry, live_option_settings(), result_.live) && !take(entry, event_settings(), result_.events) &&
                !take(entry, rtsp_settings(), result_.rtsp) && !take(entry, webrtc_settings(), result_.webrtc) &&
                !take(entry, video_settings(), result_.video))
                unknown(entry, names_of(webrtc_settings(),
                                        names_of(rtsp_settings(),
                                                 names_of(video_settings(),
                                                          names_of(event_settings(),
                                                                   names_of(live_option_settings(),
                                                                            names_of(listener_settings(),
                                                                                     {"cameras", "defaults"})))))));
        attempt(root.place, [&] { check_events(result_.events); });
        const auto* defaults = entry_of(root, "defaults");
        if (defaults && is_map(*defaults)) check_defaults(defaults->value);
        const auto* cameras = entry_of(root, "cameras");
        if (!cameras) return problem(root.place, "'cameras' is missing");
        if (!is_map(*cameras)) return;
        if (cameras->value.entries.empty()) problem(cameras->place, "'cameras' is empty");
        for (const auto& camera : cameras->value.entries)
            if (is_map(camera)) read_camera(camera, defaults ? &defaults->value : nullptr);
    }

private:
    // Records a problem, unless the defaults are being applied to a camera.
    void problem(const TextPlace& place, std::string text) {
        if (!silent_) result_.problems.push_back({place, std::move(text)});
    }

    // Runs `body` and records what it throws as a problem at this position.
    template <class Body>
    void attempt(const TextPlace& place, const Body& body) {
        try {
            body();
        } catch (const ExcerptError& error) {
            problem(place, error.text());
        } catch (const Error& error) {
            problem(place, error.what());
        }
    }

    // Returns true if the value is a map; otherwise records a problem.
    bool is_map(const DocumentEntry& entry) {
        if (entry.value.kind == Kind::map) return true;
        problem(entry.place, fmt::format("{} needs 'key: value' lines below it", in_quotes(entry.key)));
        return false;
    }

    // Returns true if the value is a text; otherwise records a problem.
    bool is_text(const DocumentEntry& entry) {
        if (entry.value.kind == Kind::text) return true;
        problem(entry.place, fmt::format("{} must have a single value", in_quotes(entry.key)));
        return false;
    }

    // Returns `others` followed by the names of the settings, for messages.
    template <class Target>
    static std::vector<std::string_view> names_of(const std::vector<Setting<Target>>& settings,
                                                  std::vector<std::string_view> others) {
        for (const auto& setting : settings) others.push_back(setting.info.name);
        return others;
    }

    // Records that a key is unknown, and suggests the closest known key or lists all of them.
    void unknown(const DocumentEntry& entry, const std::vector<std::string_view>& known) {
        const auto nearest = did_you_mean(entry.key, known);
        problem(entry.place,
                fmt::format("unknown key {}{}", in_quotes(entry.key),
                            nearest.empty() ? fmt::format("; allowed: {}", fmt::join(known, ", ")) : nearest));
    }

    // Applies an entry to the setting with its name. Returns false if there is no such setting.
    template <class Target>
    bool take(const DocumentEntry& entry, const std::vector<Setting<Target>>& settings, Target& target) {
        for (const auto& setting : settings) {
            const bool by_former_name = !setting.former_name.empty() && setting.former_name == entry.key;
            if (setting.info.name != entry.key && !by_former_name) continue;
            if (by_former_name && !silent_)
                result_.warnings.push_back(
                    {entry.place, deprecation_warning(setting.former_name, setting.info.name, "")});
            if (!is_text(entry)) return true;
            const auto text = text_of(setting.info, entry.value);
            if (auto why = setting.problem(text); !why.empty())
                problem(entry.value.place, std::move(why));
            else
                setting.set(target, text);
            return true;
        }
        return false;
    }

    // Reads the defaults once without a camera, so that each of their problems is recorded exactly once.
    void check_defaults(const DocumentNode& defaults) {
        CameraSettings settings;
        for (const auto& entry : defaults.entries)
            if (entry.key == "source")
                problem(entry.place, "each camera needs its own source");
            else
                take_camera(entry, settings);
    }

    // Applies one entry of a camera or of the defaults.
    void take_camera(const DocumentEntry& entry, CameraSettings& settings) {
        if (entry.key == "source") return take_source(entry, settings);
        if (entry.key == "filters") return take_filters(entry, settings);
        if (entry.key == "detect" && entry.value.kind == Kind::map) return take_detector(entry.value, settings);
        if (entry.key == "zones" && (entry.value.kind == Kind::map || entry.value.kind == Kind::list))
            return take_event_zones(entry, settings);
        if (take(entry, input_settings(), settings.input) || take(entry, camera_settings(), settings)) return;
        unknown(entry, names_of(camera_settings(), names_of(input_settings(), {"source", "filters"})));
    }

    // Applies the source and checks its text and file.
    void take_source(const DocumentEntry& entry, CameraSettings& settings) {
        if (!is_text(entry)) return;
        settings.input.source = entry.value.text;
        attempt(entry.value.place, [&] { check_served_source(entry.value.text); });
    }

    // Applies the chain: either one text, or a list whose elements are checked one by one so that problems have precise
    // positions.
    void take_filters(const DocumentEntry& entry, CameraSettings& settings) {
        auto texts = entry.value.items;
        if (entry.value.kind != Kind::list) {
            if (!is_text(entry)) return;
            texts = {entry.value};
        }
        std::string chain;
        for (const auto& text : texts) {
            if (text.kind != Kind::text) return problem(text.place, "each filter in the list must be a string");
            attempt(text.place, [&] { parse_chain(text.text); });
            chain += (chain.empty() ? "" : ",") + text.text;
        }
        settings.input.filters = chain;
    }

    // Applies a map of detector settings, which also enables detection.
    void take_detector(const DocumentNode& map, CameraSettings& settings) {
        settings.detects = true;
        auto& detector = settings.detector;
        for (const auto& entry : map.entries) {
            if (entry.key == listed_zones)
                take_zones(entry, detector);
            else if (entry.key == region_picture) {
                if (is_text(entry)) detector.region_path = entry.value.text;
            } else if (entry.key == tracking) {
                if (is_text(entry)) take_tracking(entry, detector);
            } else {
                take_parameter(entry, detector);
            }
        }
        attempt(map.place, [&] { detector_of(detector, ""); });
    }

    // Applies `track: true`, `track: false` or the tracker's parameters.
    void take_tracking(const DocumentEntry& entry, DetectorSettings& detector) {
        const auto& text = entry.value.text;
        if (text == "false") return detector.track.reset();
        attempt(entry.value.place, [&] {
            const std::string values = text == "true" ? "" : text;
            parse_tracker(values);
            detector.track = values;
        });
    }

    // Applies event zones that the configuration contains: a list of zones, or a map as in a file.
    void take_event_zones(const DocumentEntry& entry, CameraSettings& settings) {
        const auto json = entry.value.kind == Kind::list ? nlohmann::json{{"zones", json_of(entry.value, "zones")}}
                                                         : json_of(entry.value, "");
        attempt(entry.place, [&] {
            settings.event_zones = ZoneSet::parse(json_text(json), "zones");
            settings.event_zones_path.clear();
        });
    }

    // Converts the value of `key` to JSON. Texts that are numbers become numbers, except names.
    static nlohmann::json json_of(const DocumentNode& node, std::string_view key) {
        if (node.kind == Kind::list) {
            auto list = nlohmann::json::array();
            for (const auto& item : node.items) list.push_back(json_of(item, key));
            return list;
        }
        if (node.kind == Kind::map) {
            auto map = nlohmann::json::object();
            for (const auto& one : node.entries) map[one.key] = json_of(one.value, one.key);
            return map;
        }
        if (node.kind == Kind::nothing) return nullptr;
        const bool is_name = key == "name" || key == "directions" || key == "events" || key == "anchor";
        const auto number = is_name ? std::nullopt : number_in<double>(node.text);
        return number ? nlohmann::json(*number) : nlohmann::json(node.text);
    }

    // Applies one region of interest or a list of them.
    void take_zones(const DocumentEntry& entry, DetectorSettings& detector) {
        auto zones = entry.value.items;
        if (entry.value.kind != Kind::list) zones = {entry.value};
        for (const auto& zone : zones) {
            if (zone.kind != Kind::text) return problem(zone.place, "a zone must be a string 'x,y,width,height'");
            detector.zones.push_back(zone.text);
        }
    }

    // Applies a parameter of detector_fields().
    void take_parameter(const DocumentEntry& entry, DetectorSettings& detector) {
        std::vector<std::string_view> known{listed_zones, region_picture, tracking};
        for (const auto& info : detector_fields().infos()) {
            known.push_back(info.name);
            if (info.name != entry.key) continue;
            if (!is_text(entry)) return;
            auto text = text_of(info, entry.value);
            if (auto why = refusal_of(info, text); !why.empty()) return problem(entry.value.place, std::move(why));
            return detector.parameters.add(info.name, std::move(text));
        }
        unknown(entry, known);
    }

    // Reads one camera. Defaults apply to the keys that the camera does not set.
    void read_camera(const DocumentEntry& camera, const DocumentNode* defaults) {
        CameraSettings settings;
        if (!net::is_stream_name(camera.key)) attempt(camera.place, [&] { net::validate_stream_name(camera.key); });
        // check_defaults() has already recorded the problems of the defaults
        if (defaults) {
            silent_ = true;
            for (const auto& entry : defaults->entries)
                if (!entry_of(camera.value, entry.key)) take_camera(entry, settings);
            silent_ = false;
        }
        for (const auto& entry : camera.value.entries) take_camera(entry, settings);
        if (!entry_of(camera.value, "source"))
            problem(camera.place, fmt::format("camera {} has no source", in_quotes(camera.key)));
        try {
            result_.cameras.push_back(broadcast_of(settings, camera.key, job_, ""));
            // a problem of the detector has already been recorded at a more precise position
        } catch (const Error& error) {
            const auto reported = [&](const ConfigurationProblem& problem) { return problem.text == error.what(); };
            if (std::ranges::none_of(result_.problems, reported)) problem(camera.place, error.what());
        }
    }

    Configuration& result_;
    const JobOptions& job_;
    // true while defaults are applied to a camera
    bool silent_ = false;
};

}  // namespace

std::string to_string(const Configuration& configuration, const ConfigurationProblem& problem) {
    return fmt::format("{}:{}:{}: {}", configuration.name, problem.place.line, problem.place.column, problem.text);
}

void Configuration::require_right() const {
    if (problems.empty()) return;
    const auto more = problems.size() - 1;
    throw Error(ErrorCode::config,
                to_string(*this, problems.front()) +
                    (more ? fmt::format("; and {} more, see 'framewire check {}'", more, name) : ""));
}

Configuration parse_configuration(std::string_view text, const std::string& name, const JobOptions& job) {
    Configuration configuration{.name = name};
    Reader(configuration, job).read(read_document(text, name));
    std::ranges::stable_sort(configuration.problems, {}, [](const ConfigurationProblem& problem) {
        return std::tuple(problem.place.line, problem.place.column);
    });
    return configuration;
}

Configuration read_configuration(const std::string& path, const JobOptions& job) {
    std::ifstream file(path, std::ios::binary);
    std::string text(max_document_bytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.is_open() || file.bad()) fail(ErrorCode::no_input, "cannot read {}", path);
    text.resize(static_cast<std::size_t>(file.gcount()));
    return parse_configuration(text, path, job);
}

// A region is given either as rectangles or as a picture.
DetectorOptions detector_of(const DetectorSettings& settings, std::string_view dashes) {
    DetectorOptions options{.parameters = detector_parameters(settings.parameters), .region = {}, .tracker = {}};
    if (settings.track) options.tracker = parse_tracker(*settings.track);
    if (!settings.zones.empty() && !settings.region_path.empty())
        fail(ErrorCode::usage, "{0}roi and {0}roi-mask cannot be combined", dashes);
    if (!settings.zones.empty()) {
        std::vector<Zone> zones;
        for (const auto& text : settings.zones) zones.push_back(parse_zone(text));
        options.region = std::move(zones);
    } else if (!settings.region_path.empty()) {
        options.region = settings.region_path;
    }
    return options;
}

namespace {

// yaml-cpp counts lines and columns from 0.
TextPlace place_of(const YAML::Mark& mark) { return {mark.line + 1, mark.column + 1}; }

// Builds nodes from parser events. Rejects aliases, because they could expand a small text to a huge document.
class DocumentBuilder final : public YAML::EventHandler {
public:
    explicit DocumentBuilder(const std::string& name) : name_(name) {}

    DocumentNode take() { return std::move(root_); }

    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    // Adds an empty value, as in `key:` without text.
    void OnNull(const YAML::Mark& mark, YAML::anchor_t) override { put({.place = place_of(mark), .entries = {}}); }
    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        refuse(place_of(mark), "aliases (*name) are not supported");
    }
    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t, const std::string& value) override {
        require_plain(mark, tag);
        if (takes_key()) return take_key(place_of(mark), value);
        put({.kind = DocumentNode::Kind::text, .place = place_of(mark), .text = value, .entries = {}});
    }
    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                         YAML::EmitterStyle::value) override {
        begin(mark, tag, DocumentNode::Kind::list);
    }
    void OnSequenceEnd() override { end(); }
    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                    YAML::EmitterStyle::value) override {
        begin(mark, tag, DocumentNode::Kind::map);
    }
    void OnMapEnd() override { end(); }

private:
    // A list or map whose end has not been parsed yet.
    struct Open {
        DocumentNode node;
        // for a map: the entry that waits for its value
        std::optional<DocumentEntry> entry{};
    };

    [[noreturn]] void refuse(const TextPlace& place, const std::string& why) const {
        fail(ErrorCode::config, "{}:{}:{}: {}", name_, place.line, place.column, why);
    }

    // Rejects tags. yaml-cpp reports "?" for plain and "!" for quoted scalars, which are allowed.
    void require_plain(const YAML::Mark& mark, const std::string& tag) const {
        if (!tag.empty() && tag != "?" && tag != "!")
            refuse(place_of(mark), fmt::format("the tag {} is not supported", in_quotes(tag)));
    }

    // Returns true if the next scalar is a key: the innermost open container is a map that does not wait for a value.
    bool takes_key() const {
        return !open_.empty() && open_.back().node.kind == DocumentNode::Kind::map && !open_.back().entry;
    }

    // Starts an entry of the innermost map. Throws if the key already exists.
    void take_key(const TextPlace& place, const std::string& key) {
        for (const auto& entry : open_.back().node.entries)
            if (entry.key == key)
                refuse(place, fmt::format("{} is given twice, first on line {}", in_quotes(key), entry.place.line));
        if (open_.back().node.entries.size() >= most_entries)
            refuse(place, fmt::format("more than {} keys", most_entries));
        open_.back().entry = DocumentEntry{key, place, {}};
    }

    // Opens a list or map.
    void begin(const YAML::Mark& mark, const std::string& tag, DocumentNode::Kind kind) {
        require_plain(mark, tag);
        if (takes_key()) refuse(place_of(mark), "a key must be a string");
        if (open_.size() >= max_document_depth)
            refuse(place_of(mark), fmt::format("nested more than {} levels deep", max_document_depth));
        open_.push_back({{.kind = kind, .place = place_of(mark), .entries = {}}});
    }

    // Closes the innermost list or map and adds it to its parent.
    void end() {
        auto node = std::move(open_.back().node);
        open_.pop_back();
        put(std::move(node));
    }

    // Adds a complete value to the innermost list or map, or makes it the document if none is open.
    void put(DocumentNode node) {
        if (open_.empty()) {
            root_ = std::move(node);
            return;
        }
        auto& open = open_.back();
        if (open.node.kind == DocumentNode::Kind::list) {
            open.node.items.push_back(std::move(node));
            return;
        }
        if (!open.entry) refuse(node.place, "a key must be a string");
        open.entry->value = std::move(node);
        open.node.entries.push_back(*std::exchange(open.entry, std::nullopt));
    }

    // Keys are compared pairwise, which is fast enough for this many entries.
    static constexpr std::size_t most_entries = 1000;

    const std::string& name_;
    DocumentNode root_;
    std::vector<Open> open_;
};

}  // namespace

DocumentNode read_document(std::string_view text, const std::string& name) {
    if (text.size() > max_document_bytes)
        fail(ErrorCode::config, "{}: larger than the limit of {} bytes", name, max_document_bytes);
    std::istringstream stream{std::string(text)};
    DocumentBuilder builder(name);
    try {
        YAML::Parser parser(stream);
        parser.HandleNextDocument(builder);
        auto root = builder.take();
        DocumentBuilder second(name);
        if (parser.HandleNextDocument(second))
            fail(ErrorCode::config, "{}: contains a second YAML document (after '---'); only one is allowed", name);
        return root;
    } catch (const YAML::Exception& error) {
        const auto place = place_of(error.mark);
        fail(ErrorCode::config, "{}:{}:{}: invalid YAML: {}", name, place.line, place.column, error.msg);
    }
}

namespace {

using Type = ParameterInfo::Type;

// Makes a check from a parsing function: the check returns the message of the Error that the function throws.
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

// Splits a list at its commas. Empty elements are kept.
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

constexpr std::string_view no_discovery = "none";

// Returns an error message for a broker's address; empty if it is valid. The message never contains the text, which may
// include a password.
std::string problem_with_broker(const std::string& text) {
    try {
        service::parse_mqtt_address(text);
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

// Returns an error message for a discovery prefix; empty if it is valid.
std::string problem_with_discovery(const std::string& text) {
    return net::is_stream_name(text)
               ? std::string()
               : "Home Assistant's discovery prefix must be 1 to 64 characters from A-Z a-z 0-9 . _ -, or none";
}

// Returns the rules for a text; nullopt if it is invalid.
std::optional<service::MqttPictureRules> pictures_of(const std::string& text) {
    using Rules = service::MqttPictureRules;
    constexpr double least_s = 0.2, most_s = 3600;
    if (text == "off") return Rules{};
    if (text == "motion") return Rules{.when = Rules::When::motion};
    const auto seconds = number_in<double>(text);
    if (!seconds || !(*seconds >= least_s && *seconds <= most_s)) return std::nullopt;
    return Rules{.when = Rules::When::always,
                 .period = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(*seconds))};
}

// Returns the settings of the MQTT broker.
std::vector<Setting<service::EventOptions>> mqtt_settings() {
    return {
        {{.name = "mqtt",
          .help = "send detector events to this MQTT broker: mqtt://[USER[:PASSWORD]@]HOST[:PORT][/PREFIX], or "
                  "mqtts:// for TLS; prefer --mqtt-password-file for the password",
          .type = Type::text,
          .optional = true,
          .unit = "URL"},
         [](service::EventOptions& events, const std::string& text) {
             events.mqtt.broker = service::parse_mqtt_address(text);
         },
         problem_with_broker},
        {{.name = "mqtt-password-file",
          .help = "file that contains the MQTT password on a single line",
          .type = Type::text,
          .optional = true,
          .unit = "FILE"},
         [](service::EventOptions& events, const std::string& text) { events.mqtt.password_file = text; }},
        {{.name = "mqtt-ca",
          .help = "PEM file of the certificate authorities to trust for mqtts://; default: the system's",
          .type = Type::text,
          .optional = true,
          .unit = "FILE"},
         [](service::EventOptions& events, const std::string& text) { events.mqtt.authority_file = text; }},
        {{.name = "mqtt-discovery",
          .help = "topic prefix for Home Assistant discovery; none disables discovery",
          .type = Type::text,
          .default_value = service::MqttOptions{}.discovery,
          .unit = "PREFIX|none"},
         [](service::EventOptions& events, const std::string& text) {
             events.mqtt.discovery = text == no_discovery ? std::string() : text;
         },
         problem_with_discovery},
        {{.name = "mqtt-spool",
          .help = "maximum number of events to keep while the broker is unreachable; the oldest are dropped first",
          .default_value = fmt::to_string(service::MqttOptions{}.spool_limit),
          .minimum = static_cast<double>(service::least_spool_limit),
          .maximum = static_cast<double>(service::most_spool_limit),
          .unit = "N"},
         [](service::EventOptions& events, const std::string& text) {
             events.mqtt.spool_limit = number_in<std::size_t>(text).value_or(events.mqtt.spool_limit);
         }},
        {{.name = "mqtt-spool-file",
          .help = "file that keeps undelivered events across restarts; default: events are kept in memory only",
          .type = Type::text,
          .optional = true,
          .unit = "FILE"},
         [](service::EventOptions& events, const std::string& text) { events.mqtt.spool_file = text; }},
        {{.name = "mqtt-pictures",
          .help = "publish pictures of cameras with detect: at most one per SECONDS (0.2 to 3600), or one per second "
                  "during motion; Home Assistant discovers them as camera entities",
          .type = Type::text,
          .default_value = "off",
          .unit = "SECONDS|motion|off"},
         [](service::EventOptions& events, const std::string& text) { events.mqtt.pictures = *pictures_of(text); },
         [](const std::string& text) {
             return pictures_of(text)
                        ? std::string()
                        : fmt::format("{} is invalid; allowed: seconds from 0.2 to 3600, motion, off", in_quotes(text));
         }}};
}

// Parses "NAME=FRIGATE,...". Throws Error{usage}.
std::map<std::string, std::string> frigate_cameras_of(const std::string& text) {
    std::map<std::string, std::string> cameras;
    for (const auto& pair : split_names(text)) {
        const auto equals = pair.find('=');
        const auto name = pair.substr(0, equals);
        const auto called = equals == pair.npos ? std::string() : pair.substr(equals + 1);
        if (!net::is_stream_name(name) || !service::is_frigate_name(called))
            fail(ErrorCode::usage,
                 "{} is invalid; allowed: CAMERA=NAME, with Frigate's name of 1 to 64 characters from A-Z a-z 0-9 _ -",
                 in_quotes(pair));
        if (!cameras.emplace(name, called).second)
            fail(ErrorCode::usage, "camera {} has two names in Frigate", in_quotes(name));
    }
    return cameras;
}

// Returns the settings of Frigate.
std::vector<Setting<service::EventOptions>> frigate_settings() {
    return {{{.name = "frigate",
              .help = "create an event in this Frigate while a camera with detect sees motion: http://HOST:5000",
              .type = Type::text,
              .optional = true,
              .unit = "URL"},
             [](service::EventOptions& events, const std::string& text) {
                 events.frigate.server = net::http::parse_server_address(text);
             },
             problem_of([](const std::string& text) { net::http::parse_server_address(text); })},
            {{.name = "frigate-camera",
              .help = "names of cameras in Frigate where they differ, as CAMERA=NAME, separated by commas",
              .type = Type::text,
              .optional = true,
              .unit = "NAMES"},
             [](service::EventOptions& events, const std::string& text) {
                 events.frigate.cameras = frigate_cameras_of(text);
             },
             problem_of([](const std::string& text) { frigate_cameras_of(text); })},
            {{.name = "frigate-label",
              .help = "label of the events in Frigate",
              .type = Type::text,
              .default_value = service::FrigateOptions{}.label,
              .unit = "LABEL"},
             [](service::EventOptions& events, const std::string& text) { events.frigate.label = text; },
             [](const std::string& text) {
                 return service::is_frigate_name(text)
                            ? std::string()
                            : fmt::format("{} is not a label; allowed: 1 to 64 characters from A-Z a-z 0-9 _ -",
                                          in_quotes(text));
             }}};
}

// Returns the settings of events and motion, followed by those of the MQTT broker and of Frigate.
std::vector<Setting<service::EventOptions>> make_event_settings() {
    constexpr double most_hold_seconds = 3600;
    std::vector<Setting<service::EventOptions>> settings = {
        {{.name = "events-rate",
          .help = "maximum number of object events per second and camera; default: one per frame with objects",
          .type = Type::real,
          .minimum = 0.1,
          .maximum = 1000,
          .optional = true,
          .unit = "N"},
         [](service::EventOptions& events, const std::string& text) { events.objects_rate = number_in<double>(text); }},
        {{.name = "motion-after",
          .help = "motion turns ON after this many consecutive frames with objects",
          .default_value = fmt::to_string(service::MotionRules{}.after_frames),
          .minimum = 1,
          .maximum = 1000,
          .unit = "FRAMES"},
         [](service::EventOptions& events, const std::string& text) {
             events.motion.after_frames = number_in<int>(text).value_or(events.motion.after_frames);
         }},
        {{.name = "motion-hold",
          .help = "motion turns OFF after this many seconds without objects",
          .type = Type::real,
          .default_value =
              fmt::to_string(std::chrono::duration_cast<std::chrono::seconds>(service::MotionRules{}.hold).count()),
          .minimum = 0,
          .maximum = most_hold_seconds,
          .unit = "SECONDS"},
         [](service::EventOptions& events, const std::string& text) {
             events.motion.hold = std::chrono::duration_cast<Clock::duration>(
                 std::chrono::duration<double>(number_in<double>(text).value_or(0)));
         }}};
    for (auto& setting : mqtt_settings()) settings.push_back(std::move(setting));
    for (auto& setting : frigate_settings()) settings.push_back(std::move(setting));
    return settings;
}

}  // namespace

const std::vector<Setting<service::EventOptions>>& event_settings() {
    static const auto settings = make_event_settings();
    return settings;
}

void check_events(const service::EventOptions& options) {
    const auto& mqtt = options.mqtt;
    const bool more = !mqtt.password_file.empty() || !mqtt.authority_file.empty() || !mqtt.spool_file.empty();
    const bool shows = mqtt.pictures.when != service::MqttPictureRules::When::never;
    if (mqtt.broker.host.empty() && (more || shows))
        fail(ErrorCode::usage, "mqtt-password-file, mqtt-ca, mqtt-spool-file and mqtt-pictures require mqtt");
    if (!mqtt.password_file.empty() && mqtt.broker.user.empty())
        fail(ErrorCode::usage, "mqtt-password-file needs a user: mqtt://USER@HOST");
    if (!mqtt.password_file.empty() && !mqtt.broker.password.empty())
        fail(ErrorCode::usage, "the MQTT broker's password is given twice: in mqtt and in mqtt-password-file");
    if (!mqtt.authority_file.empty() && !mqtt.broker.tls)
        fail(ErrorCode::usage, "mqtt-ca requires mqtts://, but mqtt:// was given");
    const auto& frigate = options.frigate;
    if (frigate.server.server.host.empty() &&
        (!frigate.cameras.empty() || frigate.label != service::FrigateOptions{}.label))
        fail(ErrorCode::usage, "frigate-camera and frigate-label require frigate");
}

namespace {

using Type = ParameterInfo::Type;

// Each problem_with function returns an error message for a text; empty if the text is valid.
std::string problem_with_time(const std::string& text) {
    return parse_seconds(text) ? std::string()
                               : fmt::format("{} is not a time; allowed: {}", in_quotes(text), allowed_seconds);
}

std::string problem_with_bitrate(const std::string& text) {
    return bits_per_second_of(text)
               ? std::string()
               : fmt::format("{} is not a bitrate; allowed: 1k to 1000G, such as 500k or 2M", in_quotes(text));
}

std::string problem_with_refinement(const std::string& text) {
    const double seconds = number_in<double>(text).value_or(0);
    return seconds == 0 || seconds >= codec::Refiner::least_seconds
               ? std::string()
               : fmt::format("{} is not a valid refinement time; allowed: 0 and {} to {} seconds", in_quotes(text),
                             codec::Refiner::least_seconds, codec::Refiner::most_seconds);
}

// Returns true if the text can be a host name: letters, digits, - and ., at most 253 characters.
bool is_host_name(const std::string& text) {
    constexpr std::size_t longest = 253;
    return !text.empty() && text.size() <= longest && std::ranges::all_of(text, [](char letter) {
        return std::isalnum(static_cast<unsigned char>(letter)) || letter == '-' || letter == '.';
    });
}

// Removes the trailing slash of a base path: "/cams/" means "/cams", and "/" means no base path.
std::string base_path_of(const std::string& text) {
    return text.ends_with('/') ? text.substr(0, text.size() - 1) : text;
}

constexpr std::string_view for_ever = "forever";

std::string problem_with_patience(const std::string& text) {
    static const ParameterInfo seconds{
        .name = "reconnect", .help = "", .type = Type::real, .minimum = 0, .maximum = 86'400};
    const auto problem = text == for_ever ? std::string_view() : problem_with(seconds, text);
    return problem.empty() ? std::string()
                           : fmt::format("{} {}; allowed: a number of seconds from 0 to 86400, or forever",
                                         in_quotes(text), problem);
}

// Converts a checked text to the time for which reconnecting is attempted.
std::chrono::milliseconds patience_of(const std::string& text) {
    if (text == for_ever) return SourceOptions::for_ever;
    return std::chrono::milliseconds(std::llround(1000 * number_in<double>(text).value()));
}

// Returns the settings of a camera: one per encoder parameter, then those of the stream, the recording and control
// requests.
std::vector<Setting<CameraSettings>> make_camera_settings() {
    std::vector<Setting<CameraSettings>> settings;
    for (const auto& info : codec::encoder_fields().infos())
        settings.push_back({info, [name = info.name](CameraSettings& camera, const std::string& text) {
                                camera.encoder.add(name, text);
                            }});
    settings.push_back(
        {{.name = "max-bitrate",
          .help = "raise the threshold as needed to keep each viewer's stream within this bitrate: 500k, 2M, 1.5G",
          .type = Type::text,
          .optional = true,
          .unit = "BITS"},
         [](CameraSettings& camera, const std::string& text) { camera.max_bitrate = bits_per_second_of(text); },
         problem_with_bitrate});
    settings.push_back(
        {{.name = "threshold-max",
          .help = "maximum threshold with max-bitrate; default: 64, or the threshold if that is higher",
          .maximum = 254,
          .optional = true},
         [](CameraSettings& camera, const std::string& text) { camera.threshold_max = number_in<int>(text); }});
    settings.push_back(
        {{.name = "refine",
          .help =
              "refine static regions after this many seconds, 0.1 to 3600; 0: never; default: 1, or 0 with a recording",
          .type = Type::real,
          .minimum = 0,
          .maximum = codec::Refiner::most_seconds,
          .optional = true,
          .unit = "SECONDS"},
         [](CameraSettings& camera, const std::string& text) { camera.refine_seconds = number_in<double>(text); },
         problem_with_refinement,
         "refresh"});
    settings.push_back({{.name = "record",
                         .help = "record the stream to this .fwd file, optionally followed by :key=SECONDS; {name} "
                                 "stands for the camera's name",
                         .type = Type::text,
                         .optional = true,
                         .unit = "DST"},
                        [](CameraSettings& camera, const std::string& text) { camera.record = text; },
                        problem_of([](const std::string& text) { fwd::parse_record(text); })});
    settings.push_back({{.name = "rate",
                         .help = "playback rate of a file: own, max or frames per second",
                         .type = Type::text,
                         .default_value = "own",
                         .unit = "own|max|FPS"},
                        [](CameraSettings& camera, const std::string& text) { camera.rate = text; },
                        problem_of([](const std::string& text) {
                            InputOptions input;
                            take_rate(text, "own, max", input);
                        })});
    settings.push_back(
        {{.name = "loop", .help = "start over when the source ends", .type = Type::flag, .default_value = "0"},
         [](CameraSettings& camera, const std::string& text) { camera.input.loop = text == "1"; }});
    settings.push_back(
        {{.name = "wait",
          .help = "hold the first frame until this many viewers are connected, and the second until they have received "
                  "the first",
          .default_value = "0",
          .maximum = 10'000,
          .unit = "N"},
         [](CameraSettings& camera, const std::string& text) { camera.wait = number_in<int>(text).value_or(0); }});
    settings.push_back({{.name = "no-audio",
                         .help = "do not send the source's sound with --video",
                         .type = Type::flag,
                         .default_value = "0"},
                        [](CameraSettings& camera, const std::string& text) { camera.audio = text != "1"; }});
    settings.push_back({{.name = "detect",
                         .help = "detect moving objects; viewers draw boxes around them",
                         .type = Type::flag,
                         .default_value = "0"},
                        [](CameraSettings& camera, const std::string& text) { camera.detects = text == "1"; }});
    settings.push_back({{.name = "zones",
                         .help = "report when objects enter, leave or cross the polygons and lines in this JSON file, "
                                 "or stay there (with detect); implies track",
                         .type = Type::text,
                         .optional = true,
                         .unit = "FILE"},
                        [](CameraSettings& camera, const std::string& text) {
                            camera.event_zones = ZoneSet::read(text);
                            camera.event_zones_path = text;
                        },
                        problem_of([](const std::string& text) { ZoneSet::read(text); })});
    settings.push_back({{.name = "clips",
                         .help = "write a clip around each event to this folder (with detect): motion or, with zones, "
                                 "events in them; optionally followed by :before=SECONDS, :after=SECONDS, "
                                 ":most=SECONDS (defaults 5, 5, 120); {name} stands for the camera's name",
                         .type = Type::text,
                         .optional = true,
                         .unit = "FOLDER"},
                        [](CameraSettings& camera, const std::string& text) { camera.clips = text; },
                        problem_of([](const std::string& text) { parse_clips(text); })});
    settings.push_back(
        {{.name = "controls",
          .help = "allow viewers to change filters, threshold, picture settings, privacy masks and recordings",
          .type = Type::flag,
          .default_value = "0"},
         [](CameraSettings& camera, const std::string& text) { camera.input.accepts_control = text == "1"; },
         {},
         "panel"});
    settings.push_back(
        {{.name = "relay-token-file",
          .help = "for a forwarded stream: file that contains the token for its server",
          .type = Type::text,
          .optional = true,
          .unit = "FILE"},
         [](CameraSettings& camera, const std::string& text) { camera.upstream.token = net::read_token_file(text); },
         problem_of([](const std::string& text) { net::read_token_file(text); })});
    settings.push_back({{.name = "relay-fingerprint",
                         .help = "for a stream forwarded over TLS: trust the certificate with this fingerprint",
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

std::string deprecation_warning(std::string_view former_name, std::string_view name, std::string_view dashes) {
    return fmt::format("{0}{1} is deprecated and will be removed in the next release; use {0}{2}", dashes, former_name,
                       name);
}

const std::vector<Setting<InputOptions>>& input_settings() {
    static const std::vector<Setting<InputOptions>> settings = {
        {{.name = "matrix",
          .help = "override the colour matrix that the source states for YUV frames",
          .type = Type::choice,
          .choices = {"bt601", "bt709", "bt2020"},
          .optional = true},
         [](InputOptions& input, const std::string& text) { input.matrix = text; }},
        {{.name = "range",
          .help = "override the value range that the source states for YUV frames",
          .type = Type::choice,
          .choices = {"limited", "full"},
          .optional = true},
         [](InputOptions& input, const std::string& text) { input.range = text; }},
        {{.name = "start",
          .help = "start at the first frame at or after this time",
          .type = Type::text,
          .optional = true,
          .unit = "TIME"},
         [](InputOptions& input, const std::string& text) { input.start_seconds = parse_seconds(text).value_or(0); },
         problem_with_time},
        {{.name = "duration", .help = "stop after this duration", .type = Type::text, .optional = true, .unit = "TIME"},
         [](InputOptions& input, const std::string& text) { input.duration_seconds = parse_seconds(text); },
         problem_with_time},
        {{.name = "decode",
          .help = "where FFmpeg decodes videos; auto uses a GPU for cameras and network streams if the filters do and "
                  "the bytes are the same",
          .type = Type::choice,
          .default_value = "auto",
          .choices = {"auto", "cpu", "cuda"}},
         [](InputOptions& input, const std::string& text) { input.decode = parse_decode(text); }},
        {{.name = "reconnect",
          .help = "how long to try to reconnect to a lost camera or network source, from its loss to its next frame",
          .type = Type::text,
          .optional = true,
          .unit = "SECONDS|forever"},
         [](InputOptions& input, const std::string& text) { input.reconnect = patience_of(text); },
         problem_with_patience},
        {{.name = "max-pixels",
          .help = "refuse frames with more pixels than this, from the source or after any filter",
          .minimum = 1,
          .maximum = double{max_side_px} * max_side_px,
          .optional = true,
          .unit = "N"},
         [](InputOptions& input, const std::string& text) { input.max_pixels = number_in<std::int64_t>(text); }},
        {{.name = "max-memory",
          .help =
              "refuse filter chains and frame sizes for which a camera's estimated memory use exceeds this: 500M, 4G",
          .type = Type::text,
          .optional = true,
          .unit = "BYTES"},
         [](InputOptions& input, const std::string& text) {
             input.max_memory_bytes = static_cast<std::int64_t>(framewire::bytes_of(text).value_or(0));
         },
         [](const std::string& text) {
             return framewire::bytes_of(text)
                        ? std::string()
                        : fmt::format("{} is not a memory size such as 500M or 4G", in_quotes(text));
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
          .help = "address that viewers connect to; port 0 selects a free port; on addresses other than loopback, "
                  "viewers need a token",
          .type = Type::text,
          .default_value = to_string(net::ListenerOptions{}.listen),
          .unit = "HOST:PORT"},
         [](net::ListenerOptions& listener, const std::string& text) { listener.listen = net::parse_address(text); },
         problem_of([](const std::string& text) { net::parse_address(text); })},
        {{.name = "viewers",
          .help = "maximum number of simultaneous viewers",
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
          .help = "additional host names that browsers may use besides this machine's own names and numeric addresses, "
                  "separated by commas",
          .type = Type::text,
          .optional = true,
          .unit = "NAMES"},
         [](net::ListenerOptions& listener, const std::string& text) { listener.allowed_hosts = split_names(text); },
         [](const std::string& text) {
             for (const auto& name : split_names(text))
                 if (!is_host_name(name)) return fmt::format("{} is not a host name", in_quotes(name));
             return std::string();
         }},
        {{.name = "trusted-proxy",
          .help = "reverse proxies whose X-Forwarded-For is trusted: addresses or networks such as 10.0.0.0/8, "
                  "separated by commas",
          .type = Type::text,
          .optional = true,
          .unit = "ADDRESSES"},
         [](net::ListenerOptions& listener, const std::string& text) { listener.trusted_proxies = split_names(text); },
         problem_of([](const std::string& text) { net::TrustedProxies{split_names(text)}; })},
        {{.name = "base-path",
          .help = "path under which a reverse proxy publishes this server, such as /cams",
          .type = Type::text,
          .optional = true,
          .unit = "PATH"},
         [](net::ListenerOptions& listener, const std::string& text) { listener.base_path = base_path_of(text); },
         problem_of([](const std::string& text) { net::validate_base_path(base_path_of(text)); })},
        {{.name = "frame-ancestors",
          .help = "sites whose pages may show this server's pages in frames, such as http://dashboard.local:8123 or "
                  "https://*.example.com, or self, separated by commas; default: none",
          .type = Type::text,
          .optional = true,
          .unit = "SITES"},
         [](net::ListenerOptions& listener, const std::string& text) { listener.frame_ancestors = split_names(text); },
         problem_of([](const std::string& text) {
             for (const auto& site : split_names(text)) net::validate_frame_ancestor(site);
         })}};
    return settings;
}

const std::vector<Setting<service::LiveOptions>>& live_option_settings() {
    static const std::vector<Setting<service::LiveOptions>> settings = {
        {{.name = "state",
          .help = "file in which settings changed at run time are saved and from which they are restored at the start",
          .type = Type::text,
          .optional = true,
          .unit = "FILE"},
         [](service::LiveOptions& live, const std::string& text) { live.state_path = text; }},
        {{.name = "record-dir",
          .help =
              "folder for recordings and snapshots requested by clients; default: none, and such requests are refused",
          .type = Type::text,
          .optional = true,
          .unit = "DIR"},
         [](service::LiveOptions& live, const std::string& text) { live.record_folder = text; }}};
    return settings;
}

const std::vector<Setting<service::RtspOptions>>& rtsp_settings() {
    static const std::vector<Setting<service::RtspOptions>> settings = {
        {{.name = "rtsp",
          .help = "also serve each camera as H.264 over RTSP at this address, such as 127.0.0.1:8554: "
                  "rtsp://HOST:PORT/NAME; implies --video; the token, TLS and the limit of viewers apply",
          .type = Type::text,
          .optional = true,
          .unit = "HOST:PORT"},
         [](service::RtspOptions& rtsp, const std::string& text) { rtsp.listen = net::parse_address(text); },
         problem_of([](const std::string& text) { net::parse_address(text); })},
        {{.name = "onvif",
          .help = "let recorders find the cameras and their RTSP addresses by ONVIF and WS-Discovery; requires rtsp",
          .type = Type::flag,
          .default_value = "0"},
         [](service::RtspOptions& rtsp, const std::string& text) { rtsp.onvif = text == "1"; }}};
    return settings;
}

namespace {

// Parses "50000-50100".
std::pair<int, int> port_range_of(const std::string& text) {
    const auto dash = text.find('-');
    const auto first = number_in<std::uint16_t>(std::string_view(text).substr(0, dash));
    const auto last =
        dash == std::string::npos ? first : number_in<std::uint16_t>(std::string_view(text).substr(dash + 1));
    if (!first || !last || *first == 0 || *last < *first)
        fail(ErrorCode::usage, "{} is not a range of ports such as 50000-50100", in_quotes(text));
    return {*first, *last};
}

// Checks that a text is a numeric address.
void check_numeric_address(const std::string& text) {
    std::array<std::uint8_t, sizeof(in6_addr)> address{};
    if (::inet_pton(AF_INET, text.c_str(), address.data()) != 1 &&
        ::inet_pton(AF_INET6, text.c_str(), address.data()) != 1)
        fail(ErrorCode::usage, "{} is not a numeric address such as 192.168.1.5", in_quotes(text));
}

}  // namespace

const std::vector<Setting<service::WhepOptions>>& webrtc_settings() {
    static const std::vector<Setting<service::WhepOptions>> settings = {
        {{.name = "webrtc-ports",
          .help = "UDP ports for WebRTC, which --video offers at /NAME/whep, one per session; default: free ones",
          .type = Type::text,
          .optional = true,
          .unit = "FIRST-LAST"},
         [](service::WhepOptions& webrtc, const std::string& text) { webrtc.ports = port_range_of(text); },
         problem_of([](const std::string& text) { port_range_of(text); })},
        {{.name = "webrtc-address",
          .help = "address of this machine that WebRTC uses; default: that of --listen if it is a numeric one, or all",
          .type = Type::text,
          .optional = true,
          .unit = "ADDRESS"},
         [](service::WhepOptions& webrtc, const std::string& text) {
             check_numeric_address(text);
             webrtc.address = text;
         },
         problem_of(check_numeric_address)}};
    return settings;
}

namespace {

// Parses the settings of the encoder. "true" stands for the defaults, "false" for no video.
std::optional<LiveVideoSettings> video_encoder_of(const std::string& text) {
    if (text == "false") return std::nullopt;
    return parse_live_video(text == "true" ? std::string() : text, "video");
}

}  // namespace

const std::vector<Setting<service::VideoOptions>>& video_settings() {
    static const std::vector<Setting<service::VideoOptions>> settings = {
        {{.name = "video",
          .help = "offer H.264 at /NAME/stream.mp4 (fragmented MP4) and /NAME/index.m3u8 (HLS), encoded only while "
                  "someone watches; optionally codec=NAME:bitrate=2M:crf=N:preset=NAME:gop=N",
          .type = Type::text,
          .optional = true,
          .unit = "PARAMETERS"},
         [](service::VideoOptions& video, const std::string& text) { video.encoder = video_encoder_of(text); },
         problem_of([](const std::string& text) {
             if (const auto encoder = video_encoder_of(text)) check_live_video(*encoder);
         })}};
    return settings;
}

BroadcastOptions broadcast_of(const CameraSettings& settings, const std::string& name, const JobOptions& job,
                              std::string_view dashes) {
    const auto encoder = codec::encoder_fields().from(settings.encoder);
    if (encoder.mode == codec::Mode::lossless && settings.encoder.is_given("threshold") && encoder.threshold > 0)
        fail(ErrorCode::usage, "{0}threshold {1} cannot be combined with {0}mode lossless, whose threshold is 0",
             dashes, encoder.threshold);
    if (encoder.mode != codec::Mode::bounded && settings.encoder.is_given("effort"))
        fail(ErrorCode::usage, "{0}effort requires {0}mode bounded; {0}mode {1} searches for nothing", dashes,
             to_string(encoder.mode));
    if (encoder.mode == codec::Mode::lossless && settings.max_bitrate)
        fail(ErrorCode::usage,
             "{0}max-bitrate cannot be combined with {0}mode lossless, whose threshold is 0; use {0}mode exact "
             "{0}threshold 0 to start lossless",
             dashes);
    if (settings.threshold_max && !settings.max_bitrate)
        fail(ErrorCode::usage, "{0}threshold-max requires {0}max-bitrate", dashes);
    if (settings.threshold_max && *settings.threshold_max < encoder.threshold)
        fail(ErrorCode::usage, "{0}threshold-max {1} is below {0}threshold {2}", dashes, *settings.threshold_max,
             encoder.threshold);

    BroadcastOptions options{.job = job, .input = settings.input, .encoder = encoder};
    if (settings.max_bitrate) options.rate = {*settings.max_bitrate, settings.threshold_max};
    options.refine_seconds = settings.refine_seconds;
    options.record = with_camera_name(settings.record, name);
    options.wait_for_viewers = settings.wait;
    options.hurries = take_rate(settings.rate, "own, max", options.input) == PlayRate::max;
    options.audio = settings.audio;
    options.server.stream = name;
    if (settings.detects) options.detector = detector_of(settings.detector, dashes);
    if (!settings.detects && !settings.event_zones.empty())
        fail(ErrorCode::usage, "{0}zones requires {0}detect", dashes);
    if (!settings.detects && !settings.clips.empty()) fail(ErrorCode::usage, "{0}clips requires {0}detect", dashes);
    options.clips = with_camera_name(settings.clips, name);
    options.event_zones = settings.event_zones;
    options.event_zones_path = settings.event_zones_path;
    options.upstream = settings.upstream;
    if (relayed_stream(settings.input.source)) {
        for (const auto* parameter : {"threshold", "mode", "effort"})
            if (settings.encoder.is_given(parameter))
                fail(ErrorCode::usage, "{0}{1} cannot be combined with {2}, which is forwarded unchanged", dashes,
                     parameter, settings.input.source);
        check_relay(options);
    }
    return options;
}

void check_camera(const BroadcastOptions& camera) {
    parse_chain(camera.input.filters);
    check_served_source(camera.input.source);
    if (!camera.record.empty()) fwd::parse_record(camera.record);
    if (!camera.clips.empty()) parse_clips(camera.clips);
}

}  // namespace framewire::jobs
