#include "framewire/detect/components_bench_bench.hpp"
#include "kit/masks.hpp"
#include "ladders/moving_objects/report_labelling.hpp"
#include "ladders/pictures/write_picture.hpp"
#include "suites.hpp"

#include <fmt/format.h>

#include <string>

namespace framewire::bench {
namespace component_counts {

using namespace components_bench;

// Measures the moving-object report's figure 14: the time by number of components.
void bench_component_counts(Session& session) {
    const std::string suite = "ladders/component-counts";
    const int step = session.check_only() ? 3600 : session.quick() ? 1200 : 200;
    for (int count = 0; count <= 3600; count += step) {
        const Case bench{suite.c_str(), fmt::format("{} squares", count), {1, 2048, 2048, 1}, [=](auto masks) {
                             kit::fill_squares(masks, count, 1);
                         }};
        const Masks masks(bench);
        if (count % 1200 == 0 && !session.pictures().empty())  // figure 13
            write_picture(session, fmt::format("squares-{}", count), masks.images.view().frames(0, 1));
        moving_objects::bench_report_labelling(session, suite, count, masks.images.view(), masks.labels);
        bench_cpu(session, bench, masks);
        if (!session.gpu()) continue;
        for (const int frames : {1, gpu_batch}) bench_gpu(session, bench, masks, frames, false);
    }
}

const SuiteEntry component_counts_suite{"ladders", "component-counts", bench_component_counts};

}  // namespace component_counts
}  // namespace framewire::bench
