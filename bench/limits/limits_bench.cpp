#include "limits/limits.hpp"
#include "suites.hpp"

#include <fmt/format.h>

namespace framewire::bench {

Timing divided(const Timing& timing, double count) {
    return {timing.median_us / count, timing.low_us / count,  timing.high_us / count,
            timing.least_us / count,  timing.mean_us / count, timing.most_us / count};
}

std::vector<Limit> limits(const Session& session) {
    auto all = cpu_limits(session);
    const auto append = [&](std::vector<Limit> more) {
        all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
    };
    append(file_limits(session));
    if (session.has_gpu()) {
        append(gpu_limits());
        append(gpu_costs());
    }
    return all;
}

namespace {

void bench_limits(Session& session) {
    for (const auto& limit : limits(session))
        session.attempt(limit.name, [&] {
            const auto& measured = session.measured_limit(limit.name);
            session.add({.suite = "limits",
                         .operation = limit.name,
                         .runner = limit.runner,
                         .timing = measured.timing,
                         .bytes = limit.bytes,
                         .to_peer = {},
                         .details = limit.details});
        });
}

const SuiteEntry limits_suite{"limits", "machine", bench_limits};

}  // namespace
}  // namespace framewire::bench
