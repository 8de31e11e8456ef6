// Options of the window.

#include "options/screen_options.hpp"

#include "framewire/core/error.hpp"

#include <filesystem>
#include <string>

namespace framewire::app {
namespace {

constexpr std::size_t most_cameras = 16;

// Returns an error message unless `path` is an existing folder.
std::string problem_with_folder(const std::string& path) {
    return std::filesystem::is_directory(path) ? "" : path + " is not a folder";
}

}  // namespace

void add_screen_options(Command& command, ScreenOptions& options) {
    command.flag("--fullscreen", options.full_screen, "fill the screen");
    command.option("--snapshots", options.folder, "folder where the keys s and r save pictures and recordings")
        .check(problem_with_folder)
        .type_name("FOLDER");
    command.option("--record-as", options.ending, "format of recordings made with the key r: mkv (lossless) or mp4")
        .one_of({"mkv", "mp4"});
}

void require_room(std::size_t cameras) {
    if (cameras > most_cameras)
        fail(ErrorCode::usage, "{} cameras are too many for one window; the limit is {}", cameras, most_cameras);
}

}  // namespace framewire::app
