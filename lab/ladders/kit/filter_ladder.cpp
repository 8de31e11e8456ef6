#include "ladders/kit/filter_ladder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace framewire::bench {
namespace filter_ladder {

constexpr std::size_t bytes_behind = 64;

// Bytes of the frames used in turn, more than a last-level cache holds.
constexpr double rotation_bytes = 200e6;
constexpr int most_frames = 16;

std::size_t room_for(const Shape& shape) { return static_cast<std::size_t>(shape.bytes()) + bytes_behind; }

}  // namespace filter_ladder

ImageCheck image_is(HostView<const std::uint8_t> want) {
    return [=](HostView<const std::uint8_t> got, const std::string& operation) {
        Session::require_equal(got, want, operation);
    };
}

FilterLadder::FilterLadder(Session& session, std::string name, HostView<const std::uint8_t> in, const Shape& out_shape,
                           std::map<std::string, std::string> details)
    : session_(&session),
      name_(std::move(name)),
      in_(in),
      out_shape_(out_shape),
      details_(std::move(details)),
      bytes_(static_cast<double>(in.shape().bytes() + out_shape.bytes())) {
    details_.emplace("size", fmt::format("{}x{}", in.shape().width, in.shape().height));
    if (!session.gpu()) return;
    device_in_ = cuda::DeviceBuffer(filter_ladder::room_for(in.shape()));
    device_out_ = cuda::DeviceBuffer(filter_ladder::room_for(out_shape));
    pinned_in_ = HostImage(in.shape(), cuda::pinned_memory());
    pinned_out_ = HostImage(out_shape, cuda::pinned_memory());
    copy(in, pinned_in_.view());
    cuda::upload(pinned_in_.view().data(), device_in_.data(), static_cast<std::size_t>(in.shape().bytes()),
                 session.gpu()->stream());
    session.gpu()->stream().synchronize();
}

Timing FilterLadder::check_and_time(const CpuLoop& run, const ImageCheck& check, const std::string& operation) {
    const int frames = session_->check_only() ? 1
                                              : std::clamp(static_cast<int>(filter_ladder::rotation_bytes / bytes_), 1,
                                                           filter_ladder::most_frames);
    HostImage in(in_.shape().with_frames(frames)), out(out_shape_.with_frames(frames));
    for (int frame = 0; frame < frames; ++frame) copy(in_, in.view().frames(frame, 1));
    int turn = 0;
    const auto next = [&] {
        run(in.view().frames(turn, 1), out.view().frames(turn, 1));
        turn = (turn + 1) % frames;
    };
    for (int frame = 0; frame < frames; ++frame) next();
    for (int frame = 0; frame < frames; ++frame) check(out.view().frames(frame, 1), operation);
    return session_->time_cpu({next})[0];
}

void FilterLadder::cpu(const LadderVariant& variant, const CpuLoop& loop, const ImageCheck& check) {
    if (session_->once()) return;
    session_->attempt(name_ + ": " + variant.operation, [&] {
        add(variant, "cpu, 1 thread", "", check_and_time(loop, check, variant.operation), bytes_, true);
    });
}

void FilterLadder::cpu_step(const LadderVariant& variant, const std::function<void()>& loop,
                            const std::function<void()>& check) {
    if (session_->once()) return;
    session_->attempt(name_ + ": " + variant.operation, [&] {
        loop();
        check();
        add(variant, "cpu, 1 thread", "", session_->time_cpu({loop})[0], 0, true);
    });
}

void FilterLadder::gpu(const LadderVariant& variant, const std::vector<LadderStep>& steps, const ImageCheck& check,
                       const std::string& reported_step) {
    if (!session_->gpu()) return;
    session_->attempt(name_ + ": " + variant.operation,
                      [&] { gpu_rows(variant, "cuda", steps, check, reported_step); });
}

void FilterLadder::gpu_rows(const LadderVariant& variant, const char* runner, const std::vector<LadderStep>& steps,
                            const ImageCheck& check, const std::string& reported_step) {
    const auto& stream = session_->gpu()->stream();
    const auto in_bytes = static_cast<std::size_t>(in_.shape().bytes());
    const auto out_bytes = static_cast<std::size_t>(out_shape_.bytes());
    HostImage pageable_in, pageable_out;
    if (variant.pageable) {
        pageable_in = HostImage(in_.shape());
        pageable_out = HostImage(out_shape_);
        copy(in_, pageable_in.view());
    }
    const auto& from = variant.pageable ? pageable_in : pinned_in_;
    auto& to = variant.pageable ? pageable_out : pinned_out_;
    const auto wait = [&] {
        if (variant.pageable) stream.synchronize();
    };
    const auto whole = [&](int) {
        cuda::upload(from.view().data(), device_in_.data(), in_bytes, stream);
        wait();
        for (const auto& step : steps) {
            step.queue();
            wait();
        }
        cuda::download(device_out_.data(), to.view().data(), out_bytes, stream);
        stream.synchronize();
    };
    cuda::fill(device_out_.data(), 0x5A, out_bytes, stream);
    whole(0);
    check(to.view(), variant.operation);
    for (std::size_t at = 0; at < steps.size(); ++at) {
        const auto before = [&](int) {
            for (std::size_t earlier = 0; earlier < at; ++earlier) steps[earlier].queue();
        };
        const auto timing = session_->time_launches([&](int) { steps[at].queue(); }, before);
        // If there are several steps, none of them moves all bytes of the job.
        add(variant, runner, steps[at].name, timing, steps.size() == 1 ? bytes_ : 0, reported_step == steps[at].name);
    }
    add(variant, runner, "whole", session_->time_host(whole), bytes_, reported_step == "whole", "cuda up");
    check(to.view(), variant.operation);
}

void FilterLadder::framewire(const LadderVariant& variant, const FilterInfo& info, const ParameterValues& values,
                             const ImageCheck& check) {
    const auto on_cpu = [&] {
        const auto filter = info.make(values, in_.shape(), session_->cpu());
        const auto run = [&](HostView<const std::uint8_t> in, HostView<std::uint8_t> out) {
            filter->run(FilterImages<MemorySpace::host>{in, {}, out});
        };
        auto reported = variant;
        reported.details["threads"] = std::to_string(session_->threads());
        add(reported, "framewire cpu", "", check_and_time(run, check, variant.operation), bytes_, false);
    };
    if (!session_->once()) session_->attempt(name_ + ": framewire on the CPU, " + variant.operation, on_cpu);
    if (!session_->gpu()) return;
    session_->attempt(name_ + ": framewire on the GPU, " + variant.operation, [&] {
        const auto filter = info.make(values, in_.shape(), *session_->gpu());
        const FilterImages<MemorySpace::device> images{
            {device_in_.data(), in_.shape()}, {}, {device_out_.data(), out_shape_}};
        gpu_rows(variant, "framewire cuda", {{"kernel", [&] { filter->run(images); }}}, check, "");
    });
}

void FilterLadder::transfers() {
    if (!session_->gpu()) return;
    const auto& stream = session_->gpu()->stream();
    const auto in_bytes = static_cast<std::size_t>(in_.shape().bytes());
    const auto out_bytes = static_cast<std::size_t>(out_shape_.bytes());
    const LadderVariant variant{.operation = "transfer of a frame"};
    const auto up = session_->time_launches(
        [&](int) { cuda::upload(pinned_in_.view().data(), device_in_.data(), in_bytes, stream); });
    add(variant, "cuda", "HtoD", up, static_cast<double>(in_bytes), false, "cuda up");
    const auto down = session_->time_launches(
        [&](int) { cuda::download(device_out_.data(), pinned_out_.view().data(), out_bytes, stream); });
    add(variant, "cuda", "DtoH", down, static_cast<double>(out_bytes), false, "cuda down");
}

void FilterLadder::add(const LadderVariant& variant, const char* runner, const std::string& step, const Timing& timing,
                       double bytes, bool is_reported, const char* limit) {
    Row row;
    row.suite = "ladders/" + name_;
    row.operation = variant.operation;
    row.runner = runner;
    row.timing = timing;
    row.bytes = bytes;
    if (is_reported) row.reported = variant.reported;
    row.details = details_;
    row.details.insert(variant.details.begin(), variant.details.end());
    if (!step.empty()) row.details["step"] = step;
    row.limit = limit;
    row.note = variant.note;
    session_->add(std::move(row));
}

}  // namespace framewire::bench
