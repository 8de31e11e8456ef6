#include "framewire/plan/frame_hog.hpp"
#include "framewire/colour/yuv_to_image.hpp"
#include "framewire/core/error.hpp"
#include "framewire/plan/channel_weights.hpp"
#include "framewire/plan/frame.hpp"

namespace framewire {

FrameDescriptors::FrameDescriptors(const HogShape& shape, Executor& executor)
    : shape_(shape), values_(executor, shape.bytes()), transfer_(executor) {}

FrameHog::~FrameHog() {
    try {
        // Queued work writes to the plan's memory, which is about to be freed.
        executor_->synchronize();
    } catch (const Error&) {
        // The thread that waits for the frame receives the error.
    }
}

void FrameHog::start(Frame& frame, FrameDescriptors& out) {
    executor_->in_its_space([&]<MemorySpace space>() {
        executor_->step("hog", [&] {
            hog_.run(frame.in<space>(),
                     HogView<float, space>(out.values_.in<space>().template as<float>(), out.shape_));
        });
        if constexpr (space == MemorySpace::host) return;
        executor_->step("download", [&] {
            out.transfer_.down([&](const cuda::Stream& stream) {
                cuda::download(out.values_.device().data(), out.values_.host().data(), out.shape_.bytes(), stream);
            });
        });
    });
}

void FrameHog::start(const HostYuv<const std::uint8_t>& picture, FrameDescriptors& out) {
    // The weights convert planes to gray directly, without B, G and R in between.
    const YuvToImage convert(picture.info, 3, executor_->pool());
    executor_->step("hog", [&] {
        hog_.run(
            [&](const ImageRows<std::uint8_t>& rows) {
                convert.run_rows(picture, rows, channel_weights(gray_weights(GrayMethod::weighted)));
            },
            HogView<float, MemorySpace::host>(out.values_.host().as<float>(), out.shape_));
    });
}

void FrameHog::start(const MakeRows& make, FrameDescriptors& out) {
    executor_->step("hog", [&] {
        hog_.run(gray_rows(make, 3), HogView<float, MemorySpace::host>(out.values_.host().as<float>(), out.shape_));
    });
}

}  // namespace framewire
