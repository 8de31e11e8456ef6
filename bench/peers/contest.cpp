#include "peers/contest.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/time.hpp"
#include "stream/film.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace framewire::bench {

std::string agreement(HostView<const std::uint8_t> got, HostView<const std::uint8_t> want, const Tolerance& tolerance,
                      const std::string& what) {
    const auto& shape = want.shape();
    if (got.shape() != shape)
        fail(ErrorCode::internal, "{}: the result is {} instead of {}; not timed", what, to_string(got.shape()),
             to_string(shape));
    const int margin = tolerance.margin_px;
    int most = 0;
    double squares = 0, count = 0;
    for (int y = margin; y < shape.height - margin; ++y)
        for (int x = margin * shape.channels; x < (shape.width - margin) * shape.channels; ++x, ++count) {
            const int error = std::abs(got.row(0, y)[x] - want.row(0, y)[x]);
            most = std::max(most, error);
            squares += error * error;
        }
    if (count == 0) fail(ErrorCode::internal, "{}: nothing is left to compare inside the margin", what);
    if (most == 0) return "equal";
    const double db = 10 * std::log10(255.0 * 255.0 * count / squares);
    if (most > tolerance.most && !(tolerance.least_db > 0 && db >= tolerance.least_db))
        fail(ErrorCode::internal, "{}: bytes are off by up to {}, {:.1f} dB; allowed: {} or {:.0f} dB; not timed", what,
             most, db, tolerance.most, tolerance.least_db);
    return fmt::format("up to {} off, {:.1f} dB", most, db);
}

std::vector<Row> agreeing_rows(Session& session, const std::string& operation, const Shape& frame, double bytes,
                               std::vector<Contestant>& contestants) {
    std::vector<Row> rows;
    std::vector<Contestant> agreeing;
    for (auto& contestant : contestants)
        session.attempt(fmt::format("{}, {}", operation, contestant.runner), [&] {
            Row row;
            row.suite = "peers";
            row.operation = operation;
            row.runner = contestant.runner;
            row.bytes = bytes;
            row.details = {{"size", fmt::format("{}x{}", frame.width, frame.height)}};
            if (contestant.agreement) row.details["agrees"] = contestant.agreement();
            row.note = contestant.why;
            rows.push_back(std::move(row));
            agreeing.push_back(std::move(contestant));
        });
    contestants = std::move(agreeing);
    return rows;
}

void add_contest(Session& session, std::vector<Row> rows) {
    if (rows.empty()) return;
    const auto peer = std::min_element(rows.begin() + 1, rows.end(), [](const Row& a, const Row& b) {
        return a.timing.median_us < b.timing.median_us;
    });
    if (peer != rows.end()) rows.front().to_peer = peer->timing.median_us / rows.front().timing.median_us;
    for (auto& row : rows) session.add(std::move(row));
}

void hold_contest(Session& session, const Setting& setting, const std::string& operation, double bytes,
                  std::vector<Contestant> contestants) {
    constexpr double hot_us =
        2000;  // per sample: consecutive runs, so that the first one with cold caches has little weight
    constexpr int most_in_row = 16;
    constexpr int checked_turns = 2;
    for (int turn = 0; turn < checked_turns; ++turn)
        for (const auto& contestant : contestants) contestant.run(turn);
    auto rows = agreeing_rows(session, operation, setting.pictures->frame(), bytes, contestants);
    std::vector<int> turns(contestants.size(), checked_turns), in_row(contestants.size(), 1);
    std::vector<std::vector<double>> cpu_us(contestants.size());
    std::vector<std::function<void()>> candidates;
    for (std::size_t index = 0; index < contestants.size(); ++index) {
        rows[index].details.insert({{"content", to_string(setting.pictures->content)},
                                    {"cache", setting.cold ? "cold" : "hot"},
                                    {"batch", "1"},
                                    {"transfers", "none"}});
        if (!setting.cold && !session.check_only()) {
            const auto begin = Clock::now();
            contestants[index].run(turns[index]++);
            const double us = 1000 * milliseconds_since(begin);
            in_row[index] = std::clamp(static_cast<int>(hot_us / std::max(us, 1.0)), 1, most_in_row);
        }
        candidates.push_back([&, index] {
            const double begin_ms = processor_ms();
            for (int run = 0; run < in_row[index]; ++run) contestants[index].run(turns[index]++);
            cpu_us[index].push_back(1000 * (processor_ms() - begin_ms) / in_row[index]);
        });
    }
    const auto timings = session.time_cpu(candidates);
    for (std::size_t index = 0; index < rows.size(); ++index) {
        auto& timing = rows[index].timing = timings[index];
        for (auto* us :
             {&timing.median_us, &timing.low_us, &timing.high_us, &timing.least_us, &timing.mean_us, &timing.most_us})
            *us /= in_row[index];
        rows[index].cpu_us = summarize(cpu_us[index]).median_us;
    }
    add_contest(session, std::move(rows));
}

}  // namespace framewire::bench
