#include "e2e/program.hpp"

#include "framewire/core/buffer.hpp"
#include "framewire/media/image_formats.hpp"
#include "framewire/media/output_file.hpp"
#include "framewire/media/window_model_file.hpp"

#include "kit/images.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace framewire::e2e {
namespace {

using Json = nlohmann::json;

// Draws noise and, optionally, a 32-pixel square with vertical stripes whose corner is at (x, y).
void draw(const std::string& path, int width, int height, std::uint64_t salt, int x = -1, int y = -1) {
    HostImage image({1, height, width, 1});
    kit::fill(image.view(), kit::Fill::noise, salt);
    for (int row = 0; row < height; ++row)
        for (int column = 0; column < width; ++column) {
            auto& pixel = image.view().row(0, row)[column];
            pixel = static_cast<std::uint8_t>(100 + pixel / 8);
            if (x >= 0 && row >= y && row < y + 32 && column >= x && column < x + 32 && (column - x) % 12 < 6)
                pixel = static_cast<std::uint8_t>(pixel + 90);
        }
    const auto png = encode_png(image.view());
    OutputFile file(path);
    file.write(png.data(), png.size());
    file.finish();
}

class HogTrain : public testing::Test {
protected:
    HogTrain() {
        for (const auto& name : {positives, negatives}) std::filesystem::create_directory(name);
        for (int i = 0; i < 8; ++i) {
            const auto name = "/" + std::to_string(i) + ".png";
            draw(positives + name, 40, 44, static_cast<std::uint64_t>(i), 4, 6);
            draw(negatives + name, 90, 80, static_cast<std::uint64_t>(100 + i));
        }
    }

    Result train(std::vector<std::string> arguments = {}) const {
        arguments.insert(arguments.begin(),
                         {"hog", "-y", "--train", positives, negatives, "-o", model, "--window", "32x32"});
        return run_framewire(std::move(arguments));
    }

    const TemporaryFolder folder;
    const std::string positives = folder / "positives", negatives = folder / "negatives", model = folder / "model.npy";
};

TEST_F(HogTrain, TheTrainedModelFindsUnseenObjects) {
    const auto result = train({"--json", "--c", "0.1"});
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"model.npy", "negatives", "positives"}));
    const auto summary = Json::parse(result.out);
    EXPECT_EQ(summary.at("positive_images"), 8);
    EXPECT_EQ(summary.at("positives"), 16);
    EXPECT_EQ(summary.at("missed"), 0);
    EXPECT_EQ(summary.at("false_alarms"), 0);
    EXPECT_EQ(summary.at("norm"), "l2hys");
    EXPECT_EQ(summary.at("window"), (Json{32, 32}));
    EXPECT_TRUE(summary.at("converged"));
    EXPECT_GT(summary.at("margin"), 0);
    EXPECT_FALSE(summary.contains("held_out"));
    const auto read = read_window_model(model, {.hog = {.norm = HogNorm::l2hys}, .width_px = 32, .height_px = 32});
    EXPECT_EQ(read.weights.size(), 3u * 3 * 36);

    draw(folder / "scene.png", 200, 150, 1000, 96, 64);
    const auto found = run_framewire({"hog", "-i", folder / "scene.png", "--people", model, "--window", "32x32",
                                      "--group", "overlap", "--backend", "cpu"});
    ASSERT_EQ(found.code, 0) << found.err;
    const auto people = Json::parse(found.out).at("objects");
    ASSERT_FALSE(people.empty()) << found.out;
    const auto box = people.at(0).at("box");
    EXPECT_NEAR(box.at(0).get<double>() + box.at(2).get<double>() / 2, 112, 8) << found.out;
    EXPECT_NEAR(box.at(1).get<double>() + box.at(3).get<double>() / 2, 80, 8) << found.out;
}

// The model file stores the parameters with which the model was trained: detection uses them, and refuses others.
TEST_F(HogTrain, AModelFileContainsItsTrainingParameters) {
    const auto trained = train({"--gradient", "central", "--cell", "4", "--c", "0.1", "--json"});
    ASSERT_EQ(trained.code, 0) << trained.err;
    const auto summary = Json::parse(trained.out);
    EXPECT_EQ(summary.at("gradient"), "central");
    EXPECT_EQ(summary.at("missed"), 0);
    EXPECT_EQ(summary.at("false_alarms"), 0);
    EXPECT_EQ(description(read_window_model(model, {})),
              "format=2:window=32x32:gradient=central:votes=cells:gamma=sqrt:colour=largest:cell=4:bins=9:signed=0:"
              "norm=l2hys:block=2");

    draw(folder / "scene.png", 200, 150, 1000, 96, 64);
    const auto find = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), {"hog", "--backend", "cpu", "-i", folder / "scene.png", "--people", model});
        return run_framewire(std::move(arguments));
    };
    const auto found = find({"--group", "overlap"});
    ASSERT_EQ(found.code, 0) << found.err;
    const auto people = Json::parse(found.out).at("objects");
    ASSERT_FALSE(people.empty()) << found.out;
    const auto box = people.at(0).at("box");
    EXPECT_NEAR(box.at(0).get<double>() + box.at(2).get<double>() / 2, 112, 8) << found.out;
    EXPECT_NEAR(box.at(1).get<double>() + box.at(3).get<double>() / 2, 80, 8) << found.out;
    // --overlap implies --group overlap.
    EXPECT_EQ(find({"--gradient", "central", "--window", "32x32", "--cell", "4", "--overlap", "0.3"}).out, found.out);

    // Detections around the object are each other's neighbours; those in noise have none.
    const auto grouped = find({"--neighbours", "1", "--threshold", "-0.5"});
    ASSERT_EQ(grouped.code, 0) << grouped.err;
    const auto groups = Json::parse(grouped.out).at("objects");
    ASSERT_FALSE(groups.empty()) << grouped.out;
    EXPECT_NEAR(groups.at(0).at("box").at(0).get<double>() + groups.at(0).at("box").at(2).get<double>() / 2, 112, 8);

    for (const auto& [arguments, says] : std::vector<std::pair<std::vector<std::string>, std::string>>{
             {{"--gradient", "sobel"}, "gradient sobel was requested"},
             {{"--cell", "8"}, "trained with cell 4"},
             {{"--window", "32x40"}, "trained with window 32x32"},
             {{"--norm", "l2"}, "trained with norm l2hys"},
             {{"--signed"}, "trained with signed 0"},
             {{"--neighbours", "3", "--overlap", "0.4"}, "neighbours requires group neighbours"},
             {{"--neighbours", "3", "--group", "overlap"}, "neighbours requires group neighbours"},
             {{"--group", "neighbours", "--overlap", "0.5"}, "overlap requires group overlap"},
             {{"--group", "neighbour"}, "neighbours"},
             {{"--group", "neighbours", "--neighbours", "-1"}, "0 to 1000"},
         }) {
        const auto refused = find(arguments);
        EXPECT_EQ(refused.code, 2) << says << ": " << refused.err;
        EXPECT_NE(refused.err.find(says), std::string::npos) << says << ": " << refused.err;
    }
}

TEST_F(HogTrain, TheSameSeedGivesTheSameModelFile) {
    ASSERT_EQ(train({"--seed", "7"}).code, 0);
    const auto first = contents(model);
    ASSERT_EQ(train({"--seed", "7"}).code, 0);
    EXPECT_EQ(contents(model), first);
    ASSERT_EQ(train({"--seed", "8"}).code, 0);
    EXPECT_NE(contents(model), first);
}

TEST_F(HogTrain, ReportsResultsOnHeldOutImages) {
    const auto result = train({"--folds", "4", "--curve", folder / "curve.csv", "--json"});
    ASSERT_EQ(result.code, 0) << result.err;
    const auto held_out = Json::parse(result.out).at("held_out");
    EXPECT_EQ(held_out.at("folds"), 4);
    EXPECT_EQ(held_out.at("positives"), 8);
    // A 90x80 image at scales 1, 1.2, 1.44, 1.728, 2.0736 and 2.48832 has (11 - 3)(10 - 3) windows and those of 75x66,
    // 62x55, 52x46, 43x38 and 36x32.
    EXPECT_EQ(held_out.at("windows"), 8 * (8 * 7 + 6 * 5 + 4 * 3 + 3 * 2 + 2 * 1 + 1));
    EXPECT_EQ(held_out.at("detection_rate_at_false_alarms_per_window").at("0.001"), 1);
    std::istringstream curve(contents(folder / "curve.csv"));
    std::string line;
    std::getline(curve, line);
    EXPECT_EQ(line, "threshold,detections,positives,false_alarms,windows,detection_rate,false_alarms_per_window");
    int lines = 0;
    while (std::getline(curve, line)) ++lines;
    EXPECT_GE(lines, 1);
    EXPECT_LE(lines, 8);
    EXPECT_NE(contents(folder / "curve.csv").find(",8,8,"), std::string::npos) << "no threshold finds all objects";
}

TEST_F(HogTrain, SkipsNonImageFiles) {
    { std::ofstream(positives + "/notes.txt") << "not an image"; }
    const auto result = train();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.err.find("notes.txt"), std::string::npos) << result.err;
}

TEST_F(HogTrain, RejectsInvalidFolders) {
    const auto expect_refusal = [&](const Result& result, int code, const std::string& says) {
        EXPECT_EQ(result.code, code) << result.err;
        EXPECT_NE(result.err.find(says), std::string::npos) << result.err;
        EXPECT_FALSE(std::filesystem::exists(model));
    };
    const auto hog = [&](std::vector<std::string> arguments) {
        arguments.insert(arguments.begin(), "hog");
        return run_framewire(std::move(arguments));
    };
    expect_refusal(hog({"--train", positives, "/no/such/folder", "-o", model}), 66, "/no/such/folder");
    std::filesystem::create_directory(folder / "empty");
    expect_refusal(hog({"--train", folder / "empty", negatives, "-o", model}), 66, "empty");
    expect_refusal(hog({"--train", positives, negatives, "-o", model}), 2, "0.png: an image of 40x44");
    expect_refusal(hog({"--train", positives, "-o", model}), 2, "--train");
    { std::ofstream(negatives + "/broken.png") << "not an image"; }
    expect_refusal(train(), 66, "broken.png");
}

TEST_F(HogTrain, RejectsConflictingOptions) {
    struct Case {
        std::vector<std::string> arguments;
        int code;
        std::string says;
    };
    for (const auto& [arguments, code, says] : std::vector<Case>{
             {{"-i", "synth"}, 2, "-i"},
             {{"-f", "gray"}, 2, "-f"},
             {{"--frames", "3"}, 2, "--frames"},
             {{"--stats", folder / "stats.json"}, 2, "--stats"},
             {{"--people", "model.npy"}, 2, "--people"},
             {{"--steps", folder / "steps"}, 2, "--steps"},
             {{"--backend", "cuda"}, 78, "CPU"},
             {{"--folds", "1"}, 2, "folds"},
             {{"--folds", "9"}, 2, "2 to 8"},
             {{"--curve", folder / "curve.csv"}, 2, "--folds"},
             {{"--c", "0"}, 2, "above 0"},
             {{"--rounds", "21"}, 2, "0 to 20"},
             {{"--negative-windows", "-1"}, 2, "0 to 10000"},
             {{"--positive-weight", "-1"}, 2, "weight"},
             {{"--curve", "/no/such/folder/curve.csv", "--folds", "2"}, 74, "/no/such/folder"},
         }) {
        const auto result = train(arguments);
        EXPECT_EQ(result.code, code) << arguments[0] << ": " << result.err;
        EXPECT_NE(result.err.find(says), std::string::npos) << arguments[0] << ": " << result.err;
        EXPECT_EQ(folder.names(), (std::vector<std::string>{"negatives", "positives"})) << arguments[0];
    }
    const auto uneven = run_framewire({"hog", "--train", positives, negatives, "-o", model, "--window", "30x32"});
    EXPECT_EQ(uneven.code, 2) << uneven.err;
    EXPECT_NE(uneven.err.find("a multiple of the cell size"), std::string::npos) << uneven.err;
    const auto nowhere = run_framewire({"hog", "--train", positives, negatives});
    EXPECT_EQ(nowhere.code, 2) << nowhere.err;
    const auto unwritable =
        run_framewire({"hog", "--train", positives, negatives, "--window", "32x32", "-o", "/no/such/folder/model.npy"});
    EXPECT_EQ(unwritable.code, 74) << unwritable.err;
    EXPECT_EQ(unwritable.err.find("first training"), std::string::npos) << "before the work";
}

}  // namespace
}  // namespace framewire::e2e
