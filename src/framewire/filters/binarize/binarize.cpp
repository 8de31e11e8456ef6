#include "framewire/filters/binarize/binarize.hpp"

#include "framewire/core/parameters/fields.hpp"
#include "framewire/filters/binarize/document/document.hpp"
#include "framewire/filters/binarize/sauvola/sauvola.hpp"

#include <algorithm>

// Registry entry of `binarize` and the part of Binarize that does not depend on the backend. The entry covers three
// classes: Binarize for thresholds from a histogram or fixed, Document and Sauvola for uneven paper.

namespace framewire {
namespace {

// Small compared with a core's L2 cache, large compared with the cost of handing it to a thread.
constexpr std::int64_t band_bytes = 128 * 1024;

// Values of the option `method`.
enum class BinarizeMethod { two_max, otsu, two_peaks, document, sauvola, fixed };

constexpr NamedValue<BinarizeMethod> binarize_method_names[] = {
    {"two-max", BinarizeMethod::two_max},     {"otsu", BinarizeMethod::otsu},
    {"two-peaks", BinarizeMethod::two_peaks}, {"document", BinarizeMethod::document},
    {"sauvola", BinarizeMethod::sauvola},     {"fixed", BinarizeMethod::fixed}};

// All parameters of the registry entry, for every method.
struct BinarizeSettings {
    BinarizeMethod method = BinarizeMethod::two_max;
    BinarizeParameters binarize{};
    SauvolaParameters sauvola{};
    DocumentParameters document{};
};
static_assert(DocumentParameters{}.window == SauvolaParameters{}.window, "one parameter, of either method");

const ParameterFields<BinarizeSettings>& binarize_fields() {
    using S = BinarizeSettings;
    static const ParameterFields<S> fields = {
        parameter_field(
            &S::method, binarize_method_names,
            {.name = "method",
             .help = "two-max: mean of the two most frequent values, held to 50..200; otsu: as OpenCV; two-peaks: the "
                     "valley of the smoothed histogram; document: for ink on uneven paper, otsu of what is left of the "
                     "paper's light, and white if nothing stands out from the paper's noise; sauvola: local, for "
                     "documents; fixed: level"}),
        parameter_field<S>([](auto& all) -> auto& { return all.binarize.level; },
                           {.name = "level", .help = "the threshold of method=fixed", .maximum = 255}),
        parameter_field<S>(
            [](auto& all) -> auto& { return all.sauvola.window; },
            {.name = "window",
             .help = "side of the square around each pixel that method=document (to 63) and method=sauvola "
                     "look at; wider than a stroke",
             .minimum = 3,
             .maximum = max_sauvola_window,
             .odd_only = true}),
        parameter_field<S>(
            [](auto& all) -> auto& { return all.sauvola.k; },
            {.name = "k", .help = "of method=sauvola: larger leaves less black where contrast is low", .maximum = 1}),
    };
    return fields;
}

// Throws Error{usage} if a parameter that the chosen method does not read has another value than its default.
BinarizeSettings settings_from(const ParameterValues& values) {
    auto settings = binarize_fields().from(values);
    const auto refuse = [&](std::string_view name, std::string_view methods) {
        fail(ErrorCode::usage, "{} {} goes with {}, not with method={}", name, values.text(name), methods,
             values.text("method"));
    };
    const BinarizeSettings defaults;
    const auto method = settings.method;
    const int window = settings.sauvola.window;
    if (method != BinarizeMethod::fixed && settings.binarize.level != defaults.binarize.level)
        refuse("level", "method=fixed");
    if (method == BinarizeMethod::document) {
        if (window > max_document_window)
            fail(ErrorCode::usage, "window {} goes with method=sauvola; with method=document it is at most {}", window,
                 max_document_window);
        settings.document.window = window;
    } else if (method != BinarizeMethod::sauvola && window != defaults.sauvola.window) {
        refuse("window", "method=document and method=sauvola");
    }
    if (method != BinarizeMethod::sauvola && settings.sauvola.k != defaults.sauvola.k) refuse("k", "method=sauvola");
    return settings;
}

// Empty for the methods that do not take a threshold from a histogram.
std::optional<ThresholdMethod> threshold_method(BinarizeMethod method) {
    switch (method) {
        case BinarizeMethod::two_max: return ThresholdMethod::two_max;
        case BinarizeMethod::otsu: return ThresholdMethod::otsu;
        case BinarizeMethod::two_peaks: return ThresholdMethod::two_peaks;
        default: return {};
    }
}

}  // namespace

// Allocates everything that runs need, depending on the backend. A fixed level needs no histograms.
Binarize::Binarize(BinarizeParameters parameters, const Shape& shape, Executor& executor)
    : parameters_(parameters), shape_(shape), executor_(&executor) {
    validate(shape, "binarize's image");
    binarize_fields().check({.binarize = parameters}, "binarize");
    // The result is thresholded in bands of about band_bytes.
    const auto frames = static_cast<std::size_t>(shape.frames);
    bands_ = static_cast<int>(std::clamp<std::int64_t>(shape.frame_bytes() / band_bytes, 1, shape.height));
    // Every band has a fixed cost, as much as counting 50 000 pixels, so there are only as many as keep the threads
    // busy.
    const auto bands_for_all = (2 * executor.pool().threads() + shape.frames - 1) / shape.frames;
    histogram_bands_ = std::clamp(bands_for_all, 1, bands_);
    thresholds_ = BackendBuffer(frames, executor);
    thresholds_.fill(parameters.level);
    if (!parameters.method) return;
    // On the GPU a single histogram per frame is shared by all blocks.
    const bool on_cpu = executor.backend() == Backend::cpu;
    const auto histograms = on_cpu ? frames * static_cast<std::size_t>(histogram_bands_) : frames;
    histograms_ = BackendBuffer(histograms * sizeof(Histogram), executor);
    histograms_.fill(0);
    if (on_cpu && shape.channels == 3) gray_ = HostBuffer(static_cast<std::size_t>(shape.with_channels(1).bytes()));
}

// The thresholds stay on the backend until someone asks for them.
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
    return {
        .name = "binarize",
        .summary = "black and white: white where the gray value is above a threshold",
        .parameters = binarize_fields().infos(),
        .examples = {"binarize=otsu", "binarize=document", "binarize=fixed:level=100",
                     "binarize=sauvola:window=31:k=0.3"},
        .output_shape =
            [](const ParameterValues& values, const Shape& shape) {
                settings_from(values);
                return shape;
            },
        .make = [](const ParameterValues& values, const Shape& shape, Executor& executor) -> std::unique_ptr<Filter> {
            auto settings = settings_from(values);
            if (settings.method == BinarizeMethod::document)
                return std::make_unique<FilterOf<Document>>(settings.document, shape, executor);
            if (settings.method == BinarizeMethod::sauvola)
                return std::make_unique<FilterOf<Sauvola>>(settings.sauvola, shape, executor);
            settings.binarize.method = threshold_method(settings.method);
            return std::make_unique<FilterOf<Binarize>>(settings.binarize, shape, executor);
        },
        .pointwise = [](const ParameterValues& values) -> std::optional<PointwiseOp> {
            const auto settings = settings_from(values);
            if (settings.method != BinarizeMethod::fixed) return {};
            return PointwiseOp{.filter = "binarize",
                               .values = {settings.binarize.level},
                               .run =
                                   [](const PointwiseOp& op, const PointwiseSpan& span) {
                                       binarize_span(op.values[0], span.in, span.channels, span.pixels,
                                                     span.out_channels, span.out);
                                   },
                               .figure = "threshold",
                               .gives_gray = true,
                               .needs_gray = GrayMethod::weighted};
        },
    };
}

}  // namespace framewire
