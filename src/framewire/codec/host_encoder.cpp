#include "framewire/codec/host_encoder.hpp"
#include "framewire/codec/refinement_formulas.hpp"

#include <cstddef>

namespace framewire::codec {
namespace {

std::variant<ExactPacker, BoundedPacker> packer_for(const EncoderParameters& parameters, const Shape& shape,
                                                    const ThreadPool& pool) {
    validate(parameters, "the encoder");
    if (parameters.mode == Mode::bounded) return BoundedPacker(shape, parameters.effort, &pool);
    return ExactPacker(shape, &pool);
}

}  // namespace

HostEncoder::HostEncoder(const EncoderParameters& parameters, const Shape& shape, const ThreadPool& pool, bool refines)
    : threshold_(parameters.effective_threshold()), packer_(packer_for(parameters, shape, pool)), reference_(shape) {
    if (refines && parameters.mode != Mode::bounded)
        changed_per_cell_.resize(static_cast<std::size_t>(CellGrid(shape).count()));
}

EncodedFrame HostEncoder::encode(HostView<const std::uint8_t> camera, PackAs as, std::optional<int> threshold) {
    const auto reference = reference_.view();
    validate(camera, reference.shape(), "the frame to encode");
    const int within = threshold.value_or(threshold_);
    if (as == PackAs::delta_frame && !started_) as = PackAs::keyframe;
    auto* const exact = std::get_if<ExactPacker>(&packer_);
    packed_.clear();
    EncodedFrame encoded;
    switch (as) {
        case PackAs::nothing:
            if (exact && started_) {
                encoded.found = exact->update(camera, reference, within, changed_);
                encoded.changed = &changed_;
            } else {
                copy(camera, reference);
                encoded.whole = true;
            }
            break;
        case PackAs::keyframe:
            encoded.found = std::visit(
                [&](auto& packer) { return packer.pack_first(camera, reference, within, packed_); }, packer_);
            encoded.whole = true;
            break;
        case PackAs::delta_frame:
            encoded.found = exact ? exact->pack_step(camera, reference, within, packed_, changed_per_cell_)
                                  : std::get<BoundedPacker>(packer_).pack_step(camera, reference, within, packed_);
            break;
    }
    started_ = true;
    encoded.packed = packed_;
    return encoded;
}

void HostEncoder::set_effort(int effort) {
    if (auto* const bounded = std::get_if<BoundedPacker>(&packer_)) bounded->set_effort(effort);
}

void HostEncoder::refine(HostView<const std::uint8_t> camera, EncodedFrame& encoded, Refiner& refiner,
                         const Refiner::Moment& moment, RefinementDelta& step) {
    if (encoded.whole || encoded.packed.empty())
        refiner.begin_again();
    else if (const auto* const bounded = std::get_if<BoundedPacker>(&packer_))
        refiner.take_step(bounded->blocks());
    else
        refiner.take_cells(changed_per_cell_, encoded.found.count);
    refiner.refine(camera, reference_.view(), moment, step);
    step.add_errors_to(encoded.found);
}

}  // namespace framewire::codec
