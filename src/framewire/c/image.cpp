#include "framewire/c/image.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace framewire::c {
namespace {

struct KnownFormat {
    fw_format format;
    YuvFormat planes;
};
// Formats with planes.
constexpr std::array known_formats{KnownFormat{FW_I420, yuv_420},
                                   KnownFormat{FW_I422, yuv_422},
                                   KnownFormat{FW_I444, yuv_444},
                                   KnownFormat{FW_NV12, yuv_nv12},
                                   KnownFormat{FW_I010, {ChromaSampling::s420, false, 10}},
                                   KnownFormat{FW_I210, {ChromaSampling::s422, false, 10}},
                                   KnownFormat{FW_I410, {ChromaSampling::s444, false, 10}},
                                   KnownFormat{FW_P010, yuv_p010}};

// Strides up to this one cannot overflow when they are multiplied by a height.
constexpr std::int64_t most_stride_bytes = std::int64_t{1} << 40;

ChromaSiting siting_from(std::int32_t flags) {
    return {.centred_x = (flags & FW_SITING_CENTRE) != 0,
            .centred_y = (flags & FW_SITING_TOP_LEFT) == 0,
            .mirrored_x = (flags & FW_SITING_MIRRORED_X) != 0,
            .mirrored_y = (flags & FW_SITING_MIRRORED_Y) != 0};
}

std::int32_t flags_of(const ChromaSiting& siting) {
    return (siting.centred_x ? FW_SITING_CENTRE : 0) | (siting.centred_y ? 0 : FW_SITING_TOP_LEFT) |
           (siting.mirrored_x ? FW_SITING_MIRRORED_X : 0) | (siting.mirrored_y ? FW_SITING_MIRRORED_Y : 0);
}

std::string description(const FrameFormat& format) {
    if (const auto& planes = format.planes()) return to_string(*planes) + ", chroma " + to_string(planes->siting);
    return to_string(format.shape());
}

// Returns the number of planes, and the rows and bytes per row of each.
int planes_of(const FrameFormat& format) { return format.planes() ? format.planes()->planes() : 1; }
std::int64_t rows_of(const FrameFormat& format, int plane) {
    return format.planes() ? format.planes()->plane_rows(plane) : format.shape().height;
}
std::int64_t row_bytes_of(const FrameFormat& format, int plane) {
    return format.planes() ? format.planes()->plane_row_bytes(plane) : format.shape().row_bytes();
}

}  // namespace

FrameFormat format_from(const fw_image& image, const char* what) {
    check_range(image.width, 1, max_side_px, what, "->width");
    check_range(image.height, 1, max_side_px, what, "->height");
    if (image.format == FW_GRAY || image.format == FW_BGR)
        return FrameFormat(Shape{1, image.height, image.width, image.format == FW_GRAY ? 1 : 3});
    const auto known = std::ranges::find(known_formats, image.format, [](const auto& row) { return int{row.format}; });
    if (known == known_formats.end())
        refuse(fmt::format("{}->format is {}; allowed: the values of fw_format, {} to {}", what, image.format,
                           int{FW_GRAY}, int{FW_P010}));
    check_range<std::int32_t>(image.matrix, FW_BT601, FW_BT2020, what, "->matrix");
    check_range<std::int32_t>(image.full_range, 0, 1, what, "->full_range");
    check_range<std::int32_t>(image.siting, 0, FW_SITING_TOP | FW_SITING_MIRRORED_X | FW_SITING_MIRRORED_Y, what,
                              "->siting");
    return FrameFormat(YuvInfo{known->planes,
                               {static_cast<YuvMatrix>(image.matrix), image.full_range == 1},
                               siting_from(image.siting),
                               1,
                               image.height,
                               image.width});
}

Shape shape_of(const fw_image* image, const char* what) {
    const auto format = format_from(take(at(image, what), what), what);
    if (format.planes()) refuse(fmt::format("{} is {}; allowed: FW_GRAY and FW_BGR", what, description(format)));
    return format.shape();
}

bool is_known(const FrameFormat& format) {
    return !format.planes() ||
           std::ranges::find(known_formats, format.planes()->format, &KnownFormat::planes) != known_formats.end();
}

void put_format(const FrameFormat& format, fw_image& image) {
    auto to = take(image, "image");
    to.width = format.shape().width;
    to.height = format.shape().height;
    to.format = format.shape().channels == 1 ? FW_GRAY : FW_BGR;
    to.matrix = to.full_range = to.siting = 0;
    if (const auto& planes = format.planes()) {
        const auto known = std::ranges::find(known_formats, planes->format, &KnownFormat::planes);
        if (known == known_formats.end())
            fail(ErrorCode::internal, "this interface has no format for {}", to_string(planes->format));
        to.format = known->format;
        to.matrix = static_cast<std::int32_t>(planes->coding.matrix);
        to.full_range = planes->coding.full_range;
        to.siting = flags_of(planes->siting);
    }
    for (int plane = 0; plane < 3; ++plane)
        to.stride[plane] = plane < planes_of(format) ? row_bytes_of(format, plane) : 0;
    put(image, to, "image");
}

CallerImage::CallerImage(const fw_image* image, const FrameFormat& wanted, const char* what)
    : image_(take(at(image, what), what)), format_(format_from(image_, what)), what_(what) {
    if (format_ != wanted)
        refuse(fmt::format("{} is {}, but must be {}", what, description(format_), description(wanted)));
    check_range<std::int32_t>(image_.memory, FW_HOST, FW_DEVICE, what, "->memory");
    const bool has_words = format_.planes() && format_.planes()->sample_bytes() == 2;
    for (int plane = 0; plane < planes_of(format_); ++plane) {
        if (!image_.data[plane]) refuse(fmt::format("{}->data[{}] is NULL", what, plane));
        auto& stride = image_.stride[plane];
        if (stride == 0) stride = row_bytes_of(format_, plane);
        if (stride < row_bytes_of(format_, plane) || stride > most_stride_bytes)
            refuse(fmt::format("{}->stride[{}] is {}; a row has {} bytes", what, plane, stride,
                               row_bytes_of(format_, plane)));
        if (has_words && (stride % 2 || reinterpret_cast<std::uintptr_t>(image_.data[plane]) % 2))
            refuse(fmt::format("{}->data[{}] or its stride is odd, but samples have two bytes", what, plane));
    }
}

void CallerImage::require_host() const {
    if (on_device()) refuse(fmt::format("{} is in device memory; host memory is required", what_));
}

void CallerImage::require_apart(const CallerImage& other) const {
    for (int mine = 0; mine < planes_of(format_); ++mine)
        for (int its = 0; its < planes_of(other.format_); ++its)
            if (overlap(memory_of(mine), other.memory_of(its)))
                refuse(fmt::format("{} and {} overlap in memory; use two images", what_, other.what_));
}

CallerImage::PlaneMemory CallerImage::memory_of(int plane) const {
    const auto row_bytes = static_cast<std::uintptr_t>(row_bytes_of(format_, plane));
    const auto stride = static_cast<std::uintptr_t>(image_.stride[plane]);
    const auto begin = reinterpret_cast<std::uintptr_t>(image_.data[plane]);
    return {begin, begin + stride * static_cast<std::uintptr_t>(rows_of(format_, plane) - 1) + row_bytes, stride,
            row_bytes};
}

// Two parts of one larger image have the same stride, and may be beside each other.
bool CallerImage::overlap(const PlaneMemory& one, const PlaneMemory& other) {
    if (one.begin >= other.end || other.begin >= one.end) return false;
    if (one.stride != other.stride) return true;
    const auto column =
        (other.begin > one.begin ? other.begin - one.begin : one.stride - (one.begin - other.begin) % one.stride) %
        one.stride;
    return column < one.row_bytes || column + other.row_bytes > one.stride;
}

void CallerImage::require_reach(const Executor& executor) const {
    if (!on_device()) return;
    if (executor.backend() == Backend::cpu)
        refuse(fmt::format("{} is in device memory, but this handle works on the CPU{}", what_,
                           cuda::compiled ? "; create it with FW_BACKEND_CUDA" : ": this build has no CUDA support"));
    if (image_.device != executor.gpu())
        refuse(fmt::format("{} is on GPU {}, but this handle works on GPU {}", what_, image_.device, *executor.gpu()));
    require_on(image_.device);
}

void CallerImage::require_on(int device) const {
    if (!on_device()) return;
    for (int plane = 0; plane < planes_of(format_); ++plane)
        if (!cuda::is_device_memory(image_.data[plane], device))
            refuse(fmt::format("{}->data[{}] is not in the memory of GPU {}", what_, plane, device));
}

template <class T, MemorySpace space>
PictureView<T, space> CallerImage::view() const {
    const auto data = [this](int plane) { return static_cast<T*>(image_.data[plane]); };
    if (const auto& planes = format_.planes()) {
        YuvView<T, space> view;
        view.info = *planes;
        for (int plane = 0; plane < planes->planes(); ++plane)
            view.planes[static_cast<std::size_t>(plane)] = {data(plane), image_.stride[plane],
                                                            image_.stride[plane] * planes->plane_rows(plane)};
        return view;
    }
    return View<T, space>(data(0), format_.shape(), image_.stride[0], image_.stride[0] * format_.shape().height);
}
template PictureView<std::uint8_t, MemorySpace::host> CallerImage::view() const;
template PictureView<const std::uint8_t, MemorySpace::host> CallerImage::view() const;
template PictureView<std::uint8_t, MemorySpace::device> CallerImage::view() const;
template PictureView<const std::uint8_t, MemorySpace::device> CallerImage::view() const;

HostView<const std::uint8_t> host_view(const fw_image* image, const Shape& shape, const char* what) {
    const CallerImage checked(image, FrameFormat(shape), what);
    checked.require_host();
    return checked.view<const std::uint8_t, MemorySpace::host>().image;
}

void copy_on_host(const PictureView<const std::uint8_t, MemorySpace::host>& from,
                  const PictureView<std::uint8_t, MemorySpace::host>& to) {
    for_planes(from, to, [](const auto& one, const auto& other) { copy(one, other); });
}

namespace {

// Returns the backend, before the executor makes its GPU the current one.
BackendChoice checked(const fw_settings& settings) {
    check_range<std::int32_t>(settings.backend, FW_BACKEND_AUTO, FW_BACKEND_CUDA, "settings->backend");
    check_range(settings.threads, 0, 1024, "settings->threads");
    check_range(settings.device, 0, 1023, "settings->device");
    if (settings.backend != FW_BACKEND_CPU) keep_current_gpu();
    return static_cast<BackendChoice>(settings.backend);
}

}  // namespace

Worker::Worker(const fw_settings& settings) : executor_(checked(settings), settings.threads, settings.device) {
    if (executor_.backend() == Backend::cuda) {
        executor_.use_gpu();
        order_.emplace();
    }
}

static_assert(static_cast<int>(BackendChoice::automatic) == FW_BACKEND_AUTO);
static_assert(static_cast<int>(BackendChoice::cuda) == FW_BACKEND_CUDA);
static_assert(static_cast<int>(YuvMatrix::bt601) == FW_BT601 && static_cast<int>(YuvMatrix::bt2020) == FW_BT2020);

}  // namespace framewire::c

using namespace framewire;

fw_status fw_image_layout(fw_image* image, void* memory, size_t* bytes) {
    return c::guard(__func__, [&] {
        const auto format = c::format_from(c::take(c::at(image, "image"), "image"), "image");
        c::put_format(format, *image);
        if (bytes) *bytes = static_cast<size_t>(format.bytes());
        if (!memory) return;
        auto* plane_data = static_cast<std::uint8_t*>(memory);
        for (int plane = 0; plane < c::planes_of(format); ++plane) {
            image->data[plane] = plane_data;
            plane_data += c::row_bytes_of(format, plane) * c::rows_of(format, plane);
        }
    });
}
