#pragma once

#include "framewire/core/parameters.hpp"
#include "framewire/core/thread_pool.hpp"
#include "framewire/core/view.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "framewire/filters/filter.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <string_view>

namespace framewire {

/// Largest diameter of a structuring element, in pixels.
inline constexpr int max_element_px = 63;

/// Shape of a structuring element.
enum class ElementShape {
    disc,     ///< dx^2 + dy^2 <= (diameter / 2)^2, as in the moving-object report
    ellipse,  ///< OpenCV's MORPH_ELLIPSE
    rect      ///< the whole square
};

/// Names of the shapes in options, the usual one first.
inline constexpr NamedValue<ElementShape> element_shape_names[] = {
    {"disc", ElementShape::disc}, {"ellipse", ElementShape::ellipse}, {"rect", ElementShape::rect}};

/// A structuring element of odd diameter around its middle pixel. All shapes are symmetric and convex: row dy is the
/// run of pixels from -reach(dy) to +reach(dy).
class StructuringElement {
public:
    /// Throws Error{usage} unless the diameter is odd and in 1..63.
    StructuringElement(ElementShape shape, int diameter);

    /// Diameter in pixels.
    int diameter() const { return diameter_; }
    /// Number of rows above, and below, the middle.
    int radius() const { return diameter_ / 2; }
    /// Distance that row `dy`, -radius()..radius(), reaches to the left and to the right of the middle.
    int reach(int dy) const { return reach_[static_cast<std::size_t>(dy + radius())]; }

private:
    int diameter_;
    std::array<int, max_element_px> reach_{};
};

/// How to dilate by a structuring element row by row, for kernels. Bits are joined by or, gray values by the maximum.
///
/// Rows near the middle of an element reach further, so the pixels of all rows are dilated along the row together, in
/// pieces (Horner's scheme). a(x) is empty at first. Each step
///   1. joins a with the pixels of the rows at distance d above and below, for d from the previous step's rows_end to
///   its own rows_end - 1;
///   2. if shift_px is not 0, replaces a(x) by the join of a(x - shift_px), a(x) and a(x + shift_px).
/// Reaches of more than one pixel take several steps with shifts that grow threefold. Erosion works on complements, or
/// with the minimum.
struct DilationSteps {
    /// One step of the scheme.
    struct Step {
        std::uint8_t rows_end, shift_px;
        friend constexpr bool operator==(const Step&, const Step&) = default;
    };

    /// Radius of the element.
    int radius = 0;
    /// Number of steps in use.
    int count = 0;
    Step steps[max_element_px / 2 + 1]{};  ///< all but the last shift by at least 1 px, and together by the radius

    /// No steps: the element is one pixel.
    DilationSteps() = default;
    /// Finds the steps for an element, with shifts of at most `largest_shift_px`.
    explicit DilationSteps(const StructuringElement& element, int largest_shift_px = max_element_px / 2);

    /// Returns true if all rows of the element reach as far as there are rows above and below the middle, and the
    /// radius is at least 1.
    bool is_square() const { return radius > 0 && steps[0].rows_end == radius + 1; }

    friend constexpr bool operator==(const DilationSteps&, const DilationSteps&) = default;
};

/// A morphological operation.
enum class MorphologyOperation {
    /// Copies the image.
    none,
    dilate,
    erode,
    open,       ///< erode, then dilate
    close,      ///< dilate, then erode
    close_open  ///< close, then open
};

/// Names of the operations in options, the usual one first.
inline constexpr NamedValue<MorphologyOperation> morphology_names[] = {
    {"close", MorphologyOperation::close},           {"open", MorphologyOperation::open},
    {"close-open", MorphologyOperation::close_open}, {"dilate", MorphologyOperation::dilate},
    {"erode", MorphologyOperation::erode},           {"none", MorphologyOperation::none},
};

/// Parses one of these names. Throws Error{usage} on any other text.
MorphologyOperation parse_morphology_operation(std::string_view text);

/// The dilations and erosions that make up an operation, in order; at most four.
struct MorphologyPhases {
    /// Kinds of phases.
    enum class Phase { dilate, erode };
    /// The phases, in order.
    std::array<Phase, 4> phases{};
    /// Number of phases.
    int count = 0;

    /// Returns true if phase `index` is an erosion.
    bool erodes(int index) const { return phases[static_cast<std::size_t>(index)] == Phase::erode; }
};

/// The phases of an operation; none for MorphologyOperation::none.
MorphologyPhases phases_of(MorphologyOperation operation);

/// Parameters of Morphology.
struct MorphologyParameters {
    /// The operation.
    MorphologyOperation operation = MorphologyOperation::dilate;
    int size = 3;                             ///< diameter of the structuring element; odd, 1..63
    ElementShape shape = ElementShape::disc;  ///< shape of the structuring element
};

/// Dilation, erosion and their combinations on gray values, separately for each channel (step 6 of the moving-object
/// report). The result is the largest or smallest of the pixels under the structuring element; pixels outside the image
/// are neutral, as in OpenCV. DilationSteps describes the method; squares on the CPU use dilate_by_square().
///
/// `in` and `out`: one shape with 1 or 3 channels, any strides and alignment, no overlap. One run at a time per plan.
class Morphology {
public:
    /// Throws Error{usage} on a shape or size that is not allowed.
    Morphology(MorphologyParameters parameters, const Shape& shape, Executor& executor);

    /// Shape of the result: that of the image.
    Shape output_shape() const { return shape_; }

    /// On the executor's threads; returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queued on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

private:
    /// One phase on the GPU, erosion or dilation; everything but the direction and the images is fixed.
    using Phase = std::function<void(bool erodes, DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out)>;
    /// Prepares the GPU kernel.
    Phase plan_for_cuda() const;

    MorphologyPhases phases_;
    DilationSteps steps_;
    Shape shape_;
    Executor* executor_;
    Phase phase_on_device_;
    BackendImage between_;  // result of one phase for the next
};

/// Registry entry of `close`.
FilterInfo close_info();
/// Registry entry of `dilate`.
FilterInfo dilate_info();
/// Registry entry of `erode`.
FilterInfo erode_info();
/// Registry entry of `open`.
FilterInfo open_info();

/// Returns true if dilate_by_square() supports images of `shape`. Images narrower than a vector are not supported.
bool square_fits(const Shape& shape);

/// Dilates or erodes by a square with a side of 2 * radius + 1 pixels, radius at least 1; pixels outside the image are
/// neutral.
///
/// Columns first: the rows of a window are the end of one group of as many rows and the start of the next, and running
/// maxima are kept in both directions from the boundary (van Herk 1992, Gil and Werman 1993), so each pixel takes about
/// three comparisons whatever the size. Then rows: maxima of 4 pixels, of those maxima of 16, and so on; overlapping
/// runs do no harm.
///
/// `in` and `out`: one shape for which square_fits() holds, 1 or 3 channels, any strides, no overlap.
void dilate_by_square(bool erodes, int radius, HostView<const std::uint8_t> in, HostView<std::uint8_t> out,
                      const ThreadPool& pool);

}  // namespace framewire
