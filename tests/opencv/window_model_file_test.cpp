#include "framewire/media/window_model_file.hpp"

#include "framewire/hog/hog.hpp"
#include "framewire/media/media_testing.hpp"

#include "kit/images.hpp"

#include <gtest/gtest.h>
#include <opencv2/imgproc.hpp>
#include <opencv2/ml.hpp>
#include <opencv2/objdetect.hpp>

#include <cmath>
#include <numeric>

namespace framewire {
namespace {

using testing::TemporaryFolder;

double product(const std::vector<float>& a, const float* b) { return std::inner_product(a.begin(), a.end(), b, 0.0); }

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
    return product(a, b.data()) / std::sqrt(product(a, a.data()) * product(b, b.data()));
}

// An OpenCV descriptor of a picture, saved as the weights of OpenCV's detector, must have the same order as framewire's
// descriptor of the picture. The two differ in how a pixel votes, not in where.
TEST(WindowModelFileAndOpenCv, HogDescriptorWeightsAreConvertedToOurOrder) {
    const TemporaryFolder folder;
    cv::HOGDescriptor theirs({48, 96}, {24, 24}, {8, 8}, {8, 8}, 12);
    theirs.signedGradient = true;
    cv::Mat picture(96, 48, CV_8UC1, cv::Scalar(90));
    cv::circle(picture, {16, 20}, 11, cv::Scalar(200), cv::FILLED);
    cv::rectangle(picture, {20, 40}, {44, 55}, cv::Scalar(20), cv::FILLED);
    cv::line(picture, {4, 90}, {40, 62}, cv::Scalar(250), 3);
    cv::GaussianBlur(picture, picture, {}, 1);
    std::vector<float> weights;
    theirs.compute(picture, weights);
    auto with_bias = weights;
    with_bias.push_back(-2.5f);
    theirs.setSVMDetector(with_bias);
    theirs.save(folder / "hog.yml");

    const auto model = read_window_model(folder / "hog.yml", {});
    EXPECT_EQ(model.width_px, 48);
    EXPECT_EQ(model.height_px, 96);
    EXPECT_EQ(model.hog.bins, 12);
    EXPECT_EQ(model.hog.block, 3);
    EXPECT_TRUE(model.hog.signed_gradients);
    EXPECT_EQ(model.bias, -2.5f);
    const Shape shape{1, 96, 48, 1};
    Hog hog(model.hog, shape, kit::executor(Backend::cpu));
    std::vector<float> ours(static_cast<std::size_t>(hog.output_shape().count()));
    hog.run(HostView<const std::uint8_t>(picture.data, shape), {ours.data(), hog.output_shape()});
    EXPECT_GT(cosine(model.weights, ours), 0.8);
    EXPECT_LT(cosine(weights, ours), 0.6) << "the weights are still in OpenCV's order";
}

struct Trained {
    const char* name;
    cv::ml::SVM::Types type;
    float found, other;  // labels
};

class OpenCvSvm : public ::testing::TestWithParam<Trained> {};

TEST_P(OpenCvSvm, ScoresMatchOpenCv) {
    const TemporaryFolder folder;
    const auto& [name, type, found, other] = GetParam();
    WindowModel like{.hog = {.cell = 8, .bins = 4, .norm = HogNorm::l2, .block = 1}, .width_px = 16, .height_px = 24};
    const int values = static_cast<int>(window_shape(like).count()), count = 40;
    cv::RNG random(5);
    cv::Mat samples(count, values, CV_32F), labels(count, 1, CV_32F);
    random.fill(samples, cv::RNG::UNIFORM, 0, 1);
    for (int row = 0; row < count; ++row) {
        labels.at<float>(row) = row % 2 ? found : other;
        samples.at<float>(row, 3) += row % 2 ? 1.f : 0.f;
    }
    const bool classes = type == cv::ml::SVM::C_SVC;
    if (classes) labels.convertTo(labels, CV_32S);
    const auto svm = cv::ml::SVM::create();
    svm->setType(type);
    svm->setKernel(cv::ml::SVM::LINEAR);
    svm->setC(1);
    svm->setP(0.1);
    svm->train(samples, cv::ml::ROW_SAMPLE, labels);
    svm->save(folder / "svm.yml");

    const auto model = read_window_model(folder / "svm.yml", like);
    cv::Mat answers;
    svm->predict(samples, answers, classes ? 0 : cv::ml::StatModel::RAW_OUTPUT);
    for (int row = 0; row < count; ++row) {
        const double score = product(model.weights, samples.ptr<float>(row)) + model.bias;
        if (classes)
            EXPECT_EQ(score > 0, answers.at<float>(row) == found) << row;
        else
            EXPECT_NEAR(score, answers.at<float>(row), 1e-4) << row;
    }
}

INSTANTIATE_TEST_SUITE_P(All, OpenCvSvm,
                         ::testing::Values(Trained{"Classes", cv::ml::SVM::C_SVC, 1, -1},
                                           Trained{"ClassesFromZero", cv::ml::SVM::C_SVC, 7, 0},
                                           Trained{"Regression", cv::ml::SVM::EPS_SVR, 1, -1}),
                         [](const auto& trained) { return trained.param.name; });

}  // namespace
}  // namespace framewire
