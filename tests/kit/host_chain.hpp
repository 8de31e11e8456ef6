#pragma once

#include "framewire/plan/chain_plan.hpp"

#include <cstdint>

namespace framewire::kit {

/// Runs a chain on host images one by one, on any backend.
class HostChain {
public:
    HostChain(const Chain& chain, const Shape& shape, Executor& executor)
        : plan_(chain, shape, executor), in_(shape, executor), out_(plan_.output_shape(), executor) {}

    ChainPlan& plan() { return plan_; }
    const Shape& output_shape() const { return plan_.output_shape(); }

    void process(HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
        copy(in, in_.host());
        in_.upload();
        plan_.run(in_, out_);
        out_.download();
        out_.wait();
        copy(out_.host(), out);
    }

private:
    ChainPlan plan_;
    Frame in_, out_;
};

}  // namespace framewire::kit
