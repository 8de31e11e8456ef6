#include "framewire/media/window_model_file.hpp"
#include "framewire/core/error.hpp"
#include "framewire/core/parameters.hpp"
#include "framewire/media/files.hpp"
#include "framewire/media/npy.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

// Reads linear models that OpenCV saved as YAML and converts them to framewire's weight order. Files are treated as
// hostile: their YAML is limited in size, and aliases are rejected.

namespace framewire {
namespace {

// Limit on the text for the YAML parser, which needs a hundred times as much memory; enough for 100,000 weights.
constexpr std::size_t most_yaml_bytes = std::size_t{2} << 20;

// Converts OpenCV's text to standard YAML: blanks the first line, which is not valid YAML, and drops the original
// support vectors of a linear SVM. OpenCV has merged these into one vector, but they make up most of the file.
std::string as_yaml(std::string_view text, const std::string& name) {
    constexpr std::string_view left_out = "uncompressed_support_vectors:";
    std::string yaml;
    bool first = true, skipping = false;
    std::size_t skipped_indent = 0;
    while (!text.empty()) {
        const auto line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
        text.remove_prefix(line.size());
        const auto indent = line.find_first_not_of(' ');
        if (skipping && indent != std::string_view::npos && indent > skipped_indent) continue;
        skipping = indent != std::string_view::npos && line.substr(indent).starts_with(left_out);
        skipped_indent = indent;
        if (!skipping) yaml += first ? "\n" : line;
        first = false;
        if (yaml.size() > most_yaml_bytes)
            fail(ErrorCode::no_input, "{} is not a model: it has more than {} bytes of YAML", name, most_yaml_bytes);
    }
    return yaml;
}

// Rejects aliases, with which a few lines can expand to millions of values. OpenCV never writes them.
class AliasRefusal final : public YAML::EventHandler {
public:
    explicit AliasRefusal(const std::string& name) : name_(name) {}

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
        fail(ErrorCode::no_input, "{} is not a model: line {} has an alias (*name), which is not supported", name_,
             mark.line + 1);
    }
    void OnDocumentStart(const YAML::Mark&) override {}
    void OnDocumentEnd() override {}
    void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
    void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t, const std::string&) override {}
    void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnSequenceEnd() override {}
    void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t, YAML::EmitterStyle::value) override {}
    void OnMapEnd() override {}

private:
    const std::string& name_;
};

// Runs the parser with AliasRefusal if the text contains an asterisk at all.
void refuse_aliases(const std::string& yaml, const std::string& name) {
    if (yaml.find('*') == std::string::npos) return;
    std::istringstream stream(yaml);
    YAML::Parser parser(stream);
    AliasRefusal refusal(name);
    parser.HandleNextDocument(refusal);
}

// Wraps one of OpenCV's serialized objects; accessors throw Error{no_input} if a key is missing or malformed.
class Object {
public:
    Object(const YAML::Node& node, const std::string& name) : node_(node), name_(name) {}

    bool has(const char* key) const { return node_[key].IsDefined(); }
    Object at(const char* key) const { return {existing(key), name_}; }
    std::string text(const char* key) const { return existing(key).Scalar(); }
    double number(const char* key) const { return number_of(existing(key), key); }
    std::vector<double> numbers(const char* key) const { return numbers_of(existing(key), key); }
    std::vector<std::vector<double>> rows(const char* key) const {
        std::vector<std::vector<double>> rows;
        for (const auto& row : existing(key)) rows.push_back(numbers_of(row, key));
        return rows;
    }
    std::vector<Object> objects(const char* key) const {
        std::vector<Object> objects;
        for (const auto& node : existing(key)) objects.emplace_back(node, name_);
        return objects;
    }

    template <class... Values>
    [[noreturn]] void refuse(fmt::format_string<Values...> text, Values&&... values) const {
        fail(ErrorCode::usage, "{}: {}", name_, fmt::format(text, std::forward<Values>(values)...));
    }
    [[noreturn]] void broken(const char* key) const {
        fail(ErrorCode::no_input, "{} is not an OpenCV model: {} is missing or invalid", name_, key);
    }

private:
    YAML::Node existing(const char* key) const {
        if (!has(key)) broken(key);
        return node_[key];
    }
    double number_of(const YAML::Node& node, const char* key) const {
        const auto number = parse_number(node.Scalar());
        if (!number) broken(key);
        return *number;
    }
    std::vector<double> numbers_of(const YAML::Node& node, const char* key) const {
        std::vector<double> numbers;
        for (const auto& one : node) numbers.push_back(number_of(one, key));
        return numbers;
    }

    const YAML::Node node_;  // const, so that operator[] does not insert the key
    const std::string& name_;
};

// Reads a size, width first.
std::pair<int, int> sides(const Object& hog, const char* key) {
    const auto sides = hog.numbers(key);
    const auto allowed = [](double side) { return side >= 1 && side <= max_side_px && side == std::floor(side); };
    if (sides.size() != 2 || !std::ranges::all_of(sides, allowed)) hog.broken(key);
    return {static_cast<int>(sides[0]), static_cast<int>(sides[1])};
}

// Reads a size that must be square.
int square_side(const Object& hog, const char* key) {
    const auto [width, height] = sides(hog, key);
    if (width != height) hog.refuse("{} is {} x {}; only squares are supported", key, width, height);
    return width;
}

// Rejects a model whose parameter differs from the only value that framewire supports.
void require(const Object& hog, const char* key, double value, std::string_view meaning) {
    if (!hog.has(key)) return;  // OpenCV's default, which equals framewire's
    if (!(std::abs(hog.number(key) - value) <= 1e-6))
        hog.refuse("{} is {}; only {} is supported", key, hog.number(key), meaning);
}

// Reads a model that cv::HOGDescriptor::save() wrote.
WindowModel hog_model(const Object& hog, const std::string& name, const ParameterValues& asked) {
    WindowModel model;
    std::tie(model.width_px, model.height_px) = sides(hog, "winSize");
    // Accept only the variant of the descriptor that framewire computes.
    const int cell = square_side(hog, "cellSize"), block = square_side(hog, "blockSize");
    const double bins = hog.number("nbins");
    require(hog, "histogramNormType", 0, "0 (L2Hys)");
    require(hog, "L2HysThreshold", 0.2, "0.2");
    // A negative winSigma means a quarter of the block side, which is the only supported value.
    if (hog.has("winSigma") && !(hog.number("winSigma") < 0))
        require(hog, "winSigma", block / 4.0, fmt::format("{} (a quarter of blockSize)", block / 4.0));
    if (square_side(hog, "blockStride") != cell)
        hog.refuse("blockStride differs from cellSize; only blocks one cell apart are supported");
    if (block % cell != 0) hog.refuse("blockSize is {}, which is not a multiple of the cell size {}", block, cell);
    if (bins != std::floor(bins)) hog.broken("nbins");
    if (!(bins >= 2 && bins <= 36)) hog.refuse("nbins is {}; allowed: 2 to 36", bins);
    model.hog = hog_preset(HogPreset::opencv);
    model.hog.gamma =
        !hog.has("gammaCorrection") || hog.number("gammaCorrection") != 0 ? HogGamma::sqrt : HogGamma::none;
    model.hog.cell = cell;
    model.hog.bins = static_cast<int>(bins);
    model.hog.signed_gradients = hog.has("signedGradient") && hog.number("signedGradient") != 0;
    model.hog.block = block / cell;
    require_asked(model, asked, name);
    if (!hog.has("SVMDetector")) hog.refuse("it has no SVMDetector, the weights of a trained model");
    const auto numbers = hog.numbers("SVMDetector");
    model = with_weights(std::move(model), {numbers.begin(), numbers.end()}, name);

    // HOGDescriptor::compute() iterates over columns of blocks, and within a block over columns of cells: reorder to
    // rows.
    const auto shape = window_shape(model);
    const auto theirs = model.weights;
    auto weight = model.weights.begin();
    for (int y = 0; y < shape.rows; ++y)
        for (int x = 0; x < shape.columns; ++x)
            for (int cell_y = 0; cell_y < model.hog.block; ++cell_y)
                for (int cell_x = 0; cell_x < model.hog.block; ++cell_x) {
                    const std::ptrdiff_t cells = std::ptrdiff_t{model.hog.block} * model.hog.block;
                    const auto from = theirs.begin() + ((std::ptrdiff_t{x} * shape.rows + y) * cells +
                                                        std::ptrdiff_t{cell_x} * model.hog.block + cell_y) *
                                                           model.hog.bins;
                    weight = std::copy(from, from + model.hog.bins, weight);
                }
    return model;
}

// Reads a model that cv::ml::SVM::save() wrote. The decision function is sum(alpha K(support vector, x)) - rho. For
// classification it is positive for the first of class_labels, which ascend (SVMImpl::predict counts a vote for that
// label); for regression it is the value itself.
WindowModel svm_model(const Object& svm, const std::string& name, WindowModel like) {
    const auto type = svm.text("svmType");
    const bool classes = type == "C_SVC" || type == "NU_SVC";
    if (!classes && type != "EPS_SVR" && type != "NU_SVR")
        svm.refuse("it is an SVM of type {}; supported: C_SVC, NU_SVC, EPS_SVR and NU_SVR", type);
    const auto kernel = svm.at("kernel").text("type");
    if (kernel != "LINEAR") svm.refuse("its kernel is {}; only LINEAR is supported", kernel);
    double sign = 1;
    if (classes) {
        const auto labels = svm.at("class_labels").numbers("data");
        if (labels.size() != 2) svm.refuse("it distinguishes {} classes; a window model needs two", labels.size());
        sign = labels[0] > labels[1] ? 1 : -1;
    }
    const auto functions = svm.objects("decision_functions");
    const auto vectors = svm.rows("support_vectors");
    if (functions.size() != 1) svm.broken("decision_functions");
    const auto& function = functions.front();
    const auto alpha = function.numbers("alpha");
    if (vectors.empty() || alpha.empty() || alpha.size() > vectors.size()) svm.broken("support_vectors");
    std::vector<double> index(alpha.size());
    if (function.has("index"))
        index = function.numbers("index");
    else
        for (std::size_t i = 0; i < index.size(); ++i) index[i] = static_cast<double>(i);
    if (index.size() != alpha.size()) svm.broken("index");

    // The weights are the sum of the support vectors, each with its coefficient.
    std::vector<double> sum(vectors.front().size());
    for (std::size_t i = 0; i < alpha.size(); ++i) {
        if (!(index[i] >= 0 && index[i] < static_cast<double>(vectors.size()))) svm.broken("index");
        const auto& vector = vectors[static_cast<std::size_t>(index[i])];
        if (vector.size() != sum.size()) svm.broken("support_vectors");
        for (std::size_t value = 0; value < sum.size(); ++value) sum[value] += sign * alpha[i] * vector[value];
    }
    sum.push_back(-sign * function.number("rho"));
    // With the bias appended, a vector that is one value too short would have the right length: reject it here.
    if (static_cast<std::int64_t>(sum.size()) == window_shape(like).count())
        svm.refuse("its vectors have {} values, one too few", sum.size() - 1);
    return with_weights(std::move(like), {sum.begin(), sum.end()}, name);
}

}  // namespace

WindowModel parse_opencv_model(std::string_view text, const std::string& name, WindowModel like,
                               const ParameterValues& asked) {
    try {
        const auto yaml = as_yaml(text, name);
        refuse_aliases(yaml, name);
        const YAML::Node root = YAML::Load(yaml);
        if (!root.IsMap() || root.size() == 0 || !root.begin()->second.IsMap())
            fail(ErrorCode::no_input, "{} is not a model: its YAML is not an OpenCV object", name);
        const Object object(root.begin()->second, name);
        if (object.has("winSize")) return hog_model(object, name, asked);
        if (object.has("svmType")) return svm_model(object, name, std::move(like));
        fail(ErrorCode::no_input, "{} is neither an OpenCV SVM nor an OpenCV HOGDescriptor", name);
    } catch (const YAML::Exception& error) {
        fail(ErrorCode::no_input, "{} is not valid YAML: {}", name, error.what());
    }
}

}  // namespace framewire

// Model files of linear window classifiers. The format is detected from the first bytes, so that a file can have any
// name.

namespace framewire {
namespace {

// Large enough for an SVM that OpenCV wrote with all its support vectors as text.
constexpr std::size_t most_file_bytes = std::size_t{256} << 20;
constexpr std::size_t most_text_bytes = 4096;  // limit for the description after the weights

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
            fail(ErrorCode::no_input, "{} is not a model: it is larger than {} bytes", path, most_file_bytes);
        if (file.stopped()) fail(ErrorCode::no_input, "stopped while reading {}", path);
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
                fail(ErrorCode::no_input, "{} is not a model: line {} contains something other than a number", name,
                     line);
            numbers.push_back(static_cast<float>(*number));
            text.remove_prefix(word.size());
        }
    }
    return numbers;
}

// Rejects a file without numbers: "not a model" is a clearer message than a wrong count.
void require_some(const std::vector<float>& numbers, const std::string& name) {
    if (numbers.empty()) fail(ErrorCode::no_input, "{} is not a model: it has no numbers", name);
}

// Parses weights and the optional description after them.
WindowModel parse_npy_model(std::span<const std::uint8_t> bytes, const std::string& name, WindowModel like,
                            const ParameterValues& asked) {
    auto [weights, behind] = parse_first_npy(bytes, name);
    require_some(weights.values, name);
    if (!behind.empty()) {
        if (!is_npy(behind) || behind.size() > most_text_bytes)
            fail(ErrorCode::no_input, "{} is not a model: it has {} unknown bytes after the weights", name,
                 behind.size());
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

// Parses a number. Accepts a leading '+', which std::from_chars() does not.
std::optional<double> parse_number(std::string_view word) {
    if (word.starts_with('+') && !word.starts_with("+-")) word.remove_prefix(1);
    return number_in<double>(word);
}

WindowModel with_weights(WindowModel like, std::vector<float> numbers, const std::string& name) {
    const auto shape = window_shape(like);
    const auto count = static_cast<std::int64_t>(numbers.size());
    if (count != shape.count() && count != shape.count() + 1)
        fail(ErrorCode::usage,
             "{} has {} numbers; a window of {}x{} pixels needs {} x {} x {} = {} weights, optionally followed by a "
             "bias",
             name, count, like.width_px, like.height_px, shape.rows, shape.columns, shape.values, shape.count());
    like.bias = 0;
    if (count > shape.count()) {
        like.bias = numbers.back();
        numbers.pop_back();
    }
    like.weights = std::move(numbers);
    try {
        validate(like);
    } catch (const Error& error) {
        fail(error.code(), "{}: {}", name, error.what());
    }
    return like;
}

}  // namespace framewire
