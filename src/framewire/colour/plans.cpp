#include "framewire/colour/image_to_yuv/image_to_yuv.hpp"
#include "framewire/colour/yuv_to_image/yuv_to_image.hpp"
#include "framewire/core/error.hpp"

namespace framewire {

// Both constructors validate the pictures and the images once, so that the runs only compare shapes.
YuvToImage::YuvToImage(const YuvInfo& picture, int channels, const ThreadPool& threads)
    : picture_(picture), channels_(channels), threads_(&threads) {
    validate(picture, "the YUV picture");
    validate(image_shape(), "the image made from YUV");
}

YuvToImage::YuvToImage(const YuvInfo& picture, int channels, Executor& executor)
    : YuvToImage(picture, channels, executor.pool()) {
    executor_ = &executor;
}

ImageToYuv::ImageToYuv(const YuvInfo& picture, int channels, const ThreadPool& threads)
    : picture_(picture), channels_(channels), threads_(&threads) {
    validate(picture, "the YUV picture");
    validate(image_shape(), "the image to make YUV from");
    if (picture.format.bits != 8)
        fail(ErrorCode::usage, "the YUV picture is {}; pictures of 8 bits are made", to_string(picture.format));
}

ImageToYuv::ImageToYuv(const YuvInfo& picture, int channels, Executor& executor)
    : ImageToYuv(picture, channels, executor.pool()) {
    executor_ = &executor;
}

}  // namespace framewire
