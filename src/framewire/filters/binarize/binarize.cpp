#include "framewire/filters/binarize/binarize.hpp"

#include "framewire/filters/binarize/sauvola/sauvola.hpp"

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
    if (method != "sauvola" && values.integer("window") != SauvolaParameters{}.window)
        fail(ErrorCode::usage, "window {} goes with method=sauvola, not with method={}", values.integer("window"),
             method);
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
    thresholds_ = BackendBuffer(frames, executor);
    thresholds_.fill(parameters.level);
    if (!parameters.method) return;
    const bool on_cpu = executor.backend() == Backend::cpu;
    const auto histograms = on_cpu ? frames * static_cast<std::size_t>(histogram_bands_) : frames;
    histograms_ = BackendBuffer(histograms * sizeof(Histogram), executor);
    histograms_.fill(0);
    if (on_cpu && shape.channels == 3) gray_ = HostBuffer(static_cast<std::size_t>(shape.with_channels(1).bytes()));
}

std::vector<FilterFigure> Binarize::figures() const {
    if (!has_run_) return {};
    std::vector<std::uint8_t> thresholds(static_cast<std::size_t>(shape_.frames));
    thresholds_.get(thresholds.data(), thresholds.size());
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
                     "valley of the smoothed histogram; sauvola: local, for documents; fixed: level",
                 .type = Type::choice,
                 .default_value = "two-max",
                 .choices = {"two-max", "otsu", "two-peaks", "sauvola", "fixed"}},
                {.name = "level",
                 .help = "the threshold of method=fixed",
                 .type = Type::integer,
                 .default_value = "128",
                 .minimum = 0,
                 .maximum = 255},
                {.name = "window",
                 .help = "side of the square around each pixel that method=sauvola looks at",
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
        .examples = {"binarize=otsu", "binarize=fixed:level=100", "binarize=sauvola:window=31:k=0.3"},
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                refuse_without_use(values);
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            refuse_without_use(values);
            const auto& method = values.text("method");
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
