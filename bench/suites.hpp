#pragma once

#include "kit/session.hpp"

namespace framewire::bench {

// One function a suite, in the room of what it measures (x_bench.cpp).

void bench_binarize(Session& session);
void bench_gaussian(Session& session);
void bench_gray(Session& session);
void bench_mean(Session& session);
void bench_median(Session& session);
void bench_mosaic(Session& session);
void bench_pointwise(Session& session);
void bench_text(Session& session);
void bench_delta(Session& session);

/// Every suite by name.
struct Suite {
    const char* name;
    void (*run)(Session&);
};
inline constexpr Suite suites[] = {
    {"binarize", bench_binarize},
    {"gaussian", bench_gaussian},
    {"gray", bench_gray},
    {"mean", bench_mean},
    {"median", bench_median},
    {"mosaic", bench_mosaic},
    {"pointwise", bench_pointwise},
    {"text", bench_text},
    {"delta", bench_delta},
};

}  // namespace framewire::bench
