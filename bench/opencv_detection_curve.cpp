// The detection curve of OpenCV's default people detector on the windows that `framewire hog --train POSITIVES
// NEGATIVES --folds N --curve FILE.csv` scores. Method `opencv`: its own descriptors of images that it scales itself,
// in colour. Method `framewire`: its weights on our descriptors.

#include "framewire/core/error.hpp"
#include "framewire/hog/training.hpp"
#include "framewire/media/image_sequence.hpp"
#include "framewire/media/media.hpp"
#include "framewire/media/output_file.hpp"
#include "framewire/media/window_model_file.hpp"

#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace framewire;

const double scale_step = TrainingParameters{}.scale_step;

HostImage read_image(const std::string& path) {
    const auto source = open_source(path);
    HostImage image(source->info().shape);
    FrameTime time;
    if (!source->read(image.view(), time)) fail(ErrorCode::source_lost, "{} has no image", path);
    return image;
}

cv::Mat image_of(const std::string& path) {
    auto image = read_image(path);
    const auto& shape = image.shape();
    return cv::Mat(shape.height, shape.width, CV_8UC(shape.channels), image.view().data()).clone();
}

// Returns the scores of all windows, one per cell.
std::vector<double> scores_of(const cv::HOGDescriptor& hog, const cv::Mat& image) {
    std::vector<cv::Point> places;
    std::vector<double> scores;
    hog.detect(image, places, scores, -1e9, hog.cellSize, {0, 0});
    return scores;
}

double middle_score(const cv::HOGDescriptor& hog, const cv::Mat& image) {
    const cv::Point corner((image.cols - hog.winSize.width) / 2, (image.rows - hog.winSize.height) / 2);
    return scores_of(hog, image(cv::Rect(corner, hog.winSize)).clone()).at(0);
}

// Scores the centre of each positive image, and all windows of all scales of each negative one, or its centre if it has
// only one window.
ImageScores opencv_scores(const cv::HOGDescriptor& hog, const std::string& positives, const std::string& negatives) {
    ImageScores all;
    for (const auto& path : images_in(positives))
        all.positives.push_back(static_cast<float>(middle_score(hog, image_of(path))));
    for (const auto& path : images_in(negatives)) {
        const auto image = image_of(path);
        std::vector<double> scores;
        for (double scale = 1; image.cols / scale >= hog.winSize.width && image.rows / scale >= hog.winSize.height;
             scale *= scale_step) {
            cv::Mat level;
            const cv::Size size(static_cast<int>(image.cols / scale), static_cast<int>(image.rows / scale));
            cv::resize(image, level, size, 0, 0, cv::INTER_LINEAR_EXACT);
            const auto of_level = scores_of(hog, level);
            scores.insert(scores.end(), of_level.begin(), of_level.end());
        }
        if (scores.size() == 1) scores = {middle_score(hog, image)};
        all.negatives.insert(all.negatives.end(), scores.begin(), scores.end());
    }
    return all;
}

// Scores framewire's descriptors with the same weights, as read from OpenCV's file.
ImageScores framewire_scores(const cv::HOGDescriptor& hog, const std::string& positives, const std::string& negatives) {
    cv::FileStorage file(".yml", cv::FileStorage::WRITE | cv::FileStorage::MEMORY);
    hog.write(file, "hog");
    const auto text = file.releaseAndGetString();
    const auto model =
        parse_window_model({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}, "OpenCV's detector", {});
    Executor executor(BackendChoice::cpu);
    ImageScores scores;
    score_images(model, {images_in(positives), read_image}, {images_in(negatives), read_image}, scale_step, executor,
                 {}, scores);
    return scores;
}

}  // namespace

int main(int count, char** arguments) {
    const std::string by = count == 5 ? arguments[1] : "";
    if (by != "opencv" && by != "framewire") {
        std::fputs("opencv-detection-curve opencv|framewire POSITIVES NEGATIVES FILE.csv\n", stderr);
        return 2;
    }
    try {
        cv::HOGDescriptor hog;
        hog.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector());
        auto [positives, negatives] =
            (by == "opencv" ? opencv_scores : framewire_scores)(hog, arguments[2], arguments[3]);
        const auto text = to_csv(detection_curve(std::move(positives), std::move(negatives)));
        OutputFile file(arguments[4]);
        file.write(text.data(), text.size());
        file.finish();
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
