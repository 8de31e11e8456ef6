// The subcommand show: shows local sources, filtered, in a window.

#include "commands/commands.hpp"
#include "commands/work.hpp"
#include "options/access_options.hpp"
#include "options/common.hpp"
#include "options/screen_options.hpp"
#include "view/camera/local_camera.hpp"
#include "view/screen/screen.hpp"

#include "framewire/core/error.hpp"
#include "framewire/jobs/input/input.hpp"
#include "framewire/jobs/show.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace framewire::app {
namespace {

// Flags of the subcommand show.
struct ShowFlags {
    CommonOptions common;
    jobs::InputOptions input;  // settings of all sources, except the sources' names
    std::vector<std::string> sources;
    ScreenOptions screen;
    double speed = 1;
    bool compare = false, paused = false;
    EntryFlags entry;

    std::vector<jobs::ShowOptions> options(const std::stop_token& stop) const;
};

// Returns the options of the jobs, one per source.
std::vector<jobs::ShowOptions> ShowFlags::options(const std::stop_token& stop) const {
    require_room(sources.size());
    if (sources.size() > 1 && !common.statistics_path.empty())
        fail(ErrorCode::usage, "--stats requires a single source, but {} were given", sources.size());
    std::vector<jobs::ShowOptions> options;
    for (const auto& source : sources) {
        options.push_back({.job = common.job(stop), .input = input, .paused = paused, .speed = speed});
        options.back().input.source = source;
        entry.apply(options.back().input);
    }
    return options;
}

// Opens the window at the size of its pictures in a grid.
void open_screen(Screen& screen, const std::vector<std::unique_ptr<LocalCamera>>& cameras, bool compare) {
    int width = 1, height = 1;
    for (const auto& camera : cameras)
        for (const auto& shape : {camera->playing()->shape(), camera->playing()->source().shape}) {
            width = std::max(width, shape.width);
            height = std::max(height, shape.height);
        }
    const auto count = static_cast<int>(cameras.size());
    // The grid is almost square. The window is reduced if it does not fit the screen.
    const int columns = static_cast<int>(std::ceil(std::sqrt(count))), rows = (count + columns - 1) / columns;
    auto title = fmt::format("framewire: {}", cameras.front()->name());
    if (count > 1) title += fmt::format(" and {} more", count - 1);
    screen.open((compare ? 2 : 1) * columns * width, rows * height, title);
}

// Checks the outputs without opening sources, then shows the sources.
void show(ShowFlags& flags, const std::stop_source& stop) {
    if (!Screen::supported())
        fail(ErrorCode::config, "this build has no window support; use run -o to write the frames to a file");
    for (const auto& source : flags.options({}))
        if (!may_write(files_of(source), flags.common, stop.get_token())) return;
    std::vector<std::unique_ptr<LocalCamera>> cameras;
    for (auto& source : flags.options(stop.get_token())) cameras.push_back(std::make_unique<LocalCamera>(source));
    auto options = flags.screen;
    options.comparison = flags.compare ? Comparison::side_by_side : Comparison::none;
    Screen screen(options, stop);
    open_screen(screen, cameras, flags.compare);
    for (auto& camera : cameras) screen.add(std::move(camera));
    screen.run();
}

}  // namespace

void add_show(CommandLine& program, Action& chosen) {
    auto command = program.subcommand("show", "Sources -> filters -> a window (press ? for the keys)");
    const auto flags = std::make_shared<ShowFlags>();
    flags->common.progress = "none";  // the window shows the progress
    command.option("source", flags->sources, "source to show, like run's -i; several are shown side by side")
        .required()
        .type_name("SRC");
    command.option("-f,--filters", flags->input.filters, "filters for all sources: name=value:key=value,name=...")
        .type_name("FILTERS");
    add_entry_options(command, flags->entry, "if the source is a stream: ");
    add_range_options(command, flags->input);
    command
        .option(
            "--rate", [flags](const std::string& text) { jobs::take_rate(text, "own", flags->input); },
            "playback rate of files: their own, or frames per second")
        .type_name("own|FPS")
        .shown_default("own");
    add_reconnect_option(command, flags->input.reconnect,
                         "how long to try to reconnect a lost camera or network source")
        .shown_default("5 attempts");
    add_input_setting(command, "decode", flags->input);
    add_input_setting(command, "max-pixels", flags->input).shown_default("16384x16384");
    command.flag("--compare", flags->compare, "show the originals beside the filtered frames");
    command.flag("--loop", flags->input.loop, "start over when a source ends");
    command.option("--speed", flags->speed, "playback speed of a file, relative to its own rate")
        .within(jobs::least_playback_speed, jobs::most_playback_speed)
        .type_name("FACTOR");
    command.flag("--paused", flags->paused, "start paused on the first frame");
    add_screen_options(command, flags->screen);
    add_common_options(command, flags->common);
    set_work(command, chosen, flags->common, [flags](const std::stop_source& stop) { show(*flags, stop); });
}

}  // namespace framewire::app
