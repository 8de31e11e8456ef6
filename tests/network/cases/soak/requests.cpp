#include "network/cases/soak/requests.hpp"

#include "framewire/jobs/served_camera.hpp"
#include "framewire/plan/chain.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace framewire::network {
namespace {

using service::LiveZone;

// Chains to choose from. None has `adjust`, which would set the adjustment. The last two change the picture's size.
constexpr std::array<std::string_view, 11> chains{"",
                                                  "gray",
                                                  "gaussian=5",
                                                  "median=3",
                                                  "flip=both",
                                                  "mosaic=16",
                                                  "gaussian=5:sigma=1,gray",
                                                  "mean=3,flip=both",
                                                  "dilate=3,erode=5,gray",
                                                  "crop=128:96",
                                                  "gaussian=3,scale=96:80"};
// Thresholds to choose from. Those above the server's first one restart its stream.
constexpr std::array thresholds{3, 5, 8, 10, 12, 12, 20};
constexpr std::array modes{codec::Mode::exact, codec::Mode::lossless, codec::Mode::bounded};

}  // namespace

std::string CameraSettings::chain_in_force() const {
    std::vector<FilterSwitch> switches;
    for (const bool on : filters_on) switches.push_back({.text = "", .on = on});
    return jobs::chain_in_force(chain, switches, adjustment);
}

bool changes_picture(const CameraSettings& before, const CameraSettings& after) {
    return before.zones != after.zones || before.chain_in_force() != after.chain_in_force();
}

int RequestMaker::between(int from, int to) {
    // std::uniform_int_distribution differs between standard libraries.
    return from + static_cast<int>(random_() % static_cast<std::uint32_t>(to - from + 1));
}

ControlRequest RequestMaker::next(const CameraSettings& now) {
    for (;;) {
        const int kind = between(0, 99);
        const auto request = mix_ == Mix::zones ? kind < 80   ? zones(now)
                                                  : kind < 92 ? threshold(now)
                                                              : mode(now)
                             : kind < 22 ? threshold(now)
                             : kind < 27        ? mode(now)
                             : kind < 45        ? chain(now)
                             : kind < 60        ? filter(now)
                             : kind < 80        ? adjustment(now)
                                                : zones(now);
        if (request.settings != now) return request;
    }
}

ControlRequest RequestMaker::threshold(CameraSettings settings) {
    if (settings.mode == codec::Mode::lossless) return mode(std::move(settings));
    settings.threshold = any_of(thresholds);
    const auto body = fmt::format(R"({{"threshold":{}}})", settings.threshold);
    return {"threshold", body, std::move(settings)};
}

ControlRequest RequestMaker::mode(CameraSettings settings) {
    settings.mode = any_of(modes);
    const auto body = fmt::format(R"({{"mode":"{}"}})", to_string(settings.mode));
    return {"threshold", body, std::move(settings)};
}

ControlRequest RequestMaker::chain(CameraSettings settings) {
    // If a filter that is switched off is also in the new chain, it stays off there.
    if (std::ranges::count(settings.filters_on, false) > 0) return filter(std::move(settings));
    settings.chain = any_of(chains);
    const auto calls = parse_chain(settings.chain).calls;
    settings.filters_on.assign(calls.size(), true);
    const auto body = fmt::format(R"({{"chain":"{}"}})", settings.chain);
    return {"chain", body, std::move(settings)};
}

ControlRequest RequestMaker::filter(CameraSettings settings) {
    const auto off = std::ranges::find(settings.filters_on, false);
    const auto any = settings.filters_on.empty()
                         ? 0
                         : static_cast<std::size_t>(between(0, static_cast<int>(settings.filters_on.size()) - 1));
    const auto number =
        off != settings.filters_on.end() ? static_cast<std::size_t>(off - settings.filters_on.begin()) : any;
    const auto calls = parse_chain(settings.chain).calls;
    // Filters that change the size cannot be switched off.
    if (calls.empty() || calls[number].filter->name == "crop" || calls[number].filter->name == "scale")
        return chain(std::move(settings));
    settings.filters_on[number] = off != settings.filters_on.end();
    const auto body = fmt::format(R"({{"filter":{},"on":{}}})", number + 1, bool{settings.filters_on[number]});
    return {"controls", body, std::move(settings)};
}

ControlRequest RequestMaker::adjustment(CameraSettings settings) {
    Adjustment set;
    set.brightness = between(-40, 40);
    set.contrast = 0.25 * between(2, 7);
    set.saturation = 0.5 * between(0, 3);
    settings.adjustment = set;
    const auto body = fmt::format(R"({{"brightness":{},"contrast":{},"saturation":{},"gain":1}})", set.brightness,
                                  set.contrast, set.saturation);
    return {"controls", body, std::move(settings)};
}

ControlRequest RequestMaker::zones(CameraSettings settings) {
    settings.zones.clear();
    std::string body;
    const int third = picture_.width / 3;
    for (int band = 0; band < 3; ++band) {
        if (between(0, 2) == 0) continue;
        LiveZone zone{between(0, 1) == 0 ? LiveZone::Kind::privacy : LiveZone::Kind::mosaic, {}};
        // Zones that belong to one third of the picture stay inside it, below the stamp.
        const bool anywhere = mix_ == Mix::all;
        const int left = anywhere ? 0 : band * third, right = anywhere ? picture_.width : left + third;
        const int top = anywhere ? 0 : 20;
        zone.area.width = between(8, right - left);
        zone.area.height = between(8, picture_.height - top);
        zone.area.x = between(left, right - zone.area.width);
        zone.area.y = between(top, picture_.height - zone.area.height);
        body += fmt::format(R"({}{{"kind":"{}","x":{},"y":{},"width":{},"height":{}}})", body.empty() ? "" : ",",
                            to_string(zone.kind), zone.area.x, zone.area.y, zone.area.width, zone.area.height);
        settings.zones.push_back(zone);
    }
    return {"zones", R"({"zones":[)" + body + "]}", std::move(settings)};
}

std::size_t RequestLog::send(const CameraSettings& settings) {
    const std::lock_guard lock(mutex_);
    entries_.push_back({settings, Clock::now()});
    return entries_.size() - 1;
}

void RequestLog::answer() {
    const std::lock_guard lock(mutex_);
    entries_.back().answered = Clock::now();
}

RequestLog::Entry RequestLog::entry(std::size_t number) const {
    const std::lock_guard lock(mutex_);
    return entries_.at(number);
}

std::size_t RequestLog::size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
}

std::vector<std::size_t> RequestLog::possible(Clock::time_point captured) const {
    const std::lock_guard lock(mutex_);
    std::vector<std::size_t> numbers;
    for (std::size_t number = 0; number < entries_.size(); ++number) {
        const bool replaced = number + 1 < entries_.size() && entries_[number + 1].answered <= captured;
        if (!replaced && entries_[number].sent <= captured + std::chrono::seconds(10)) numbers.push_back(number);
    }
    return numbers;
}

}  // namespace framewire::network
