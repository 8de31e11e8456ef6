#pragma once

#include "kit/session.hpp"

namespace framewire::bench {

// One function a suite, in the room of what it measures (x_bench.cpp).

void bench_binarize(Session& session);
void bench_colour(Session& session);
void bench_component_counts(Session& session);
void bench_components(Session& session);
void bench_foreground(Session& session);
void bench_gaussian(Session& session);
void bench_gray(Session& session);
void bench_hog(Session& session);
void bench_hog_streams(Session& session);
void bench_jobs(Session& session);
void bench_masks(Session& session);
void bench_mean(Session& session);
void bench_median(Session& session);
void bench_mixture(Session& session);
void bench_morphology(Session& session);
void bench_mosaic(Session& session);
void bench_people(Session& session);
void bench_pointwise(Session& session);
void bench_text(Session& session);
void bench_detector(Session& session);
void bench_delta(Session& session);

/// Every suite by name.
struct Suite {
    const char* name;
    void (*run)(Session&);
};
inline constexpr Suite suites[] = {
    {"binarize", bench_binarize},
    {"colour", bench_colour},
    {"components", bench_components},
    {"component-counts", bench_component_counts},
    {"foreground", bench_foreground},
    {"gaussian", bench_gaussian},
    {"gray", bench_gray},
    {"hog", bench_hog},
    {"hog-streams", bench_hog_streams},
    {"jobs", bench_jobs},
    {"masks", bench_masks},
    {"mean", bench_mean},
    {"median", bench_median},
    {"mixture", bench_mixture},
    {"morphology", bench_morphology},
    {"mosaic", bench_mosaic},
    {"people", bench_people},
    {"pointwise", bench_pointwise},
    {"text", bench_text},
    {"detector", bench_detector},
    {"delta", bench_delta},
};

}  // namespace framewire::bench
