#include "framewire/filters/deinterlace.hpp"
#include "framewire/filters/deinterlace_ref.hpp"
#include "kit/frame_bench.hpp"
#include "suites.hpp"

namespace framewire::bench {
namespace {

void bench_deinterlace(Session& session) {
    const auto info = deinterlace_info();
    struct Case {
        const char* name;
        DeinterlaceMethod method;
    };
    for (const auto& one : {Case{"adaptive", DeinterlaceMethod::adaptive}, Case{"linear", DeinterlaceMethod::linear},
                            Case{"blend", DeinterlaceMethod::blend}})
        bench_frames(session, {info, one.name, with_defaults(info, {{"method", one.name}}), [=](const auto& images) {
                                   deinterlace_reference({.method = one.method}, images.in, images.previous, images.out,
                                                         false);
                               }});
}

const SuiteEntry deinterlace_suite{"operations", "deinterlace", bench_deinterlace};

}  // namespace
}  // namespace framewire::bench
