// Collects all errors instead of stopping at the first one, so that `framewire check` reports everything at once.
#include "framewire/session/config/configuration.hpp"

#include "framewire/session/config/event_settings.hpp"
#include "framewire/session/relay/relay.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/parameters/fields.hpp"
#include "framewire/core/text/excerpt.hpp"
#include "framewire/core/text/nearest_name.hpp"
#include "framewire/detect/detector.hpp"
#include "framewire/media/media.hpp"
#include "framewire/net/address.hpp"
#include "framewire/pipeline/chain/chain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <optional>
#include <tuple>

namespace framewire::session {
namespace {

using Kind = DocumentNode::Kind;

constexpr std::string_view listed_zones = "roi", region_picture = "roi-mask";

// Returns the entry of this key; null if there is none.
const DocumentEntry* entry_of(const DocumentNode& map, std::string_view key) {
    for (const auto& entry : map.entries)
        if (entry.key == key) return &entry;
    return nullptr;
}

// Returns a value as settings expect it: flags as 1 and 0.
std::string text_of(const ParameterInfo& info, const DocumentNode& value) {
    if (info.type != ParameterInfo::Type::flag) return value.text;
    if (value.text == "true") return "1";
    return value.text == "false" ? "0" : value.text;
}

// Fills a Configuration from the document and notes every problem with its position.
class Reader {
public:
    Reader(Configuration& configuration, const JobOptions& job) : result_(configuration), job_(job) {}

    // Reads the top level: settings of the server first, then the defaults, then each camera.
    void read(const DocumentNode& root) {
        if (root.kind != Kind::map) return problem(root.place, "a map with 'cameras' is needed here");
        for (const auto& entry : root.entries)
            if (entry.key != "cameras" && entry.key != "defaults" &&
                !take(entry, listener_settings(), result_.listener) &&
                !take(entry, live_option_settings(), result_.live) && !take(entry, event_settings(), result_.events))
                unknown(entry,
                        names_of(event_settings(), names_of(live_option_settings(),
                                                            names_of(listener_settings(), {"cameras", "defaults"}))));
        attempt(root.place, [&] { check_events(result_.events); });
        const auto* defaults = entry_of(root, "defaults");
        if (defaults && is_map(*defaults)) check_defaults(defaults->value);
        const auto* cameras = entry_of(root, "cameras");
        if (!cameras) return problem(root.place, "there are no 'cameras'");
        if (!is_map(*cameras)) return;
        if (cameras->value.entries.empty()) problem(cameras->place, "there is no camera");
        for (const auto& camera : cameras->value.entries)
            if (is_map(camera)) read_camera(camera, defaults ? &defaults->value : nullptr);
    }

private:
    // Notes a problem, except while the defaults are applied again to each camera.
    void problem(const TextPlace& place, std::string text) {
        if (!silent_) result_.problems.push_back({place, std::move(text)});
    }

    // Notes what `body` throws as a problem at this place.
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

    // Returns true if the value is a map; otherwise notes a problem.
    bool is_map(const DocumentEntry& entry) {
        if (entry.value.kind == Kind::map) return true;
        problem(entry.place, fmt::format("{} needs 'key: value' lines below it", in_quotes(entry.key)));
        return false;
    }

    // Returns true if the value is a text; otherwise notes a problem.
    bool is_text(const DocumentEntry& entry) {
        if (entry.value.kind == Kind::text) return true;
        problem(entry.place, fmt::format("{} needs one value", in_quotes(entry.key)));
        return false;
    }

    // Returns `others` and the names of the settings, for messages.
    template <class Target>
    static std::vector<std::string_view> names_of(const std::vector<Setting<Target>>& settings,
                                                  std::vector<std::string_view> others) {
        for (const auto& setting : settings) others.push_back(setting.info.name);
        return others;
    }

    // Notes that a key is not known, with the closest known key or a list of all.
    void unknown(const DocumentEntry& entry, const std::vector<std::string_view>& known) {
        const auto nearest = did_you_mean(entry.key, known);
        problem(entry.place,
                fmt::format("{} is not known here{}", in_quotes(entry.key),
                            nearest.empty() ? fmt::format("; allowed are {}", fmt::join(known, ", ")) : nearest));
    }

    // Applies an entry to the setting of its name. Returns false if there is none.
    template <class Target>
    bool take(const DocumentEntry& entry, const std::vector<Setting<Target>>& settings, Target& target) {
        for (const auto& setting : settings) {
            if (setting.info.name != entry.key) continue;
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

    // Reads the defaults once without a camera, so that each of their problems is noted exactly once.
    void check_defaults(const DocumentNode& defaults) {
        CameraSettings settings;
        for (const auto& entry : defaults.entries)
            if (entry.key == "source")
                problem(entry.place, "each camera has a source of its own");
            else
                take_camera(entry, settings);
    }

    // Applies one entry of a camera or of the defaults.
    void take_camera(const DocumentEntry& entry, CameraSettings& settings) {
        if (entry.key == "source") return take_source(entry, settings);
        if (entry.key == "filters") return take_filters(entry, settings);
        if (entry.key == "detect" && entry.value.kind == Kind::map) return take_detector(entry.value, settings);
        if (take(entry, input_settings(), settings.input) || take(entry, camera_settings(), settings)) return;
        unknown(entry, names_of(camera_settings(), names_of(input_settings(), {"source", "filters"})));
    }

    // Applies the source and checks its text and file.
    void take_source(const DocumentEntry& entry, CameraSettings& settings) {
        if (!is_text(entry)) return;
        settings.input.source = entry.value.text;
        attempt(entry.value.place, [&] { check_served_source(entry.value.text); });
    }

    // Applies the chain: one text, or a list whose elements are checked one by one for precise positions.
    void take_filters(const DocumentEntry& entry, CameraSettings& settings) {
        auto texts = entry.value.items;
        if (entry.value.kind != Kind::list) {
            if (!is_text(entry)) return;
            texts = {entry.value};
        }
        std::string chain;
        for (const auto& text : texts) {
            if (text.kind != Kind::text) return problem(text.place, "a filter is a text here");
            attempt(text.place, [&] { parse_chain(text.text); });
            chain += (chain.empty() ? "" : ",") + text.text;
        }
        settings.input.filters = chain;
    }

    // Applies a map of detector settings; it switches detection on.
    void take_detector(const DocumentNode& map, CameraSettings& settings) {
        settings.detects = true;
        auto& detector = settings.detector;
        for (const auto& entry : map.entries) {
            if (entry.key == listed_zones)
                take_zones(entry, detector);
            else if (entry.key == region_picture) {
                if (is_text(entry)) detector.region_path = entry.value.text;
            } else {
                take_parameter(entry, detector);
            }
        }
        attempt(map.place, [&] { detector_of(detector, ""); });
    }

    // Applies one region of interest, or a list of them.
    void take_zones(const DocumentEntry& entry, DetectorSettings& detector) {
        auto zones = entry.value.items;
        if (entry.value.kind != Kind::list) zones = {entry.value};
        for (const auto& zone : zones) {
            if (zone.kind != Kind::text) return problem(zone.place, "a zone is a text 'x,y,width,height'");
            detector.zones.push_back(zone.text);
        }
    }

    // Applies a parameter of detector_fields().
    void take_parameter(const DocumentEntry& entry, DetectorSettings& detector) {
        std::vector<std::string_view> known{listed_zones, region_picture};
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

    // Reads one camera. Defaults are applied for the keys that the camera does not have.
    void read_camera(const DocumentEntry& camera, const DocumentNode* defaults) {
        CameraSettings settings;
        if (!net::is_stream_name(camera.key)) attempt(camera.place, [&] { net::validate_stream_name(camera.key); });
        // problems of the defaults were noted once by check_defaults()
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
            // a problem of the detector was noted before, at a better position
        } catch (const Error& error) {
            const auto told = [&](const ConfigurationProblem& problem) { return problem.text == error.what(); };
            if (std::ranges::none_of(result_.problems, told)) problem(camera.place, error.what());
        }
    }

    Configuration& result_;
    const JobOptions& job_;
    // true while defaults are applied, whose problems have been noted before
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
                    (more ? fmt::format("; and {} more, which 'framewire check {}' tells", more, name) : ""));
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

}  // namespace framewire::session
