#include "framewire/media/window_model_file.hpp"
#include "framewire/media/media_testing.hpp"
#include "framewire/media/npy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <initializer_list>
#include <numeric>
#include <utility>

namespace framewire {
namespace {

using namespace testing;

// Returns a window of 3 x 4 cells with 2 columns and 3 rows of blocks, each with 4 cells of 2 bins: 48 weights.
WindowModel small_window() { return {.hog = {.bins = 2, .norm = HogNorm::l2hys}, .width_px = 24, .height_px = 32}; }

std::vector<float> ascending(std::size_t count) {
    std::vector<float> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 1.0f);
    return numbers;
}

WindowModel parse(const std::string& text, WindowModel like = small_window()) {
    return parse_window_model({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "people.txt",
                              std::move(like));
}

TEST(WindowModelFile, NpyRoundTripIsExact) {
    const TemporaryFolder folder;
    auto model = small_window();
    model.weights = ascending(48);
    model.bias = -0.25f;
    write_window_model(folder / "model.npy", model);
    const auto read = read_window_model(folder / "model.npy", small_window());
    EXPECT_EQ(read.weights, model.weights);
    EXPECT_EQ(read.bias, model.bias);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"model.npy"});

    model.weights.pop_back();
    EXPECT_EQ(error_of([&] { write_window_model(folder / "other.npy", model); }), ErrorCode::usage);
    EXPECT_EQ(folder.names(), std::vector<std::string>{"model.npy"});
}

// Returns parameter values as from the command line.
ParameterValues asked_for(std::initializer_list<std::pair<const char*, const char*>> given) {
    ParameterValues asked;
    for (const auto& [name, value] : given) asked.add(name, value);
    return asked;
}

std::string refusal_of(const Bytes& file, const ParameterValues& asked) {
    std::string message;
    EXPECT_EQ(error_of([&] { parse_window_model(file, "model.npy", {}, asked); }, &message), ErrorCode::usage);
    return message;
}

// Returns a window that differs from the default in every parameter.
WindowModel unlike_default() {
    WindowModel model{.hog = {.gradient = HogGradient::central,
                              .votes = HogVotes::cells,
                              .gamma = HogGamma::sqrt,
                              .colour = HogColour::largest,
                              .cell = 4,
                              .bins = 2,
                              .signed_gradients = true,
                              .norm = HogNorm::l2,
                              .block = 1},
                      .width_px = 12,
                      .height_px = 32,
                      .weights = ascending(48),
                      .bias = 2};
    return model;
}

TEST(WindowModelFile, StoresTheWindowDescription) {
    const TemporaryFolder folder;
    const auto model = unlike_default();
    write_window_model(folder / "model.npy", model);
    const auto read = read_window_model(folder / "model.npy", {});
    EXPECT_EQ(read.weights, model.weights);
    EXPECT_EQ(read.bias, model.bias);
    EXPECT_EQ(description(read), description(model));
    EXPECT_EQ(description(model),
              "format=2:window=12x32:gradient=central:votes=cells:gamma=sqrt:colour=largest:cell=4:bins=2:signed=1:"
              "norm=l2:block=1");
    // NumPy reads two arrays from one file in the same way.
    const auto bytes = read_file(folder / "model.npy");
    const auto [weights, behind] = parse_first_npy(bytes, "model.npy");
    EXPECT_EQ(weights.shape, std::vector<std::int64_t>{49});
    EXPECT_EQ(weights.values.back(), 2);
    EXPECT_EQ(parse_npy_text(behind, "model.npy"), description(model));
}

TEST(WindowModelFile, RejectsAModelOfADifferentWindow) {
    const TemporaryFolder folder;
    write_window_model(folder / "model.npy", unlike_default());
    const auto file = read_file(folder / "model.npy");
    const auto same = asked_for({{"window", "12x32"}, {"gradient", "central"}, {"cell", "4"}, {"signed", "1"}});
    EXPECT_EQ(read_window_model(folder / "model.npy", {}, same).weights.size(), 48u);
    EXPECT_EQ(refusal_of(file, asked_for({{"cell", "8"}})),
              "cell 8 was requested, but model.npy was trained with cell 4");
    EXPECT_EQ(refusal_of(file, asked_for({{"gradient", "sobel"}})),
              "gradient sobel was requested, but model.npy was trained with gradient central");
    EXPECT_EQ(refusal_of(file, asked_for({{"window", "12x36"}})),
              "window 12x36 was requested, but model.npy was trained with window 12x32");
    EXPECT_NE(refusal_of(file, asked_for({{"norm", "l2hys"}})).find("norm l2"), std::string::npos);
}

// Files without a description, which older versions wrote, have the requested window.
TEST(WindowModelFile, UsesTheRequestedWindowWithoutADescription) {
    const TemporaryFolder folder;
    NpyFile file(folder / "old.npy", {49}, false);
    file.write(ascending(49).data(), 49);
    file.finish();
    auto like = unlike_default();
    like.weights.clear();
    const auto read = read_window_model(folder / "old.npy", like, asked_for({{"cell", "4"}}));
    EXPECT_EQ(description(read), description(like));
    EXPECT_EQ(read.weights, ascending(48));
}

// Descriptions of version 1 have the meaning that they had when they were written, and later versions are refused.
TEST(WindowModelFile, ReadsOlderDescriptionsAndRejectsNewerOnes) {
    const auto old =
        described_window("window=64x128:gradient=central:cell=8:bins=9:signed=0:norm=l2hys:block=2", "old");
    EXPECT_EQ(old.hog.votes, HogVotes::block);
    EXPECT_EQ(old.hog.gamma, HogGamma::report);
    EXPECT_EQ(old.hog.colour, HogColour::gray);
    const auto refused = [](const char* text) {
        std::string message;
        EXPECT_EQ(error_of([&] { described_window(text, "model.npy"); }, &message), ErrorCode::usage);
        return message;
    };
    EXPECT_NE(refused("format=3:window=64x128").find("format"), std::string::npos);
    EXPECT_NE(refused("format=2:votes=some").find("votes"), std::string::npos);
    EXPECT_NE(refused("format=2:colour=largest").find("central"), std::string::npos);
}

// Returns a file with `numbers` float32 weights and `behind` after them.
std::string npy_with(std::size_t numbers, const std::string& behind) {
    const auto values = ascending(numbers);
    return npy_header("<f4", {static_cast<std::int64_t>(numbers)}) +
           std::string(reinterpret_cast<const char*>(values.data()), numbers * sizeof(float)) + behind;
}
std::string npy_text(const std::string& text) { return npy_header(fmt::format("|S{}", text.size()), {}) + text; }

TEST(WindowModelFile, ReadsTextWithComments) {
    const auto numbers = ascending(48);
    const auto with_bias = fmt::format("# weights, 1 to 48\n{}, # behind numbers too\r\n\n,{}\t+.5",
                                       fmt::join(numbers.begin(), numbers.begin() + 24, " "),
                                       fmt::join(numbers.begin() + 24, numbers.end(), ","));
    EXPECT_EQ(parse(with_bias).weights, numbers);
    EXPECT_EQ(parse(with_bias).bias, 0.5f);
    const auto without = parse(fmt::format("{:.3e}", fmt::join(numbers, "\n")));
    EXPECT_EQ(without.weights, numbers);
    EXPECT_EQ(without.bias, 0);
}

// Returns the text that cv::HOGDescriptor::save() writes.
std::string opencv_hog(const std::vector<float>& numbers, const std::string& block_stride = "[ 8, 8 ]",
                       const std::string& more = "") {
    return fmt::format(
        "%YAML:1.0\n---\nhog: !!opencv-object-detector-hog\n   winSize: [ 24, 32 ]\n   blockSize: [ 16, 16 ]\n"
        "   blockStride: {}\n   cellSize: [ 8, 8 ]\n   nbins: 2\n   derivAperture: 1\n   winSigma: 4.\n"
        "   histogramNormType: 0\n   L2HysThreshold: 2.0000000000000001e-01\n   gammaCorrection: 1\n   nlevels: 64\n"
        "   signedGradient: 1\n{}   SVMDetector: [ {} ]\n",
        block_stride, more, fmt::join(numbers, ",\n       "));
}

// Returns the same text with one value replaced.
std::string opencv_hog_with(const std::string& key, const std::string& value) {
    auto text = opencv_hog(ascending(48));
    const auto at = text.find(key + ":") + key.size() + 1;
    return text.replace(at, text.find('\n', at) - at, " " + value);
}

// Another Gaussian weighting of a block's pixels would give another descriptor; a negative winSigma is the default.
TEST(WindowModelFile, AcceptsTheDefaultWinSigmaFromOpenCv) {
    for (const auto* sigma : {"-1", "-1.", "4", "4.0000000001"})
        EXPECT_EQ(parse(opencv_hog_with("winSigma", sigma), WindowModel{}).weights.size(), 48u) << sigma;
}

TEST(WindowModelFile, ReadsOpenCvHogDescriptors) {
    auto numbers = ascending(48);
    numbers.push_back(-7);
    const auto model = parse(opencv_hog(numbers), WindowModel{});
    EXPECT_EQ(model.width_px, 24);
    EXPECT_EQ(model.height_px, 32);
    EXPECT_EQ(model.hog.gradient, HogGradient::central);
    EXPECT_EQ(model.hog.cell, 8);
    EXPECT_EQ(model.hog.bins, 2);
    EXPECT_EQ(model.hog.block, 2);
    EXPECT_TRUE(model.hog.signed_gradients);
    EXPECT_EQ(model.hog.norm, HogNorm::opencv);
    EXPECT_EQ(model.hog.votes, HogVotes::opencv);
    EXPECT_EQ(model.hog.gamma, HogGamma::sqrt);
    EXPECT_EQ(model.hog.colour, HogColour::largest);
    EXPECT_EQ(model.bias, -7);
    // OpenCV's order, by hand: a block is 8 numbers, its cells top left, bottom left, top right, bottom right; the
    // blocks go down the left column (starting with 1, 9, 17), then down the right one (25, 33, 41).
    const auto block = [](float first) {
        return std::vector<float>{first, first + 1, first + 4, first + 5, first + 2, first + 3, first + 6, first + 7};
    };
    std::vector<float> ours;
    for (const float first : {1.f, 25.f, 9.f, 33.f, 17.f, 41.f}) {
        const auto values = block(first);
        ours.insert(ours.end(), values.begin(), values.end());
    }
    EXPECT_EQ(model.weights, ours);
}

// Returns the text that cv::ml::SVM::save() writes.
std::string opencv_svm(const std::string& type, const std::string& labels, const std::string& vectors,
                       const std::string& function, const std::string& kernel = "LINEAR") {
    return fmt::format(
        "%YAML:1.0\n---\nopencv_ml_svm:\n   format: 3\n   svmType: {}\n   kernel:\n      type: {}\n   C: 1.\n"
        "   term_criteria: {{ epsilon:1.1920928955078125e-07, iterations:1000 }}\n   var_count: 48\n{}"
        "   sv_total: 1\n   support_vectors:\n{}   uncompressed_sv_total: 2\n   uncompressed_support_vectors:\n"
        "      - [ 1., 2. ]\n      - [ -1.,\n          1. ]\n   decision_functions:\n      -\n         sv_count: 1\n{}",
        type, kernel,
        labels.empty() ? ""
                       : fmt::format("   class_count: 2\n   class_labels: !!opencv-matrix\n      rows: 2\n"
                                     "      cols: 1\n      dt: i\n      data: {}\n",
                                     labels),
        vectors, function);
}

const std::string one_vector = fmt::format("      - [ {} ]\n", fmt::join(ascending(48), ",\n          "));
const std::string function = "         rho: 3.\n         alpha: [ 2. ]\n         index: [ 0 ]\n";

std::vector<float> times(float factor) {
    auto numbers = ascending(48);
    for (float& number : numbers) number *= factor;
    return numbers;
}

// The decision function, sum(alpha x) - rho = 2 x (1 to 48) - 3, is positive for the first label.
TEST(WindowModelFile, OpenCvSvmScoresArePositiveForTheLargerLabel) {
    const auto lower_first = parse(opencv_svm("C_SVC", "[ -1, 1 ]", one_vector, function));
    EXPECT_EQ(lower_first.weights, times(-2));
    EXPECT_EQ(lower_first.bias, 3);
    const auto upper_first = parse(opencv_svm("NU_SVC", "[ 1, 0 ]", one_vector, function));
    EXPECT_EQ(upper_first.weights, times(2));
    EXPECT_EQ(upper_first.bias, -3);
    EXPECT_EQ(lower_first.width_px, 24);
}

TEST(WindowModelFile, ReadsOpenCvRegressionModels) {
    const auto model = parse(opencv_svm("EPS_SVR", "", one_vector, "         rho: 3.\n         alpha: [ 2. ]\n"));
    EXPECT_EQ(model.weights, times(2));
    EXPECT_EQ(model.bias, -3);
}

TEST(WindowModelFile, SumsWeightedSupportVectors) {
    const auto ones = fmt::format("      - [ {} ]\n", fmt::join(std::vector<float>(48, 1), ", "));
    const auto model = parse(opencv_svm("EPS_SVR", "", ones + one_vector,
                                        "         rho: 0.\n         alpha: [ 2., -1. ]\n         index: [ 1, 0 ]\n"));
    auto expected = times(2);
    for (float& number : expected) number -= 1;
    EXPECT_EQ(model.weights, expected);
}

TEST(WindowModelFile, RejectsAMissingFile) {
    EXPECT_EQ(error_of([] { read_window_model("/no/such/model.npy", {}); }), ErrorCode::no_input);
}

struct Refused {
    const char* name;
    std::string file;
    ErrorCode code;
    const char* says;
};

class WindowModelRefusal : public ::testing::TestWithParam<Refused> {};

TEST_P(WindowModelRefusal, GivesTheReason) {
    std::string message;
    EXPECT_EQ(error_of([&] { parse(GetParam().file); }, &message), GetParam().code);
    EXPECT_NE(message.find("people.txt"), std::string::npos) << message;
    EXPECT_NE(message.find(GetParam().says), std::string::npos) << message;
}

std::string text_of(std::size_t count) { return fmt::format("{}", fmt::join(ascending(count), " ")); }

INSTANTIATE_TEST_SUITE_P(
    All, WindowModelRefusal,
    ::testing::Values(
        Refused{"Empty", "", ErrorCode::no_input, "no numbers"},
        Refused{"OnlyComments", "# 1 2 3\n", ErrorCode::no_input, "no numbers"},
        Refused{"Words", "1 2\n3 four", ErrorCode::no_input, "line 2"},
        Refused{"SignTwice", "+-1", ErrorCode::no_input, "line 1"},
        Refused{"TooFew", text_of(47), ErrorCode::usage, "47 numbers"},
        Refused{"TooMany", text_of(50), ErrorCode::usage, "3 x 2 x 8 = 48"},
        Refused{"NotFinite", text_of(47) + " nan", ErrorCode::usage, "finite"},
        Refused{"BeyondFloat", text_of(47) + " 1e300", ErrorCode::usage, "finite"},
        Refused{"BrokenNpy", "\x93NUMPY\x01", ErrorCode::no_input, "header"},
        Refused{"BytesBehindNpy", npy_with(48, "behind"), ErrorCode::no_input, "6 unknown bytes after"},
        Refused{"LongBehindNpy", npy_with(48, npy_text(std::string(5000, ' '))), ErrorCode::no_input,
                "unknown bytes after"},
        Refused{"NumbersBehindNpy", npy_with(48, npy_with(4, "")), ErrorCode::no_input, "'<f4' with 1 dimensions"},
        Refused{"TextCut", npy_with(48, npy_text("window=24x32").substr(0, 200)), ErrorCode::no_input, "12"},
        Refused{"TextWithoutLength", npy_with(48, npy_header("|S", {})), ErrorCode::no_input, "'|S'"},
        Refused{"TextsBehindNpy", npy_with(48, npy_header("|S4", {1}) + "bins"), ErrorCode::no_input, "1 dimensions"},
        Refused{"UnknownBehindNpy", npy_with(48, npy_text("window=24x32:colour=1")), ErrorCode::usage, "colour"},
        Refused{"NoWindow", npy_with(48, npy_text("window=0x32")), ErrorCode::usage, "window"},
        Refused{"NoCells", npy_with(48, npy_text("window=24x30")), ErrorCode::usage, "a multiple of the cell size"},
        Refused{"HugeWindow", npy_with(48, npy_text("window=16384x16384:bins=36:norm=l2:block=8")), ErrorCode::usage,
                "48 numbers"},
        Refused{"OtherWeights", npy_with(48, npy_text("window=32x32:bins=2:norm=l2")), ErrorCode::usage,
                "3 x 3 x 8 = 72"},
        Refused{"NpyOfNothing", npy_with(0, ""), ErrorCode::no_input, "no numbers"},
        Refused{"BrokenYaml", "%YAML:1.0\n---\nhog: [ 1, 2", ErrorCode::no_input, "line 3"},
        Refused{"DeepYaml", "%YAML:1.0\n---\n" + std::string(100000, '['), ErrorCode::no_input, "YAML"},
        Refused{"LongYaml", "%YAML:1.0\n---\n" + std::string(std::size_t{3} << 20, ' '), ErrorCode::no_input, "bytes"},
        Refused{"NoObject", "%YAML:1.0\n---\n- 1\n", ErrorCode::no_input, "OpenCV object"},
        Refused{"OtherObject", "%YAML:1.0\n---\na:\n   b: 1\n", ErrorCode::no_input, "neither"},
        Refused{"HogWithoutWeights",
                "%YAML:1.0\n---\nhog:\n   winSize: [ 24, 32 ]\n   blockSize: [ 16, 16 ]\n"
                "   blockStride: [ 8, 8 ]\n   cellSize: [ 8, 8 ]\n   nbins: 2\n",
                ErrorCode::usage, "SVMDetector"},
        Refused{"HogStride", opencv_hog(ascending(48), "[ 16, 16 ]"), ErrorCode::usage, "blockStride"},
        Refused{"HogOblong", opencv_hog(ascending(48), "[ 8, 16 ]"), ErrorCode::usage, "squares"},
        Refused{"HogFraction", opencv_hog(ascending(48), "[ 8.5, 8.5 ]"), ErrorCode::no_input, "blockStride"},
        Refused{"HogBins", opencv_hog_with("nbins", "2.5"), ErrorCode::no_input, "nbins"},
        Refused{"HogManyBins", opencv_hog_with("nbins", "37"), ErrorCode::usage, "allowed: 2 to 36"},
        Refused{"HogSigma", opencv_hog_with("winSigma", "8."), ErrorCode::usage, "winSigma is 8; only 4"},
        Refused{"HogSigmaIsNone", opencv_hog_with("winSigma", ".nan"), ErrorCode::no_input, "winSigma"},
        Refused{"HogNorm", opencv_hog_with("L2HysThreshold", "0.3"), ErrorCode::usage, "0.3"},
        Refused{"HogCount", opencv_hog(ascending(47)), ErrorCode::usage, "47 numbers"},
        Refused{"HogWord", opencv_hog(ascending(48), "[ 8, x ]"), ErrorCode::no_input, "blockStride"},
        Refused{"SvmKernel", opencv_svm("C_SVC", "[ -1, 1 ]", one_vector, function, "RBF"), ErrorCode::usage, "RBF"},
        Refused{"SvmType", opencv_svm("ONE_CLASS", "", one_vector, function), ErrorCode::usage, "ONE_CLASS"},
        Refused{"SvmClasses", opencv_svm("C_SVC", "[ 1, 2, 3 ]", one_vector, function), ErrorCode::usage, "3 classes"},
        Refused{"SvmNoLabels", opencv_svm("C_SVC", "", one_vector, function), ErrorCode::no_input, "class_labels"},
        Refused{
            "SvmIndex",
            opencv_svm("EPS_SVR", "", one_vector, "         rho: 3.\n         alpha: [ 2. ]\n         index: [ 1 ]\n"),
            ErrorCode::no_input, "index"},
        Refused{"SvmAlpha", opencv_svm("EPS_SVR", "", one_vector, "         rho: 3.\n         alpha: [ 2., 1. ]\n"),
                ErrorCode::no_input, "support_vectors"},
        Refused{"SvmUnequalVectors",
                opencv_svm("EPS_SVR", "", one_vector + "      - [ 1. ]\n",
                           "         rho: 3.\n         alpha: [ 2., 1. ]\n"),
                ErrorCode::no_input, "support_vectors"},
        Refused{"SvmLength", opencv_svm("EPS_SVR", "", "      - [ 1., 2. ]\n", function), ErrorCode::usage,
                "3 numbers"},
        Refused{"SvmNoRho", opencv_svm("EPS_SVR", "", one_vector, "         alpha: [ 2. ]\n"), ErrorCode::no_input,
                "rho"}),
    [](const auto& refused) { return refused.param.name; });

// A few lines with aliases would expand to 10^9 values.
TEST(WindowModelFile, RejectsYamlAliases) {
    std::string yaml =
        "%YAML:1.0\n---\nopencv_ml_svm:\n   svmType: EPS_SVR\n   kernel:\n      type: LINEAR\n   row: &row [ 1";
    for (int number = 0; number < 999; ++number) yaml += ", 1";
    yaml += " ]\n   support_vectors:\n";
    for (int number = 0; number < 1'000'000 / 10; ++number) yaml += "      - *row\n";
    yaml += "   decision_functions:\n      -\n         rho: 0.\n         alpha: [ 1. ]\n";
    std::string message;
    EXPECT_EQ(error_of([&] { parse(yaml); }, &message), ErrorCode::no_input);
    EXPECT_NE(message.find("line 9 has an alias"), std::string::npos) << message;
    // An asterisk in a name is not an alias.
    std::vector<float> numbers = ascending(48);
    EXPECT_EQ(parse(opencv_hog(numbers, "[ 8, 8 ]", "   note: \"*row\"\n"), WindowModel{}).weights.size(), 48U);
}

}  // namespace
}  // namespace framewire
