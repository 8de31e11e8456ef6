#include "framewire/session/batch/batch_inputs.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/media/files/input_file.hpp"
#include "framewire/media/images/image_folder.hpp"
#include "framewire/media/names.hpp"
#include "framewire/media/sources/source_registry.hpp"

#include <fmt/ranges.h>

#include <glob.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

namespace framewire::session {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 22> video_endings{
    ".3gp", ".asf", ".avi", ".fwd",  ".flv", ".gif", ".h264", ".m2ts", ".m4v",  ".mjpeg", ".mkv",
    ".mov", ".mp4", ".mpg", ".mpeg", ".mts", ".mxf", ".ogv",  ".ts",   ".webm", ".wmv",   ".y4m"};
constexpr std::string_view pattern_letters = "*?[";
constexpr std::size_t longest_list_bytes = std::size_t{64} << 20;

bool is_video_name(const std::string& path) {
    const auto ending = lower_case(fs::path(path).extension().native());
    return std::ranges::find(video_endings, ending) != video_endings.end();
}

bool is_there(const std::string& path) {
    std::error_code unknown;
    return fs::exists(path, unknown);
}

// A file that is really called @NAME is not a list.
bool is_list(const std::string& text) { return text.starts_with('@') && !is_there(text); }

bool is_path(const std::string& text) { return !text.empty() && parse_source(text).kind->named_by_path; }

// A file whose name contains wildcards is not a pattern.
bool is_pattern(const std::string& text) {
    return text.find_first_of(pattern_letters) != text.npos && !is_there(text) && is_path(text);
}

// Makes a path unambiguous: a file called `lavfi:...` must not be taken for a filter graph.
std::string as_path(const std::string& path) { return path.find(':') < path.find('/') ? "./" + path : path; }

// `name` is the path relative to the folder or pattern; its ending is dropped.
BatchInput input_at(const std::string& path, const std::string& name) {
    return {as_path(path), fs::path(name).replace_extension().native(), is_image_name(path)};
}

// Rejects sources that are not files, such as cameras and URLs.
BatchInput file_input(const std::string& text) {
    const auto call = parse_source(text);
    if (!call.kind->must_exist)
        fail(ErrorCode::usage, "{} is no file; many files are named by their paths, folders, patterns and @lists",
             text);
    return input_at(call.path, fs::path(call.path).filename());
}

// Returns the videos and images of a folder and warns about other entries.
std::vector<BatchInput> folder_inputs(const std::string& text) {
    const auto folder = parse_source(text).path;
    std::vector<BatchInput> inputs;
    int others = 0;
    std::error_code error;
    fs::directory_iterator entry(folder, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
        const auto path = entry->path();
        if (path.filename().native().starts_with('.')) continue;
        std::error_code unknown;
        if ((is_video_name(path) || is_image_name(path)) && entry->is_regular_file(unknown))
            inputs.push_back(input_at(path, path.filename()));
        else
            ++others;
    }
    if (error) fail(ErrorCode::no_input, "cannot read the folder {}: {}", folder, error.message());
    if (inputs.empty())
        fail(ErrorCode::no_input, "{} holds no videos and no images; known are {}, and images' endings", folder,
             fmt::join(video_endings, " "));
    if (others > 0) log_warning("{}: {} entries are no videos and no images, and left out", folder, others);
    std::ranges::sort(inputs, {}, &BatchInput::path);
    return inputs;
}

// Returns the folder, with its slash, before the first wildcard.
std::string fixed_part(const std::string& pattern) {
    const auto slash = pattern.substr(0, pattern.find_first_of(pattern_letters)).rfind('/');
    return slash == pattern.npos ? "" : pattern.substr(0, slash + 1);
}

// Expands a pattern with glob(3); folders are left out.
std::vector<std::string> paths_that_fit(const std::string& pattern) {
    struct Matches {
        Matches() = default;
        Matches(const Matches&) = delete;
        Matches& operator=(const Matches&) = delete;
        ~Matches() { ::globfree(&found); }
        glob_t found{};
    } matches;
    const int status = ::glob(pattern.c_str(), GLOB_NOSORT | GLOB_ERR, nullptr, &matches.found);
    if (status != 0 && status != GLOB_NOMATCH) fail(ErrorCode::no_input, "{}: its folders cannot be read", pattern);
    std::vector<std::string> paths;
    for (std::size_t match = 0; match < matches.found.gl_pathc; ++match)
        if (const std::string path = matches.found.gl_pathv[match]; !is_folder(path)) paths.push_back(path);
    return paths;
}

std::vector<BatchInput> pattern_inputs(const std::string& pattern) {
    const auto fixed = fixed_part(pattern);
    std::vector<BatchInput> inputs;
    for (const auto& path : paths_that_fit(pattern)) inputs.push_back(input_at(path, path.substr(fixed.size())));
    if (inputs.empty()) fail(ErrorCode::no_input, "{} fits no file", pattern);
    std::ranges::sort(inputs, {}, &BatchInput::path);
    return inputs;
}

std::vector<BatchInput> list_inputs(const std::string& list) {
    InputFile file(list, {});
    std::vector<BatchInput> inputs;
    std::string line;
    std::size_t bytes = 0;
    const auto take = [&] {
        if (line.ends_with('\r')) line.pop_back();
        if (!line.empty()) inputs.push_back(file_input(line));
        line.clear();
    };
    for (int letter = file.get(); letter >= 0; letter = file.get()) {
        if (++bytes > longest_list_bytes)
            fail(ErrorCode::usage, "the list {} is longer than {} MiB", list, longest_list_bytes >> 20);
        if (letter == 0) fail(ErrorCode::usage, "{} is no list: it holds a byte 0", list);
        if (letter == '\n')
            take();
        else
            line += static_cast<char>(letter);
    }
    take();
    if (inputs.empty()) fail(ErrorCode::no_input, "the list {} names no file", list);
    return inputs;
}

// Resolves one -i text.
std::vector<BatchInput> inputs_of(const std::string& text) {
    if (is_list(text)) return list_inputs(text.substr(1));
    if (is_pattern(text)) return pattern_inputs(text);
    if (is_path(text) && is_folder(parse_source(text).path)) return folder_inputs(text);
    auto input = file_input(text);
    input.missing = !is_there(input.path);
    return {std::move(input)};
}

}  // namespace

bool names_many(const std::string& text) {
    return is_list(text) || (is_pattern(text) && !paths_that_fit(text).empty()) ||
           (is_path(text) && is_folder(parse_source(text).path));
}

std::vector<BatchInput> batch_inputs(const std::vector<std::string>& texts) {
    std::vector<BatchInput> all;
    std::set<std::string> known;
    for (const auto& text : texts)
        for (auto& input : inputs_of(text))
            if (known.insert(fs::path(input.path).lexically_normal()).second) all.push_back(std::move(input));
    return all;
}

}  // namespace framewire::session
