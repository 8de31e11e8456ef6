// The subcommand devices: lists GPUs, instruction sets and cameras as text or JSON.

#include "commands/commands.hpp"
#include "commands/json.hpp"
#include "commands/listing/cpu_info.hpp"
#include "view/shown_text.hpp"

#include "framewire/cuda/device.hpp"
#include "framewire/media/camera.hpp"

#include <fmt/ranges.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace framewire::app {
namespace {

// Returns the name of a control's type.
std::string_view name_of(CameraControl::Type type) {
    switch (type) {
        case CameraControl::Type::integer: return "integer";
        case CameraControl::Type::boolean: return "boolean";
        case CameraControl::Type::menu: return "menu";
        case CameraControl::Type::button: break;
    }
    return "button";
}

// Describes cameras, their formats and their controls as JSON.
Json describe(const CameraFormat& format) {
    auto sizes = Json::array();
    for (const auto& size : format.sizes) {
        auto rates = Json::array();
        for (const auto& rate : size.rates) rates.push_back(rate.value());
        sizes.push_back({{"width", size.width_px}, {"height", size.height_px}, {"rates", rates}});
    }
    return {{"pixel_format", format.pixel_format}, {"description", format.description}, {"sizes", sizes}};
}

Json describe(const CameraControl& control) {
    Json json{{"name", control.name},       {"type", name_of(control.type)}, {"minimum", control.minimum},
              {"maximum", control.maximum}, {"step", control.step},          {"default", control.default_value},
              {"value", control.value},     {"writable", control.writable}};
    auto menu = Json::array();
    for (const auto& [value, name] : control.menu) menu.push_back({{"value", value}, {"name", name}});
    if (!control.menu.empty()) json.add("menu", menu);
    return json;
}

Json describe(const Camera& camera) {
    auto formats = Json::array(), controls = Json::array();
    for (const auto& format : camera.formats) formats.push_back(describe(format));
    for (const auto& control : camera.controls) controls.push_back(describe(control));
    return {{"path", camera.path},
            {"name", camera.name},
            {"driver", camera.driver},
            {"formats", formats},
            {"controls", controls}};
}

// Returns the whole list as JSON.
Json as_json() {
    auto gpus = Json::array(), cameras = Json::array();
    for (const auto& gpu : cuda::devices())
        gpus.push_back(
            {{"index", gpu.index},
             {"name", gpu.name},
             {"compute_capability", fmt::format("{}.{}", gpu.limits.compute_major, gpu.limits.compute_minor)},
             {"multiprocessors", gpu.limits.multiprocessors},
             {"memory_bytes", gpu.memory_bytes},
             {"l2_bytes", gpu.l2_bytes}});
    for (const auto& camera : list_cameras()) cameras.push_back(describe(camera));
    const auto processor = cpu_info();
    return {{"cuda", {{"compiled", cuda::compiled}, {"gpus", gpus}, {"reason", cuda::why_no_device()}}},
            {"cpu",
             {{"model", processor.model},
              {"threads", processor.threads},
              {"instruction_sets", processor.instruction_sets}}},
            {"cameras", cameras}};
}

// Prints a camera. Its texts come from a driver, so unprintable characters are replaced first.
void print(const Camera& camera) {
    fmt::print("camera {}: {} ({})\n", shown_text(camera.path), shown_text(camera.name), shown_text(camera.driver));
    for (const auto& format : camera.formats) {
        fmt::print("    {} ({})\n", shown_text(format.pixel_format), shown_text(format.description));
        for (const auto& size : format.sizes) {
            std::vector<std::string> rates;
            for (const auto& rate : size.rates) rates.push_back(fmt::format("{:.4g}", rate.value()));
            fmt::print("        {}x{} at {} fps\n", size.width_px, size.height_px, fmt::join(rates, ", "));
        }
    }
    for (const auto& control : camera.controls)
        fmt::print("    {}: {}, {} to {}, default {}{}\n", shown_text(control.name), control.value, control.minimum,
                   control.maximum, control.default_value, control.writable ? "" : ", currently read-only");
}

// Prints the whole list as text.
void print() {
    const auto gpus = cuda::devices();
    if (gpus.empty()) fmt::print("GPUs: none ({})\n", cuda::why_no_device());
    for (const auto& gpu : gpus)
        fmt::print("GPU {}: {}, compute {}.{}, {} multiprocessors, {:.1f} GiB\n", gpu.index, gpu.name,
                   gpu.limits.compute_major, gpu.limits.compute_minor, gpu.limits.multiprocessors,
                   static_cast<double>(gpu.memory_bytes) / (1 << 30));
    const auto processor = cpu_info();
    fmt::print("CPU: {}, {} threads, {}\n", processor.model, processor.threads,
               fmt::join(processor.instruction_sets, ", "));
    const auto cameras = list_cameras();
    if (cameras.empty()) fmt::print("cameras: none\n");
    for (const auto& camera : cameras) print(camera);
}

}  // namespace

void add_devices(CommandLine& program, Action& chosen) {
    auto command = program.subcommand("devices", "Lists GPUs, the CPU's instruction sets and cameras");
    const auto json = std::make_shared<bool>(false);
    command.flag("--json", *json, "for machines");
    command.when_chosen([&chosen, json] {
        chosen = [json] {
            if (*json)
                fmt::print("{}\n", as_json().text());
            else
                print();
            return 0;
        };
    });
}

}  // namespace framewire::app
