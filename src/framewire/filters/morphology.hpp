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
    /// Makes an element. Throws Error{usage} unless the diameter is odd and in 1..63.
    StructuringElement(ElementShape shape, int diameter);

    /// Returns the diameter in pixels.
    int diameter() const { return diameter_; }
    /// Returns the number of rows above the middle, which is also the number below it.
    int radius() const { return diameter_ / 2; }
    /// Returns how far row `dy`, from -radius() to radius(), reaches to the left and right of the middle, in pixels.
    int reach(int dy) const { return reach_[static_cast<std::size_t>(dy + radius())]; }

private:
    int diameter_;
    std::array<int, max_element_px> reach_{};
};

/// Steps that dilate by a structuring element row by row, for kernels. Bits are joined by or, gray values by the
/// maximum.
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
    /// The steps; all but the last one shift by at least 1 px, all together by the radius.
    Step steps[max_element_px / 2 + 1]{};

    /// Makes no steps, for an element of one pixel.
    DilationSteps() = default;
    /// Finds the steps for an element, with shifts of at most `largest_shift_px`.
    explicit DilationSteps(const StructuringElement& element, int largest_shift_px = max_element_px / 2);

    /// Returns true if the element is a square with a radius of at least 1: all of its rows reach as far as the radius.
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

/// Parses a name of morphology_names. Throws Error{usage} on any other text.
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

/// Returns the phases of an operation; none for MorphologyOperation::none.
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
/// `in` and `out` have the same shape, with 1 or 3 channels, any strides and alignment. They must not overlap. One run
/// at a time per plan.
class Morphology {
public:
    /// Prepares the filter. Throws Error{usage} if the shape or the size is not allowed.
    Morphology(MorphologyParameters parameters, const Shape& shape, Executor& executor);

    /// Returns the shape of the result, which is that of the image.
    Shape output_shape() const { return shape_; }

    /// Runs on the executor's threads and returns when done.
    void run(const FilterImages<MemorySpace::host>& images);
    /// Queues the filter on the executor's stream.
    void run(const FilterImages<MemorySpace::device>& images);

private:
    /// Runs one phase on the GPU. Everything except the direction and the images is fixed when planning.
    using Phase = std::function<void(bool erodes, DeviceView<const std::uint8_t> in, DeviceView<std::uint8_t> out)>;
    /// Prepares the GPU kernel.
    Phase plan_for_cuda() const;

    MorphologyPhases phases_;
    DilationSteps steps_;
    Shape shape_;
    Executor* executor_;
    Phase phase_on_device_;
    BackendImage between_;  // result of a phase that the next one reads
};

/// Returns the registry entry of `close`.
FilterInfo close_info();
/// Returns the registry entry of `dilate`.
FilterInfo dilate_info();
/// Returns the registry entry of `erode`.
FilterInfo erode_info();
/// Returns the registry entry of `open`.
FilterInfo open_info();

/// Returns true if dilate_by_square() supports images of `shape`. Images narrower than a vector are not supported.
bool square_fits(const Shape& shape);

/// Dilates or erodes by a square with a side of 2 * radius + 1 pixels, radius at least 1; pixels outside the image are
/// neutral.
///
/// Columns first: the rows of a window are the end of one group of as many rows and the start of the next. Running
/// maxima are kept in both directions from the boundary between the groups (van Herk 1992, Gil and Werman 1993), so
/// each pixel takes about three comparisons, regardless of the size. Then rows: maxima of 4 pixels, from these the
/// maxima of 16, and so on. Runs may overlap without changing the maximum.
///
/// `in` and `out` have the same shape, for which square_fits() holds, with 1 or 3 channels and any strides. They must
/// not overlap.
void dilate_by_square(bool erodes, int radius, HostView<const std::uint8_t> in, HostView<std::uint8_t> out,
                      const ThreadPool& pool);

}  // namespace framewire
