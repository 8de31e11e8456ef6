#include "framewire/plan/frame_plan.hpp"
#include "framewire/core/error.hpp"
#include "framewire/plan/frame.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace framewire {
namespace {

// Returns true if pictures of one description are also pictures of the other.
bool same_form(YuvInfo one, const YuvInfo& other) {
    if (one.format.chroma == ChromaSampling::s444 || one.format.chroma == ChromaSampling::none)
        one.siting = other.siting;  // which these formats do not have
    return one == other;
}

bool same_but_for_siting(YuvInfo one, const YuvInfo& other) {
    one.siting = other.siting;
    return one == other;
}

// Returns the filters that mirror images as the chroma sites of `siting` are mirrored.
Chain mirror_of(const ChromaSiting& siting) {
    return parse_chain(siting.mirrored_x && siting.mirrored_y ? "flip=horizontal,flip=vertical"
                       : siting.mirrored_x                    ? "flip=horizontal"
                                                              : "flip=vertical");
}

template <MemorySpace space>
const WorkPicture& made(WorkPicture& picture, const FrameFormat& format, const Executor& executor) {
    if (picture.format() != format) picture = WorkPicture(format, executor);
    return picture;
}

}  // namespace

std::string to_string(const FrameFormat& format) {
    if (const auto& planes = format.planes()) return to_string(*planes);
    return format.shape().channels == 1 ? "gray" : "BGR";
}

FramePlan::FramePlan(const Chain& chain, const FrameFormat& source, Executor& executor,
                     const std::optional<FrameFormat>& original)
    : executor_(&executor), source_(source), original_(original.value_or(source)), result_(source), text_(chain.text) {
    plan_filters(chain);
}

// Filters run on planes until the first one that needs an image.
void FramePlan::plan_filters(const Chain& chain) {
    auto shape = source_.shape();
    std::vector<FilterCall> calls;
    for (const auto& call : chain.calls) {
        naming_place(chain, call, [&] {
            const auto& join = call.filter->original;
            const auto next = join ? join->output_shape(call.values, shape, original_.shape())
                                   : call.filter->output_shape(call.values, shape);
            if (call.filter->placement) placement_ = placement_.then(call.filter->placement(call.values, shape));
            shape = next;
            if (!to_image_ && result_.planes()) {
                const bool has_original = !join || original_.planes();
                auto filter = has_original
                                  ? PlanarFilter::of(call, *result_.planes(),
                                                     original_.planes().value_or(*result_.planes()), *executor_)
                                  : nullptr;
                if (filter) return add_planar(std::string(call.filter->name), std::move(filter), call);
                begin_image(calls, fmt::format("{} needs colours", call.filter->name));
            }
            joins_original_ |= join.has_value();
            calls.push_back(call);
        });
    }
    plan_chain(std::move(calls));
}

void FramePlan::add_planar(std::string name, std::unique_ptr<PlanarFilter> filter,
                           const std::optional<FilterCall>& call) {
    const auto from = *result_.planes();
    result_ = FrameFormat(filter->result());
    planar_.push_back({std::move(name), std::move(filter), from, call, {}});
}

// Pictures whose chroma is mirrored are mirrored back, converted, and mirrored again as images, which is exact. If it
// was the last filter that mirrored them and did nothing else, that filter runs on the image instead.
void FramePlan::begin_image(std::vector<FilterCall>& calls, std::string reason) {
    if (const auto siting = result_.planes()->siting; siting.mirrored()) {
        const auto* last = planar_.empty() ? nullptr : &planar_.back();
        const bool mirrored_last = last && last->call && last->filter->only_moves() && !last->from.siting.mirrored() &&
                                   same_but_for_siting(last->from, *result_.planes()) &&
                                   last->from.siting.centred_x == siting.centred_x &&
                                   last->from.siting.centred_y == siting.centred_y;
        if (mirrored_last) {
            calls.insert(calls.begin(), *last->call);
            result_ = FrameFormat(last->from);
            planar_.pop_back();
        } else {
            add_planar("flip", PlanarFilter::unmirrored(*result_.planes(), *executor_), std::nullopt);
            const auto mirror = mirror_of(siting);
            calls.insert(calls.begin(), mirror.calls.begin(), mirror.calls.end());
        }
    }
    to_image_.emplace(*result_.planes(), 3, *executor_);
    image_reason_ = std::move(reason);
    result_ = FrameFormat(to_image_->image_shape());
}

void FramePlan::plan_chain(std::vector<FilterCall> calls) {
    if (calls.empty()) return;
    calls_ = std::move(calls);
    const auto& original = joins_original_ ? original_.shape() : result_.shape();
    chain_ = std::make_unique<ChainPlan>(Chain{text_, calls_}, result_.shape(), *executor_, original);
    result_ = FrameFormat(chain_->output_shape());
}

void FramePlan::deliver(const std::optional<YuvInfo>& planes) {
    if (std::exchange(delivered_, true)) fail(ErrorCode::internal, "a plan was made for a second sink");
    sink_ = planes;
    if (result_.planes()) {
        const auto have = *result_.planes();
        if (planes && same_form(have, *planes)) return;
        const bool is_planar = have.format.bits == 8 && !have.format.interleaved;
        if (planes && is_planar && same_but_for_siting(have, *planes))
            return add_planar("convert", PlanarFilter::to_siting(planes->siting, have, *executor_), std::nullopt);
        std::vector<FilterCall> calls;
        begin_image(
            calls, planes ? fmt::format("the output takes {}, {}", to_string(planes->format), to_string(planes->coding))
                          : "the output takes images");
        plan_chain(std::move(calls));
    }
    if (!planes || planes->height != result_.shape().height || planes->width != result_.shape().width) return;
    if (executor_->backend() == Backend::cpu) return plan_strips(*planes);
    if (empty()) return;  // the frame is not on the GPU
    to_sink_.emplace(*planes, result_.shape().channels, *executor_);
    result_ = FrameFormat(*planes);
}

void FramePlan::plan_strips(const YuvInfo& planes) {
    if (!to_image_) return;
    if (!chain_) chain_ = std::make_unique<ChainPlan>(Chain(), result_.shape(), *executor_);
    strips_ = StripPass::of(*chain_, to_image_->picture(), planes, executor_->pool());
    if (strips_) {
        to_sink_.emplace(planes, result_.shape().channels, *executor_);
        result_ = FrameFormat(planes);
        for (const auto& call : calls_)
            strips_name_ += fmt::format("{}{}", strips_name_.empty() ? "" : "+", call.filter->name);
        if (calls_.empty()) strips_name_ = "convert";
    }
    if (!strips_ && chain_->empty()) chain_.reset();
}

std::vector<PlannedStep> FramePlan::steps() const {
    std::vector<PlannedStep> steps;
    for (const auto& step : planar_) {
        const auto format = to_string(step.from.format);
        if (step.call)
            steps.push_back({step.call->text, format});
        else
            steps.push_back(
                {"convert", format,
                 fmt::format("chroma {} to {}", to_string(step.from.siting), to_string(step.filter->result().siting))});
    }
    if (to_image_) steps.push_back({"convert", to_string(to_image_->picture().format) + " to BGR", image_reason_});
    auto shape = to_image_ ? to_image_->image_shape() : source_.shape();
    const auto joined = chain_ ? chain_->joined_filters() : std::vector<bool>();
    for (std::size_t index = 0; index < calls_.size(); ++index) {
        const auto& call = calls_[index];
        const bool is_joined = index < joined.size() && joined[index];
        std::string reason = is_joined ? "in one pass with the filter before" : "";
        if (strips_) reason += reason.empty() ? "by strips" : "; by strips";
        steps.push_back({call.text, shape.channels == 1 ? "gray" : "BGR", std::move(reason)});
        const auto& join = call.filter->original;
        shape = join ? join->output_shape(call.values, shape, original_.shape())
                     : call.filter->output_shape(call.values, shape);
    }
    // Images are converted by strips with the filters before, on the GPU, or by the sink.
    if (sink_ && (strips_ || to_sink_ || !result_.planes()))
        steps.push_back({"convert",
                         fmt::format("{} to {}", shape.channels == 1 ? "gray" : "BGR", to_string(sink_->format)),
                         strips_ ? "the output takes planes; by strips" : "the output takes planes"});
    return steps;
}

bool FramePlan::shows_frame_values() const {
    return (chain_ && chain_->shows_frame_values()) ||
           std::ranges::any_of(planar_, [](const auto& step) { return step.filter->shows_frame_values(); });
}

void FramePlan::set_frame_values(const FrameValues& values) {
    for (const auto& step : planar_) step.filter->set_frame_values(values);
    if (chain_) chain_->set_frame_values(values);
}

bool FramePlan::set_adjustment(const Adjustment& adjustment) {
    // The settings apply to the first `adjust`. What was recorded has the old ones.
    recorded_.clear();
    for (const auto& step : planar_)
        if (step.filter->has_adjustment()) return step.filter->set_adjustment(adjustment);
    return chain_ && chain_->set_adjustment(adjustment);
}

std::vector<ChainFigures> FramePlan::figures() const {
    std::vector<ChainFigures> all;
    if (!has_run_) return all;
    for (const auto& step : planar_)
        if (auto figures = step.filter->figures(); !figures.empty()) all.push_back({step.name, std::move(figures)});
    if (chain_) std::ranges::move(chain_->figures(), std::back_inserter(all));
    return all;
}

void FramePlan::run(const PictureView<const std::uint8_t, MemorySpace::host>& in,
                    const PictureView<const std::uint8_t, MemorySpace::host>& original,
                    const PictureView<std::uint8_t, MemorySpace::host>& out) {
    executor_->require_space<MemorySpace::host>("a frame's plan");
    run_in(in, original, out);
}

void FramePlan::run(const PictureView<const std::uint8_t, MemorySpace::device>& in,
                    const PictureView<const std::uint8_t, MemorySpace::device>& original,
                    const PictureView<std::uint8_t, MemorySpace::device>& out) {
    executor_->require_space<MemorySpace::device>("a frame's plan");
    executor_->in_its_space([&]<MemorySpace space>() {
        if constexpr (space == MemorySpace::device) {
            const auto work = [&] { run_in<space>(in, original, out); };
            if (!is_settled() || executor_->times_steps()) {
                recorded_.clear();
                return work();
            }
            PictureAddresses addresses;
            addresses.add(in);
            addresses.add(original);
            addresses.add(out);
            recorded_.run(*executor_, addresses, work);
        }
    });
}

// After the first run, all memory is there.
bool FramePlan::is_settled() const {
    return has_run_ && (!chain_ || chain_->is_settled()) &&
           std::ranges::all_of(planar_, [](const auto& step) { return step.filter->is_settled(); });
}

template <MemorySpace space>
void FramePlan::run_in(PictureView<const std::uint8_t, space> in, PictureView<const std::uint8_t, space> original,
                       const PictureView<std::uint8_t, space>& out) {
    has_run_ = true;
    // Pictures that stand for a lost source, for example, are images. Only filters on planes need planes of them.
    if (!planar_.empty()) {
        const bool arrived_as_image = !in.has_planes();
        if (arrived_as_image) in = planes_of<space>(in.image, source_, to_arrived_, arrived_);
        if (!original.has_planes() && original_.planes())
            original = arrived_as_image
                           ? in
                           : planes_of<space>(original.image, original_, original_to_planes_, original_planes_);
    }
    if (empty()) return copy_picture(in, out);
    const bool only_planar = !to_image_ && !strips_;
    for (std::size_t at = 0; at < planar_.size(); ++at) {
        auto& step = planar_[at];
        const bool last = only_planar && at + 1 == planar_.size();
        const auto to =
            last ? out.planes
                 : made<space>(step.result, FrameFormat(step.filter->result()), *executor_).template planes<space>();
        executor_->step(step.name, [&] { step.filter->run(in.planes, original.planes, to); });
        in = YuvView<const std::uint8_t, space>(to);
    }
    if constexpr (space == MemorySpace::host)
        if (strips_ && in.has_planes())
            return executor_->step(strips_name_, [&] { strips_->run(in.planes, out.planes); });
    const auto image_out =
        to_sink_ ? made<space>(filtered_image_, FrameFormat(to_sink_->image_shape()), *executor_).template view<space>()
                 : out;
    if (to_image_ && in.has_planes()) {
        const auto to =
            chain_ ? made<space>(image_, FrameFormat(to_image_->image_shape()), *executor_).template view<space>().image
                   : image_out.image;
        executor_->step("convert", [&] { to_image_->run(in.planes, to); });
        in = View<const std::uint8_t, space>(to);
    }
    if (chain_)
        chain_->run(in.image, joins_original_ ? original_image<space>(original) : in.image, image_out.image);
    else if (in.image.data() != image_out.image.data())
        copy_picture(in, image_out);
    if (to_sink_) {
        const View<const std::uint8_t, space> filtered = image_out.image;
        executor_->step("convert", [&] { to_sink_->run(filtered, out.planes); });
    }
}

void FramePlan::copy_picture(const PictureView<const std::uint8_t, MemorySpace::host>& in,
                             const PictureView<std::uint8_t, MemorySpace::host>& out) const {
    if (!in.has_planes()) return copy(in.image, out.image);
    for (int plane = 0; plane < in.planes.info.planes(); ++plane)
        copy(image_of_plane(in.planes, plane), image_of_plane(out.planes, plane));
}

void FramePlan::copy_picture(const PictureView<const std::uint8_t, MemorySpace::device>& in,
                             const PictureView<std::uint8_t, MemorySpace::device>& out) const {
    if (!in.has_planes()) return cuda::copy(in.image, out.image, executor_->stream());
    for (int plane = 0; plane < in.planes.info.planes(); ++plane)
        cuda::copy(image_of_plane(in.planes, plane), image_of_plane(out.planes, plane), executor_->stream());
}

// Converts an image to planes of `format`.
template <MemorySpace space>
PictureView<const std::uint8_t, space> FramePlan::planes_of(View<const std::uint8_t, space> image,
                                                            const FrameFormat& format,
                                                            std::optional<ImageToYuv>& to_planes, WorkPicture& memory) {
    if (!to_planes) to_planes.emplace(*format.planes(), image.shape().channels, *executor_);
    const auto planes = made<space>(memory, format, *executor_).template planes<space>();
    executor_->step("convert", [&] { to_planes->run(image, planes); });
    return YuvView<const std::uint8_t, space>(planes);
}

// Converts the chain's original for filters of images.
template <MemorySpace space>
View<const std::uint8_t, space> FramePlan::original_image(const PictureView<const std::uint8_t, space>& original) {
    if (!original.has_planes()) return original.image;
    if (!original_to_image_) original_to_image_.emplace(*original_.planes(), 3, *executor_);
    const auto image = made<space>(original_image_, FrameFormat(original_to_image_->image_shape()), *executor_)
                           .template view<space>()
                           .image;
    executor_->step("convert", [&] { original_to_image_->run(original.planes, image); });
    return image;
}

}  // namespace framewire
