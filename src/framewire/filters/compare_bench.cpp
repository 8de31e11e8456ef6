#include "framewire/filters/compare.hpp"
#include "framewire/filters/pointwise_ref.hpp"
#include "kit/frame_bench.hpp"
#include "suites.hpp"

namespace framewire::bench {
namespace {

void bench_compare(Session& session) {
    const auto info = compare_info();
    struct Case {
        const char* name;
        CompareMode mode;
    };
    for (const auto& one :
         {Case{"left", CompareMode::left}, Case{"below", CompareMode::below}, Case{"split", CompareMode::split}})
        bench_frames(session, {info, one.name, with_defaults(info, {{"mode", one.name}}), [=](const auto& images) {
                                   compare_reference({one.mode}, images.in, images.original, images.out);
                               }});
}

const SuiteEntry compare_suite{"operations", "compare", bench_compare};

}  // namespace
}  // namespace framewire::bench
