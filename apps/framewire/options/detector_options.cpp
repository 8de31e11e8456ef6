#include "options/detector_options.hpp"
#include "options/parameter_options.hpp"

#include "framewire/core/parameter_fields.hpp"
#include "framewire/detect/detector.hpp"

namespace framewire::app {

std::vector<Option> add_detector_options(Command& command, jobs::DetectorSettings& settings,
                                         const std::string& threshold_flag) {
    auto group = command.group("Moving objects");
    auto options = add_detector_parameters(group, settings, threshold_flag);
    options.push_back(group.option("--roi", settings.zones, "detect only in this rectangle; may be given several times")
                          .type_name("X,Y,W,H"));
    options.push_back(group.option("--roi-mask", settings.region_path, "detect only where this image is not black")
                          .type_name("IMAGE"));
    options.push_back(
        group
            .option(
                "--track", [&settings](const std::string& text) { settings.track = text; },
                "give objects an identity that lasts from frame to frame; confirm=SECONDS (0.2): objects "
                "seen for less do not count; keep=SECONDS (1.5): objects out of sight keep their identity")
            .optional_value()
            .type_name("NAME=VALUE:..."));
    return options;
}

std::vector<Option> add_detector_parameters(Command& group, jobs::DetectorSettings& settings,
                                            const std::string& threshold_flag) {
    std::vector<Option> options;
    for (const auto& parameter : detector_fields().infos())
        options.push_back(add_parameter(group, parameter, settings.parameters,
                                        {.flag = parameter.name == "threshold" ? threshold_flag : ""}));
    return options;
}

}  // namespace framewire::app
