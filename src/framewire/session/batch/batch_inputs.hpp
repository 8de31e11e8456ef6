#pragma once

#include <string>
#include <vector>

namespace framewire::session {

/// One file of many.
struct BatchInput {
    std::string path;
    std::string name;      ///< what is made of it is called this in the output folder, with an ending of its own
    bool image = false;    ///< by its ending
    bool missing = false;  ///< `-i` names it, and there is no such file
};

/// Whether an `-i` of this text names many files: a list (`@LIST`), a folder, or a pattern (`clips/*.avi`) that fits
/// some and is not itself there.
bool names_many(const std::string& text);

/// The files that texts of `-i` name, each once, sorted by the bytes of their names within each text:
/// - a file: itself, whether it is there or not;
/// - a folder: its videos and images by their endings, hidden ones not; folders in it are not looked into;
/// - a pattern of the shell (`*`, `?`, `[...]`): the files that it fits. They keep the folders below its fixed part, so
///   that `cams/*/*.mp4` has names like `door/0001`;
/// - `@LIST`: a file in each line of LIST, `@-` being standard input; empty lines count for nothing.
/// Opens no video. Throws Error{usage} on other sources, Error{no_input} where a folder, a pattern or a list has none.
std::vector<BatchInput> batch_inputs(const std::vector<std::string>& texts);

}  // namespace framewire::session
