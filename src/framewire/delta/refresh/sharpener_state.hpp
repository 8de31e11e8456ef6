#pragma once

#include "framewire/delta/refresh/gpu/rest_on_gpu.hpp"
#include "framewire/delta/refresh/host/rest_on_host.hpp"
#include "framewire/delta/refresh/rest_budget.hpp"
#include "framewire/delta/refresh/rest_sharpener.hpp"

#include <optional>

namespace framewire::delta {

// State of RestSharpener, shared by the sources of both backends.
struct RestSharpener::State {
    Shape shape;
    RestBudget budget;
    std::optional<RestOnHost> on_host;  // exactly one of the two has a value
    std::optional<RestOnGpu> on_gpu;

    // Makes the schedule; the constructor of RestSharpener adds the backend.
    State(const Shape& of, double seconds, int threshold) : shape(of), budget(of, seconds, threshold) {}

    // Validates the arguments and returns the parameters for the frame.
    template <class Frame, class Reference>
    RestTurn begin(const Frame& camera, const Reference& reference, const Moment& moment, SharperStep& step) {
        validate(camera, shape, "the frame that R is sharpened by");
        validate(reference, shape, "the picture to sharpen");
        // Whatever happens next, an old refinement must not be packed again.
        step.clear();
        return budget.next(moment.seconds, moment.within, moment.room_bytes, moment.stream_bytes);
    }
};

}  // namespace framewire::delta
