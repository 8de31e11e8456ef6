#pragma once

#include "framewire/delta/refresh/gpu/rest_on_gpu.hpp"
#include "framewire/delta/refresh/host/rest_on_host.hpp"
#include "framewire/delta/refresh/rest_budget.hpp"
#include "framewire/delta/refresh/rest_sharpener.hpp"

#include <optional>

namespace framewire::delta {

struct RestSharpener::State {
    Shape shape;
    RestBudget budget;
    std::optional<RestOnHost> on_host;  // one of the two
    std::optional<RestOnGpu> on_gpu;

    State(const Shape& of, double seconds, int threshold) : shape(of), budget(of, seconds, threshold) {}

    template <class Frame, class Reference>
    RestTurn begin(const Frame& camera, const Reference& reference, const Moment& moment, SharperStep& step) {
        validate(camera, shape, "the frame that R is sharpened by");
        validate(reference, shape, "the picture to sharpen");
        step.clear();
        return budget.next(moment.seconds, moment.within, moment.room_bytes, moment.stream_bytes);
    }
};

}  // namespace framewire::delta
