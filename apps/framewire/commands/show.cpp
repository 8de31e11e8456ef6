#include "commands/commands.hpp"
#include "commands/work.hpp"
#include "options/common.hpp"
#include "view/player.hpp"

#include "framewire/core/error.hpp"
#include "framewire/session/show/show.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace framewire::app {
namespace {

constexpr std::size_t most_shown_sources = 16;

struct ShowFlags {
    CommonOptions common;
    session::InputOptions input;  // of all sources, but for their names
    std::vector<std::string> sources;
    std::string snapshots = ".";
    double speed = 1;
    bool compare = false, paused = false, full_screen = false;

    PlayerOptions options() const;
};

PlayerOptions ShowFlags::options() const {
    if (sources.size() > most_shown_sources)
        fail(ErrorCode::usage, "{} sources are too many for one window; {} are allowed", sources.size(),
             most_shown_sources);
    if (sources.size() > 1 && !common.statistics_path.empty())
        fail(ErrorCode::usage, "--stats is of one source, and {} are shown", sources.size());
    if (!std::filesystem::is_directory(snapshots)) fail(ErrorCode::usage, "--snapshots: {} is no folder", snapshots);
    PlayerOptions options{.sources = {},
                          .comparison = compare ? Comparison::side_by_side : Comparison::none,
                          .full_screen = full_screen,
                          .snapshots = snapshots};
    for (const auto& source : sources) {
        session::ShowOptions one{.job = common.job({}), .input = input, .paused = paused, .speed = speed};
        one.input.source = source;
        options.sources.push_back(std::move(one));
    }
    return options;
}

void show(ShowFlags& flags, const std::stop_source& stop) {
    if (!Window::supported()) fail(ErrorCode::config, "this build has no windows; run -o writes what it would show");
    const auto options = flags.options();
    for (const auto& source : options.sources)
        if (!may_write(files_of(source), flags.common, stop.get_token())) return;
    Player(flags.options(), stop).run();
}

}  // namespace

void add_show(CommandLine& program, Action& chosen) {
    auto command = program.subcommand("show", "Sources -> filters -> a window, which keys lead: ? there tells which");
    const auto flags = std::make_shared<ShowFlags>();
    flags->common.progress = "none";  // the window has it
    command.option("source", flags->sources, "what to look at, as run's -i; several lie side by side")
        .required()
        .type_name("SRC");
    command.option("-f,--filters", flags->input.filters, "for all sources; name=value:key=value,name=...")
        .type_name("FILTERS");
    add_range_options(command, flags->input);
    add_reconnect_option(command, flags->input.reconnect,
                         "how long a camera or a network source that was lost is tried to be had again")
        .shown_default("5 attempts");
    command.flag("--compare", flags->compare, "the originals beside what the filters make of them");
    command.flag("--loop", flags->input.loop, "begin again when a source ends");
    command.option("--speed", flags->speed, "how many times its own rate a file is played at")
        .within(session::least_playback_speed, session::most_playback_speed)
        .type_name("FACTOR");
    command.flag("--paused", flags->paused, "wait on the first frame");
    command.flag("--fullscreen", flags->full_screen, "fill the screen");
    command.option("--snapshots", flags->snapshots, "where the key s saves pictures").type_name("FOLDER");
    add_common_options(command, flags->common);
    set_work(command, chosen, flags->common, [flags](const std::stop_source& stop) { show(*flags, stop); });
}

}  // namespace framewire::app
