// fw_chain.

#include "framewire/plan/chain.hpp"
#include "framewire/c/boundary.hpp"
#include "framewire/c/image.hpp"
#include "framewire/plan/frame_plan.hpp"

#include <fmt/format.h>

#include <memory>
#include <string>

using namespace framewire;

namespace {

// Parses a chain whose results are as many frames as it gets.
Chain parse(const char* text) {
    auto chain = parse_chain(&c::at(text, "text"));
    if (const auto split = split_at_rate(chain); split.rate)
        fail(ErrorCode::usage,
             "{} changes the number of frames, but a chain of this interface returns a frame for each one it gets; "
             "allowed: all filters but fps",
             split.rate_text);
    return chain;
}

}  // namespace

struct fw_chain {
    fw_chain(const char* text, const fw_image* image, const fw_settings* settings)
        : chain(parse(text)),
          format(c::format_from(c::take(c::at(image, "image"), "image"), "image")),
          worker(settings) {
        reset();
    }
    ~fw_chain() {
        try {
            worker.executor().synchronize();
        } catch (const Error&) {
            // the caller's next CUDA call reports it
        }
    }

    bool uses_gpu() const { return worker.uses_gpu(); }

    void reset() { plan = std::make_unique<FramePlan>(chain, format, worker.executor()); }

    void run(const fw_image* in, const fw_image* out, void* stream) {
        const c::CallerImage from(in, plan->source(), "in"), to(out, plan->result(), "out");
        from.require_apart(to);
        from.require_reach(worker.executor());
        to.require_reach(worker.executor());
        const bool device = from.on_device() || to.on_device(), host = !from.on_device() || !to.on_device();
        worker.executor().in_its_space([&]<MemorySpace space>() {
            worker.run(stream, device, host, [&] {
                const auto source = staged_in.read<space>(from, plan->source(), worker.executor());
                const auto result = staged_out.write<space>(to, plan->result(), worker.executor());
                plan->run(source, source, result);
                staged_out.deliver<space>(to, result, worker.executor());
            });
        });
    }

    Chain chain;
    FrameFormat format;
    c::Worker worker;
    std::unique_ptr<FramePlan> plan;
    c::Staging staged_in, staged_out;
    std::string explanation;
};

fw_status fw_chain_check(const char* text) {
    return c::guard(__func__, [&] { parse(text); });
}

fw_status fw_chain_create(fw_chain** chain, const char* text, const fw_image* image, const fw_settings* settings) {
    return c::create(__func__, chain, "chain", [&] { return std::make_unique<fw_chain>(text, image, settings); });
}

void fw_chain_destroy(fw_chain* chain) { c::destroy(__func__, chain); }

fw_status fw_chain_output(const fw_chain* chain, fw_image* image) {
    return c::guard(__func__, [&] { c::put_format(c::at(chain, "chain").plan->result(), c::at(image, "image")); });
}

fw_status fw_chain_set_time(fw_chain* chain, int64_t index, double seconds) {
    return c::guard(__func__, [&] {
        auto& plan = *c::at(chain, "chain").plan;
        c::check_range<int64_t>(index, 0, INT64_MAX, "index");
        c::check_range(seconds, 0.0, 1e9, "seconds");
        plan.set_frame_values({.frame = index, .time_s = seconds});
    });
}

fw_status fw_chain_run(fw_chain* chain, const fw_image* in, const fw_image* out, void* stream) {
    return c::guard(__func__, [&] { c::at(chain, "chain").run(in, out, stream); });
}

fw_status fw_chain_reset(fw_chain* chain) {
    return c::guard(__func__, [&] {
        auto& reset = c::at(chain, "chain");
        reset.worker.executor().synchronize();
        reset.reset();
    });
}

fw_status fw_chain_explain(fw_chain* chain, const char** text) {
    return c::guard(__func__, [&] {
        c::at(text, "text") = nullptr;
        auto& explained = c::at(chain, "chain");
        explained.explanation.clear();
        for (const auto& step : explained.plan->steps())
            explained.explanation += fmt::format("{}: {}{}\n", step.operation, step.format,
                                                 step.reason.empty() ? "" : fmt::format(" ({})", step.reason));
        *text = explained.explanation.c_str();
    });
}
