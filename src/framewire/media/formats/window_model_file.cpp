// Model files of linear window classifiers. The format is detected from the first bytes, so that a file can have any
// name.

#include "framewire/media/formats/window_model_file.hpp"

#include "framewire/core/error.hpp"
#include "framewire/media/files/input_file.hpp"
#include "framewire/media/formats/npy.hpp"
#include "framewire/media/formats/npy_reader.hpp"
#include "framewire/media/formats/opencv_model.hpp"
#include "framewire/media/formats/window_model_numbers.hpp"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace framewire {
namespace {

// Large enough for an SVM that OpenCV wrote with all its support vectors as text.
constexpr std::size_t most_file_bytes = std::size_t{256} << 20;
constexpr std::size_t most_text_bytes = 4096;  // of the description behind the weights

// Reads a file completely.
std::vector<std::uint8_t> whole_file(const std::string& path, std::stop_token stop) {
    InputFile file(path, std::move(stop));
    std::vector<std::uint8_t> bytes;
    constexpr std::size_t step_bytes = std::size_t{1} << 20;
    for (;;) {
        const auto before = bytes.size();
        bytes.resize(before + step_bytes);
        const auto got = file.read(bytes.data() + before, step_bytes);
        bytes.resize(before + got);
        if (bytes.size() > most_file_bytes)
            fail(ErrorCode::no_input, "{} is no model: it is longer than {} bytes", path, most_file_bytes);
        if (file.stopped()) fail(ErrorCode::no_input, "stopped while {} was read", path);
        if (got < step_bytes) return bytes;
    }
}

// Parses numbers separated by white space or commas.
std::vector<float> parse_text(std::string_view text, const std::string& name) {
    std::vector<float> numbers;
    int line = 1;
    while (!text.empty()) {
        const char letter = text.front();
        if (letter == '#') {
            text.remove_prefix(std::min(text.find('\n'), text.size()));
        } else if (letter == ',' || letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n') {
            line += letter == '\n';
            text.remove_prefix(1);
        } else {
            const auto word = text.substr(0, text.find_first_of("#, \t\r\n"));
            const auto number = parse_number(word);
            if (!number)
                fail(ErrorCode::no_input, "{} is no model: line {} has something that is no number", name, line);
            numbers.push_back(static_cast<float>(*number));
            text.remove_prefix(word.size());
        }
    }
    return numbers;
}

// A file without numbers is not a model at all, which is a clearer message than a wrong count.
void require_some(const std::vector<float>& numbers, const std::string& name) {
    if (numbers.empty()) fail(ErrorCode::no_input, "{} is no model: it has no numbers", name);
}

// Parses weights and the optional description behind them.
WindowModel parse_npy_model(std::span<const std::uint8_t> bytes, const std::string& name, WindowModel like,
                            const ParameterValues& asked) {
    auto [weights, behind] = parse_first_npy(bytes, name);
    require_some(weights.values, name);
    if (!behind.empty()) {
        if (!is_npy(behind) || behind.size() > most_text_bytes)
            fail(ErrorCode::no_input, "{} is no model: {} bytes come behind its weights, which do not say what for",
                 name, behind.size());
        like = described_window(parse_npy_text(behind, name), name);
        require_asked(like, asked, name);
    }
    return with_weights(std::move(like), std::move(weights.values), name);
}

}  // namespace

WindowModel parse_window_model(std::span<const std::uint8_t> bytes, const std::string& name, WindowModel like,
                               const ParameterValues& asked) {
    if (is_npy(bytes)) return parse_npy_model(bytes, name, std::move(like), asked);
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.starts_with("%YAML")) return parse_opencv_model(text, name, std::move(like), asked);
    auto numbers = parse_text(text, name);
    require_some(numbers, name);
    return with_weights(std::move(like), std::move(numbers), name);
}

WindowModel read_window_model(const std::filesystem::path& path, WindowModel like, const ParameterValues& asked,
                              std::stop_token stop) {
    return parse_window_model(whole_file(path, std::move(stop)), path, std::move(like), asked);
}

void write_window_model(const std::filesystem::path& path, const WindowModel& model, OutputFileOptions options) {
    validate(model);
    auto values = model.weights;
    values.push_back(model.bias);
    const auto text = description(model);
    OutputFile file(path, std::move(options));
    const auto write = [&](const std::string& header, const void* data, std::size_t bytes) {
        file.write(header.data(), header.size());
        file.write(data, bytes);
    };
    write(npy_header("<f4", {static_cast<std::int64_t>(values.size())}), values.data(), values.size() * sizeof(float));
    write(npy_header(fmt::format("|S{}", text.size()), {}), text.data(), text.size());
    file.finish();
}

}  // namespace framewire
