#include "framewire/session/cameras/cameras_progress.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>

namespace framewire::session {
namespace {

using Json = nlohmann::ordered_json;

double per_second(double amount, double seconds) { return seconds > 0 ? amount / seconds : 0; }

// Totals, with members as in a single camera's statistics.
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
        return line.dump();
    };
    return {bar, json};
}

std::string to_json(const CamerasResult& result) {
    const auto text = [](const Json& json) {
        constexpr int indent = 2;
        return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
    };
    const auto of = [](const CameraResult& camera) {
        auto json = Json::parse(to_json(camera.broadcast.figures, camera.broadcast.description));
        if (camera.failure) json["failure"] = *camera.failure;
        return json;
    };
    const auto add_events = [&result](Json json) {
        if (const auto& events = result.events)
            json["events"] = {{"objects", events->objects}, {"motion", events->motion}, {"left_out", events->left_out}};
        if (const auto& mqtt = result.mqtt)
            json["mqtt"] = {{"connections", mqtt->connections},
                            {"acknowledged", mqtt->acknowledged},
                            {"waiting", mqtt->waiting},
                            {"dropped", mqtt->dropped}};
        return json;
    };
    if (result.cameras.size() == 1) return text(add_events(of(result.cameras.front())));
    auto json = total_json(result.total);
    json["viewers_total"] = result.viewers.viewers_total;
    for (const auto& camera : result.cameras) json["cameras"][camera.name] = of(camera);
    return text(add_events(json));
}

}  // namespace framewire::session
