#include "framewire/codec/delta.hpp"
#include "framewire/codec/encoder_ref.hpp"
#include "framewire/codec/refinement.hpp"
#include "framewire/cuda/backend_buffer.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

namespace framewire::bench {
namespace {

constexpr int threshold = 20, frames_each = 30;
constexpr std::size_t steps_under_way = 4;

// Frames of a scene with noise and moving blobs, which are used cyclically.
struct Film {
    std::vector<HostImage> frames;

    explicit Film(double share) {
        for (std::uint32_t i = 0; i < 7; ++i) frames.emplace_back(bench_frame);
        fill_scene(frames[0].view(), 3);
        for (std::uint32_t i = 1; i < frames.size(); ++i)
            fill_later(std::as_const(frames[0]).view(), frames[i].view(), share, false, i);
    }
};

// A stream of the frames of a Film on one backend, with or without refinement.
template <MemorySpace space>
class Stream {
public:
    Stream(const Film& film, bool refined, Executor& executor)
        : executor_(&executor),
          refined_(refined),
          reference_(bench_frame, executor),
          encoder_({.threshold = threshold}, bench_frame, executor),
          changes_(bench_frame),
          refiner_(bench_frame, 1, threshold, executor) {
        for (const auto& frame : film.frames) frames_.emplace_back(bench_frame, executor).put(frame.view());
        reference_.put(film.frames[0].view());
        for (std::size_t i = 0; i < steps_under_way; ++i) steps_.emplace_back(bench_frame, executor);
    }

    void run() {
        for (int frame = 0; frame < frames_each; ++frame) next();
        executor_->synchronize();
    }
    HostView<const std::uint8_t> reference() {
        if constexpr (space == MemorySpace::device) {
            cuda::download(std::as_const(reference_).template view<space>(), seen_.view(), executor_->stream());
            executor_->synchronize();
            return seen_.view();
        } else {
            return reference_.template view<space>();
        }
    }

private:
    void next() {
        const auto camera = std::as_const(frames_[number_ % frames_.size()]).template view<space>();
        const auto reference = reference_.template view<space>();
        encoder_.encode(camera, reference, changes_.view());
        ++number_;
        if (!refined_) return;
        auto& step = steps_[number_ % steps_under_way];
        step.wait();
        if (!step.empty()) refiner_.took(step, step.count());
        if constexpr (space == MemorySpace::host)
            refiner_.take_cells(codec::count_cells_reference(changes_.view(), bench_frame),
                                changes_.view().summaries[0].count);
        else
            refiner_.take_step(changes_.view());
        refiner_.refine(camera, reference, {static_cast<double>(number_) / 30, threshold, 1e9}, step);
    }

    Executor* executor_;
    bool refined_;
    std::vector<BackendImage> frames_;
    BackendImage reference_;
    codec::Encoder encoder_;
    codec::ChangesBuffer<space> changes_;
    codec::Refiner refiner_;
    std::vector<codec::RefinementDelta> steps_;
    HostImage seen_{bench_frame};
    std::size_t number_ = 0;
};

void bench_share(Session& session, double share) {
    const Film film(share);
    const auto bench_on = [&](Executor& executor) {
        executor.in_its_space([&]<MemorySpace space>() {
            const auto operation = fmt::format("encode, {:.0f} % in blobs", share * 100);
            Stream<space> plain(film, false, executor), refined(film, true, executor);
            Stream<MemorySpace::host> want(film, true, session.cpu());
            for (int second = 0; second < 3; ++second) {
                want.run();
                refined.run();
            }
            Session::require_equal(refined.reference(), want.reference(), operation);
            auto timings = session.time_cpu({[&] { plain.run(); }, [&] { refined.run(); }});
            const auto runner = fmt::format("framewire {}", to_string(executor.backend()));
            for (std::size_t i = 0; i < timings.size(); ++i) {
                for (auto* us : {&timings[i].median_us, &timings[i].low_us, &timings[i].high_us}) *us /= frames_each;
                session.add({"refresh", operation + (i ? ", and sharpen" : ""), runner, timings[i], 0, {}});
            }
        });
    };
    bench_on(session.cpu());
    if (session.gpu()) bench_on(*session.gpu());
}

void bench_refresh(Session& session) {
    for (const double share : {0.0, 0.02}) bench_share(session, share);
}

const SuiteEntry refresh_suite{"operations", "refresh", bench_refresh};

}  // namespace
}  // namespace framewire::bench
