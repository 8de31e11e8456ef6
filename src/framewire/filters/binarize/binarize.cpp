#include "framewire/filters/binarize/binarize.hpp"

#include "framewire/filters/binarize/document/document.hpp"
#include "framewire/filters/binarize/sauvola.hpp"

#include <algorithm>

namespace framewire {
namespace {

constexpr std::int64_t band_bytes = 128 * 1024;  // small beside a core's L2, large beside the cost of handing it out

std::optional<ThresholdMethod> method_from(std::string_view text) {
    if (text == "two-max") return ThresholdMethod::two_max;
    if (text == "otsu") return ThresholdMethod::otsu;
    if (text == "two-peaks") return ThresholdMethod::two_peaks;
    return {};
}

// A value that the chosen method does not read is a misunderstanding, unless it is the default.
void refuse_without_use(const ParameterValues& values) {
    const auto& method = values.text("method");
    if (method != "fixed" && values.integer("level") != BinarizeParameters{}.level)
        fail(ErrorCode::usage, "level {} goes with method=fixed, not with method={}", values.integer("level"), method);
    static_assert(DocumentParameters{}.window == SauvolaParameters{}.window);
    const auto window = values.integer("window");
    if (method != "sauvola" && method != "document" && window != SauvolaParameters{}.window)
        fail(ErrorCode::usage, "window {} goes with method=document and method=sauvola, not with method={}", window,
             method);
    if (method == "document" && window > max_document_window)
        fail(ErrorCode::usage, "window {} goes with method=sauvola; with method=document it is at most {}", window,
             max_document_window);
    if (method != "sauvola" && values.real("k") != SauvolaParameters{}.k)
        fail(ErrorCode::usage, "k {} goes with method=sauvola, not with method={}", values.real("k"), method);
}

}  // namespace

Binarize::Binarize(BinarizeParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "binarize's image");
    if (parameters.level < 0 || parameters.level > 255)
        fail(ErrorCode::usage, "binarize's level is {}; allowed are 0 to 255", parameters.level);
    const auto frames = static_cast<std::size_t>(shape.frames);
    bands_ = static_cast<int>(std::clamp<std::int64_t>(shape.frame_bytes() / band_bytes, 1, shape.height));
    // A band's histogram costs something of its own, as much as counting 50 000 pixels: no more bands than keep the
    // threads busy.
    const auto bands_for_all = (2 * executor.pool().threads() + shape.frames - 1) / shape.frames;
    histogram_bands_ = std::clamp(bands_for_all, 1, bands_);
    if (executor.backend() == Backend::cpu) {
        thresholds_ = HostBuffer(frames);
        std::fill_n(thresholds_.data(), frames, static_cast<std::uint8_t>(parameters.level));
        if (parameters.method)
            band_histograms_ = HostBuffer(frames * static_cast<std::size_t>(histogram_bands_) * sizeof(Histogram));
        if (parameters.method && shape.channels == 3)
            gray_ = HostBuffer(static_cast<std::size_t>(shape.with_channels(1).bytes()));
        return;
    }
    device_thresholds_ = cuda::DeviceBuffer(frames);
    cuda::fill(device_thresholds_.data(), parameters.level, frames, executor.stream());
    if (parameters.method) {
        device_histograms_ = cuda::DeviceBuffer(frames * sizeof(Histogram));
        cuda::fill(device_histograms_.data(), 0, device_histograms_.bytes(), executor.stream());
    }
}

std::vector<FilterFigure> Binarize::figures() const {
    if (!has_run_) return {};
    std::vector<std::uint8_t> thresholds(static_cast<std::size_t>(shape_.frames));
    if (executor_->backend() == Backend::cpu) {
        std::copy_n(thresholds_.data(), thresholds.size(), thresholds.begin());
    } else {
        cuda::download(device_thresholds_.data(), thresholds.data(), thresholds.size(), executor_->stream());
        executor_->stream().synchronize();
    }
    std::vector<FilterFigure> figures;
    for (int frame = 0; frame < shape_.frames; ++frame)
        figures.push_back({"threshold", frame, static_cast<double>(thresholds[static_cast<std::size_t>(frame)])});
    return figures;
}

FilterInfo binarize_info() {
    using Type = ParameterInfo::Type;
    return {
        .name = "binarize",
        .summary = "black and white: white where the gray value is above a threshold",
        .parameters =
            {
                {.name = "method",
                 .help =
                     "two-max: mean of the two most frequent values, held to 50..200; otsu: as OpenCV; two-peaks: the "
                     "valley of the smoothed histogram; document: otsu of what is left of the paper's light, for ink "
                     "on "
                     "uneven paper; sauvola: local, for documents; fixed: level",
                 .type = Type::choice,
                 .default_value = "two-max",
                 .choices = {"two-max", "otsu", "two-peaks", "document", "sauvola", "fixed"}},
                {.name = "level",
                 .help = "the threshold of method=fixed",
                 .type = Type::integer,
                 .default_value = "128",
                 .minimum = 0,
                 .maximum = 255},
                {.name = "window",
                 .help = "side of the square around each pixel that method=document (to 63) and method=sauvola look "
                         "at; wider "
                         "than a stroke",
                 .type = Type::integer,
                 .default_value = "25",
                 .minimum = 3,
                 .maximum = max_sauvola_window,
                 .odd_only = true},
                {.name = "k",
                 .help = "of method=sauvola: larger leaves less black where contrast is low",
                 .type = Type::real,
                 .default_value = "0.2",
                 .minimum = 0,
                 .maximum = 1},
            },
        .examples = {"binarize=otsu", "binarize=document", "binarize=fixed:level=100",
                     "binarize=sauvola:window=31:k=0.3"},
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                refuse_without_use(values);
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            refuse_without_use(values);
            const auto& method = values.text("method");
            if (method == "document")
                return std::make_unique<FilterOf<Document>>(
                    DocumentParameters{.window = static_cast<int>(values.integer("window"))}, shape, executor);
            if (method == "sauvola")
                return std::make_unique<FilterOf<Sauvola>>(
                    SauvolaParameters{.window = static_cast<int>(values.integer("window")), .k = values.real("k")},
                    shape, executor);
            return std::make_unique<FilterOf<Binarize>>(
                BinarizeParameters{.method = method_from(method), .level = static_cast<int>(values.integer("level"))},
                shape, executor);
        },
        .pointwise = [](const ParameterValues& values) -> std::optional<PointwiseOp> {
            refuse_without_use(values);
            if (values.text("method") != "fixed") return {};
            return PointwiseOp{.filter = "binarize",
                               .values = {static_cast<int>(values.integer("level"))},
                               .run =
                                   [](const PointwiseOp& op, const PointwiseSpan& span) {
                                       binarize_span(op.values[0], span.in, span.channels, span.pixels, span.out);
                                   },
                               .figure = "threshold"};
        },
    };
}

}  // namespace framewire
