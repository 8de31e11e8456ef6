#include "framewire/jobs/persisted_state.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/json_text.hpp"
#include "framewire/core/log.hpp"
#include "framewire/core/parameter_fields.hpp"
#include "framewire/core/text.hpp"
#include "framewire/filters/adjust.hpp"
#include "framewire/media/output_file.hpp"
#include "framewire/net/address.hpp"
#include "framewire/plan/chain.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

// Reads and writes the persisted state as JSON. Reading is strict: unknown keys and values out of range are errors that
// name their position.

namespace framewire::jobs {
namespace {

using StateJson = nlohmann::json;

constexpr std::size_t max_state_bytes = 1 << 20;
constexpr int state_version = 1;

// A JSON value of the file, with its path for messages, such as "cameras.door.zones.zones[2].x".
class Place {
public:
    Place(const std::string& file, const StateJson& value, std::string path = {})
        : file_(&file), value_(&value), path_(std::move(path)) {}

    const StateJson& value() const { return *value_; }

    /// Returns the file and the path, for messages.
    std::string name() const { return fmt::format("{}: {}", *file_, path_); }
    /// Throws Error{config} with file, path and `what`.
    [[noreturn]] void refuse(std::string_view what) const {
        fail(ErrorCode::config, "{}: {}{}{}", *file_, path_, path_.empty() ? "" : ": ", what);
    }
    /// Calls `body`. Errors that it throws are reported as errors of this value.
    template <class Body>
    auto attempt(const Body& body) const {
        try {
            return body();
        } catch (const ExcerptError& error) {
            refuse(error.text());
        } catch (const Error& error) {
            refuse(error.what());
        }
    }

    /// Throws unless the value is an object that has only these keys.
    void require_keys(std::initializer_list<std::string_view> allowed) const {
        if (!value_->is_object()) refuse("expected an object");
        for (const auto& [key, one] : value_->items())
            if (std::ranges::find(allowed, key) == allowed.end())
                below(key, one).refuse(fmt::format("is unknown; allowed: {}", fmt::join(allowed, ", ")));
    }
    bool has(const char* key) const { return value_->contains(key); }
    /// Returns the member `key`, which must exist.
    Place at(const char* key) const {
        const auto found = value_->find(key);
        if (found == value_->end()) refuse(fmt::format("'{}' is missing", key));
        return below(key, *found);
    }
    /// Calls `body` with each element of the list. Throws if it has more than `most` elements.
    template <class Body>
    void for_each(std::size_t most, const Body& body) const {
        if (!value_->is_array()) refuse("expected a list");
        if (value_->size() > most) refuse(fmt::format("{} entries; the limit is {}", value_->size(), most));
        for (std::size_t index = 0; index < value_->size(); ++index)
            body(Place(*file_, (*value_)[index], fmt::format("{}[{}]", path_, index)));
    }
    /// Returns the place of the member `key`, whose value is `one`.
    Place below(const std::string& key, const StateJson& one) const {
        return {*file_, one, path_ + (path_.empty() ? "" : ".") + key};
    }

    // Return the value if it has the expected type; otherwise throw an error that names the place.
    std::string text() const {
        if (!value_->is_string()) refuse("expected a string");
        return value_->get<std::string>();
    }
    bool flag() const {
        if (!value_->is_boolean()) refuse("expected true or false");
        return value_->get<bool>();
    }
    int number(int least, int most) const {
        const auto number = value_->is_number_integer() ? value_->get<std::int64_t>() : std::int64_t{least} - 1;
        if (number < least || number > most)
            refuse(least == most ? fmt::format("expected {}", most)
                                 : fmt::format("expected a whole number from {} to {}", least, most));
        return static_cast<int>(number);
    }
    double real() const {
        if (!value_->is_number()) refuse("expected a number");
        return value_->get<double>();
    }

private:
    const std::string* file_;
    const StateJson* value_;
    std::string path_;
};

StateJson to_json(const service::LiveZones& zones) {
    StateJson all = StateJson::array();
    for (const auto& [kind, area] : zones.zones)
        all.push_back(
            {{"kind", to_string(kind)}, {"x", area.x}, {"y", area.y}, {"width", area.width}, {"height", area.height}});
    return {{"size", {zones.drawn_on.width, zones.drawn_on.height}}, {"zones", std::move(all)}};
}

// Returns the settings as JSON. Settings that were not changed are omitted.
StateJson to_json(const LiveSettings& settings) {
    StateJson json = StateJson::object();
    if (settings.chain) json["chain"] = *settings.chain;
    for (const auto& filter : settings.filters) json["filters"].push_back({{"text", filter.text}, {"on", filter.on}});
    if (const auto& adjust = settings.adjustment)
        json["adjust"] = {{"brightness", adjust->brightness},
                          {"contrast", adjust->contrast},
                          {"saturation", adjust->saturation},
                          {"gain", adjust->gain}};
    if (settings.threshold) json["threshold"] = *settings.threshold;
    if (settings.mode) json["mode"] = codec::to_string(*settings.mode);
    if (!settings.zones.zones.empty()) json["zones"] = to_json(settings.zones);
    if (settings.event_zones) json["event_zones"] = StateJson::parse(settings.event_zones->to_json());
    return json;
}

codec::Mode mode_of(const Place& place) {
    const auto text = place.text();
    for (const auto mode : {codec::Mode::exact, codec::Mode::lossless, codec::Mode::bounded})
        if (codec::to_string(mode) == text) return mode;
    place.refuse(fmt::format("{} is not a mode; allowed: exact, lossless and bounded", in_quotes(text)));
}

// Reads zones, which must lie inside the frame on which they were drawn.
service::LiveZones zones_of(const Place& place) {
    constexpr int most = std::numeric_limits<int>::max();
    place.require_keys({"size", "zones"});
    service::LiveZones zones;
    std::vector<int> sides;
    place.at("size").for_each(2, [&](const Place& side) { sides.push_back(side.number(1, max_side_px)); });
    if (sides.size() != 2) place.at("size").refuse("expected a width and a height");
    zones.drawn_on = {1, sides[1], sides[0], 3};
    place.at("zones").for_each(service::max_live_zones, [&](const Place& zone) {
        zone.require_keys({"kind", "x", "y", "width", "height"});
        const auto side = [&](const char* key) { return zone.at(key).number(0, most); };
        zones.zones.push_back(
            {zone.at("kind").attempt([&] { return service::parse_zone_kind(zone.at("kind").text()); }),
             {side("x"), side("y"), side("width"), side("height")}});
    });
    place.at("zones").attempt([&] { service::check_zones(zones.zones, zones.drawn_on); });
    return zones;
}

// Reads an adjustment. adjust_terms() checks the ranges of its factors.
Adjustment adjustment_at(const Place& place) {
    place.require_keys({"brightness", "contrast", "saturation", "gain"});
    const Adjustment adjustment{.brightness = place.at("brightness").number(-255, 255),
                                .contrast = place.at("contrast").real(),
                                .saturation = place.at("saturation").real(),
                                .gain = place.at("gain").real()};
    place.attempt([&] { adjust_terms(adjustment); });
    return adjustment;
}

// Reads the settings of one camera. All members are optional.
LiveSettings settings_of(const Place& place) {
    place.require_keys({"chain", "filters", "adjust", "threshold", "mode", "zones", "event_zones"});
    LiveSettings settings;
    if (place.has("chain")) {
        settings.chain = place.at("chain").text();
        place.at("chain").attempt([&] { check_requested_chain(*settings.chain); });
    }
    if (place.has("filters"))
        place.at("filters").for_each(max_chain_filters, [&](const Place& filter) {
            filter.require_keys({"text", "on"});
            settings.filters.push_back({.text = filter.at("text").text(), .on = filter.at("on").flag()});
        });
    if (place.has("adjust")) settings.adjustment = adjustment_at(place.at("adjust"));
    if (place.has("threshold")) settings.threshold = place.at("threshold").number(0, 254);
    if (place.has("mode")) settings.mode = mode_of(place.at("mode"));
    if (place.has("zones")) settings.zones = zones_of(place.at("zones"));
    if (place.has("event_zones")) {
        const auto zones = place.at("event_zones");
        settings.event_zones = ZoneSet::parse(json_text(zones.value()), zones.name(), ErrorCode::config);
    }
    return settings;
}

}  // namespace

std::string to_json(const PersistedSettings& cameras) {
    StateJson all = StateJson::object();
    for (const auto& [name, settings] : cameras)
        if (auto json = to_json(settings); !json.empty()) all[name] = std::move(json);
    const StateJson json{{"framewire", "state"}, {"version", state_version}, {"cameras", std::move(all)}};
    return ascii_json_text(json, 2) + "\n";
}

// The text is untrusted, so its size is checked before it is parsed.
PersistedSettings parse_state(std::string_view text, const std::string& name) {
    if (text.size() > max_state_bytes)
        fail(ErrorCode::config, "{}: larger than {} bytes, so it is not a camera state file", name, max_state_bytes);
    StateJson json;
    try {
        json = StateJson::parse(text);
    } catch (const StateJson::exception& error) {
        fail(ErrorCode::config, "{}: invalid JSON: {}", name, error.what());
    }
    const Place root(name, json);
    root.require_keys({"framewire", "version", "cameras"});
    if (root.at("framewire").text() != "state") root.refuse("not a camera state file");
    root.at("version").number(state_version, state_version);
    const auto cameras = root.at("cameras");
    if (!cameras.value().is_object()) cameras.refuse("expected an object");
    PersistedSettings requested;
    for (const auto& entry : cameras.value().items()) {
        const auto& camera = entry.key();
        const auto place = cameras.below(camera, entry.value());
        place.attempt([&] { net::validate_stream_name(camera); });
        requested.emplace(camera, settings_of(place));
    }
    return requested;
}

PersistedSettings read_state(const std::string& path) {
    const auto folder = std::filesystem::absolute(path).parent_path();
    if (!std::filesystem::is_directory(folder)) fail(ErrorCode::config, "the folder of {} does not exist", path);
    if (!std::filesystem::exists(path)) return {};
    std::ifstream file(path, std::ios::binary);
    std::string text(max_state_bytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (!file.is_open() || file.bad()) fail(ErrorCode::config, "cannot read {}", path);
    text.resize(static_cast<std::size_t>(file.gcount()));
    return parse_state(text, path);
}

// The replacement is atomic, because OutputFile writes NAME.part and renames it.
void write_state(const std::string& path, const std::string& json) {
    OutputFile file(path, {.replace = true});
    file.write(json.data(), json.size());
    file.sync();
    file.finish();
}

namespace {

constexpr std::chrono::milliseconds between_looks{300};

}  // namespace

StateKeeper::StateKeeper(std::string path, PersistedSettings before, std::vector<std::shared_ptr<ServedCamera>> cameras)
    : path_(std::move(path)),
      requested_(std::move(before)),
      cameras_(std::move(cameras)),
      kept_(to_json(requested_)),
      thread_([this](const std::stop_token& stop) { work(stop); }) {}

StateKeeper::~StateKeeper() {
    thread_.request_stop();
    thread_.join();
    keep();
}

// Checks the settings periodically and writes them only if they have changed.
void StateKeeper::work(const std::stop_token& stop) {
    std::mutex mutex;
    std::condition_variable_any stopping;
    std::unique_lock lock(mutex);
    while (!stopping.wait_for(lock, stop, between_looks, [&] { return stop.stop_requested(); })) keep();
}

void StateKeeper::keep_now() {
    const std::lock_guard lock(mutex_);
    for (const auto& camera : cameras_) requested_[camera->name()] = camera->settings();
    auto json = to_json(requested_);
    if (json == kept_) return;
    write_state(path_, json);
    kept_ = std::move(json);
}

void StateKeeper::keep() {
    try {
        keep_now();
        warned_ = false;
    } catch (const std::exception& error) {
        if (!std::exchange(warned_, true)) log_warning("cannot save the changed settings: {}", error.what());
    }
}

}  // namespace framewire::jobs
