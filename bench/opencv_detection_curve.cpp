// The detection curve of OpenCV's default people detector, scored by OpenCV, on the windows that `framewire hog --train
// POSITIVES NEGATIVES --folds N --curve FILE.csv` scores: the middle of each positive image, and of each negative one
// all windows of all sizes, or the middle where it has but one. Images are scaled, in colour, by OpenCV too.

#include "framewire/core/error.hpp"
#include "framewire/hog/training/detection_curve.hpp"
#include "framewire/media/image_folder.hpp"
#include "framewire/media/media.hpp"

#include <opencv2/imgproc.hpp>
#include <opencv2/objdetect.hpp>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace framewire;

cv::Mat image_of(const std::string& path) {
    const auto source = open_source(path);
    const auto shape = source->info().shape;
    HostImage image(shape);
    FrameTime time;
    if (!source->read(image.view(), time)) fail(ErrorCode::source_lost, "{} has no image", path);
    return cv::Mat(shape.height, shape.width, CV_8UC(shape.channels), image.view().data()).clone();
}

// The scores of all windows, one a cell.
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

int run(const std::string& positives, const std::string& negatives) {
    cv::HOGDescriptor hog;
    hog.setSVMDetector(cv::HOGDescriptor::getDefaultPeopleDetector());
    std::vector<float> positive_scores, negative_scores;
    for (const auto& path : images_in(positives))
        positive_scores.push_back(static_cast<float>(middle_score(hog, image_of(path))));
    const double step = TrainingParameters{}.scale_step;
    for (const auto& path : images_in(negatives)) {
        const auto image = image_of(path);
        std::vector<double> scores;
        for (double scale = 1; image.cols / scale >= hog.winSize.width && image.rows / scale >= hog.winSize.height;
             scale *= step) {
            cv::Mat level;
            const cv::Size size(static_cast<int>(image.cols / scale), static_cast<int>(image.rows / scale));
            cv::resize(image, level, size, 0, 0, cv::INTER_LINEAR_EXACT);
            const auto of_level = scores_of(hog, level);
            scores.insert(scores.end(), of_level.begin(), of_level.end());
        }
        if (scores.size() == 1) scores = {middle_score(hog, image)};
        negative_scores.insert(negative_scores.end(), scores.begin(), scores.end());
    }
    const auto text = to_csv(detection_curve(std::move(positive_scores), std::move(negative_scores)));
    std::fputs(text.c_str(), stdout);
    return 0;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) {
        std::fputs("opencv-detection-curve POSITIVES NEGATIVES > FILE.csv\n", stderr);
        return 2;
    }
    try {
        return run(arguments[1], arguments[2]);
    } catch (const framewire::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
