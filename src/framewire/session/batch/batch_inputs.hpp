#pragma once

#include <string>
#include <vector>

namespace framewire::session {

/// An input file of a batch.
struct BatchInput {
    std::string path;
    /// Path of its output in the output folder, without an ending.
    std::string name;
    /// True for an image, by its ending.
    bool image = false;
    /// True if `-i` names the file and it does not exist.
    bool missing = false;
};

/// Returns true if an `-i` text names several files: a list (`@LIST`), a folder, or a pattern (`clips/*.avi`) that
/// matches files and is not itself a file.
bool names_many(const std::string& text);

/// Returns the files that the `-i` texts name, each once, sorted by bytes within each text:
/// - a file: itself, even if it does not exist;
/// - a folder: its videos and images by ending; hidden files and subfolders are skipped;
/// - a shell pattern (`*`, `?`, `[...]`): the matching files. Their names keep the folders after the pattern's fixed
///   part, so `cams/*/*.mp4` has names such as `door/0001`;
/// - `@LIST`: one file per line of LIST; `@-` is standard input, and empty lines are skipped.
///
/// Opens no video. Throws Error{usage} for other sources, and Error{no_input} if a folder, pattern or list has no file.
std::vector<BatchInput> batch_inputs(const std::vector<std::string>& texts);

}  // namespace framewire::session
