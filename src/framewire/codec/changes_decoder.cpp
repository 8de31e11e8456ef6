#include "framewire/codec/changes_decoder.hpp"
#include "framewire/core/simd.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "framewire/codec/changes_decoder.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "framewire/codec/sub_block_contexts-inl.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

HWY_BEFORE_NAMESPACE();
// Decoder for the form "changes", pixel by pixel. A symbol's model depends on the symbols before it, so latency
// determines the speed. The decoder therefore looks up as much as possible in tables, computes beforehand what does not
// depend on the next symbol, and has a fast path (read_alike()) for the usual pixel of a moving object, in which all
// channels change in the same direction as in the pixels to the left and above.
namespace framewire::codec::HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Channels = hn::FixedTag<std::int16_t, vector_channels>;
using ChannelSteps = hn::VFromD<Channels>;

HWY_INLINE ChannelSteps channels_of(std::uint64_t steps) {
    return hn::BitCast(Channels(), hn::Set(hn::FixedTag<std::uint64_t, 1>(), steps));
}

/// Steps of the neighbours of a pixel, with 16 bits per channel as in ReadPixels.
struct StepsAround {
    std::uint64_t left, above, corner;
};

/// Expectation for the magnitudes of a pixel, used for all channels but the first.
struct Expected {
    alignas(8) std::int16_t magnitude[vector_channels];  ///< expected magnitude; if the previous channel goes in the
                                                         ///< same direction, without the steps of that channel
    alignas(8) std::int16_t first[vector_channels];  ///< first symbol of the model, for the smallest expected magnitude
};
/// Computes magnitude_context() for all channels at once, before the magnitude of the first one is known.
[[maybe_unused]] HWY_INLINE Expected expect(const PatternReading& pattern, const StepsAround& around) {
    const Channels d;
    const hn::Repartition<std::uint8_t, Channels> d8;
    const auto zero = hn::Zero(d);
    const auto number = [&](int value) HWY_ATTR { return hn::Set(d, static_cast<std::int16_t>(value)); };
    const auto order = hn::Load(d8, pattern.before);
    const auto of_before = [&](ChannelSteps of)
                               HWY_ATTR { return hn::BitCast(d, hn::TableLookupBytesOr0(hn::BitCast(d8, of), order)); };
    const step_vectors::Around<ChannelSteps> of{zero, channels_of(around.left), channels_of(around.above),
                                                channels_of(around.corner)};
    const auto down = hn::BroadcastSignBit(hn::Load(d, pattern.signs));
    const auto [expected, support] = step_vectors::expectation(
        d, down, of, {zero, of_before(of.left), of_before(of.above), zero}, hn::MaskFromVec(hn::Load(d, pattern.same)));
    constexpr auto& kind = step_models::magnitude;
    constexpr int fine = 60;
    Expected found;
    hn::Store(expected, d, found.magnitude);
    hn::Store(hn::Add(hn::Mul(support, number(3 * kind.symbols)), number(kind.at(fine))), d, found.first);
    return found;
}

/// Expectation for the magnitudes of a pixel whose channels all go in the same direction as those of the pixels to the
/// left and above; a simplified step_vectors::expectation(). Used for all channels but the first.
struct AlikeExpected {
    std::uint64_t more;    ///< amount to add to the magnitude of the previous channel, 16 bits per channel
    std::uint64_t models;  ///< number of the model in ReadingTables, minus other_channels, 16 bits per channel
};
/// Computes the expectation. `down`: -1 if the channels go down, else 0.
[[maybe_unused]] HWY_INLINE AlikeExpected expect_alike(const StepsAround& around, std::int16_t down) {
    const Channels d;
    const hn::Repartition<std::uint8_t, Channels> d8;
    HWY_ALIGN static constexpr std::uint8_t channel_before[8] = {2, 3, 128, 128, 0, 1, 128, 128};
    HWY_ALIGN static constexpr std::int16_t near[vector_channels] = {2, 2, 2, 2}, far[vector_channels] = {7, 7, 7, 7};
    const auto order = hn::Load(d8, channel_before);
    const auto less_before = [&](ChannelSteps of) HWY_ATTR {
        return hn::Sub(of, hn::BitCast(d, hn::TableLookupBytesOr0(hn::BitCast(d8, of), order)));
    };
    const auto left = less_before(channels_of(around.left)), above = less_before(channels_of(around.above));
    const auto signs = hn::Set(d, down), sum = hn::Sub(hn::Xor(hn::Add(left, above), signs), signs);
    const auto apart = hn::Abs(hn::Sub(left, above));
    const auto is_further = hn::Add(hn::VecFromMask(d, hn::Gt(apart, hn::Load(d, near))),
                                    hn::VecFromMask(d, hn::Gt(apart, hn::Load(d, far))));
    const auto half = hn::ShiftRight<1>(hn::Sub(sum, hn::BroadcastSignBit(sum)));
    const hn::FixedTag<std::uint64_t, 1> d64;
    return {hn::GetLane(hn::BitCast(d64, half)), hn::GetLane(hn::BitCast(d64, hn::Neg(is_further)))};
}

// Slow path of read_alike_magnitude(), for the few magnitudes that are not in its table. Not inlined, so that the
// values of the fast path stay in registers.
template <class Reader>
[[gnu::noinline]] typename Reader::Position read_other_magnitude(typename Reader::Position from,
                                                                 const StepModels& models, int model, int expected,
                                                                 int& magnitude) {
    Reader reader(from);
    constexpr auto& kind = step_models::magnitude;
    const int size = (expected > 1) + (expected > ReadingTables::small_magnitude);
    const int symbol = models.read(reader, ReadingTables::first(model) + size * kind.symbols, kind.symbols);
    const int bits = token_bits(symbol);
    magnitude = unfold(bits ? folded_of(symbol, static_cast<int>(reader.bits(bits))) : symbol, expected);
    return reader.position();
}
/// Reads a magnitude with one of the models of ReadingTables. If the magnitude is near the expected one, this takes a
/// table lookup instead of a search.
template <class Reader>
HWY_INLINE int read_alike_magnitude(Reader& reader, const StepModels& models, const ReadingTables& tables, int model,
                                    int expected) {
    constexpr auto places = rans::probability_one;
    const auto place = reader.place();
    const auto at = static_cast<unsigned>(model) * ReadingTables::guesses_each + (place >> ReadingTables::guess_shift);
    const auto guess = tables.alike[at];
    const auto offset = place - (guess & (places - 1)), count = guess >> rans::probability_bits & (places - 1);
    if (expected > ReadingTables::small_magnitude && offset < count) [[likely]] {
        reader.take_offset(offset, count);
        return expected + (static_cast<std::int32_t>(guess) >> (2 * rans::probability_bits));
    }
    int magnitude;
    reader.go_to(read_other_magnitude<Reader>(reader.position(), models, model, expected, magnitude));
    return magnitude;
}

/// Variant of read_magnitudes() for a pixel whose channels all go in the same direction, like those of the pixels to
/// the left and above. `down`: -1 if they go down, else 0. Sets `too_far` if a difference exceeds 255.
template <class Reader>
HWY_INLINE std::uint64_t read_alike(Reader& reader, const StepModels& models, const ReadingTables& tables,
                                    const StepsAround& around, int down, std::uint64_t threshold_of_each,
                                    std::uint8_t* pixel, bool& too_far) {
    const auto more = expect_alike(around, static_cast<std::int16_t>(down));
    const auto lane = [](std::uint64_t of, int channel) {
        return int{static_cast<std::int16_t>(of >> (16 * channel))};
    };
    const auto green = [&](std::uint64_t of) { return (lane(of, 1) ^ down) - down; };
    const int left = green(around.left), above = green(around.above), corner = green(around.corner);
    // Branchless, because it is unpredictable which of the two is larger.
    const auto if_below_0 = [](int of) { return of & of >> 31; };
    const int less = if_below_0(left - above), smaller = above + less, apart = left - above - 2 * less;
    const int straight = corner > 0 ? left + above - corner : (left + above) >> 1;
    const int beyond = straight - smaller, held = beyond - if_below_0(beyond);
    const int of_green = read_alike_magnitude(reader, models, tables, (apart > 3) + (apart > 15),
                                              smaller + apart + if_below_0(held - apart));
    const auto read_next = [&](int before, int channel) HWY_ATTR __attribute__((always_inline)) {
        return read_alike_magnitude(reader, models, tables, ReadingTables::other_channels + lane(more.models, channel),
                                    std::clamp(before + lane(more.more, channel), 1, max_steps));
    };
    const int of_blue = read_next(of_green, 0), of_red = read_next(of_blue, 2);
    const auto steps = static_cast<std::uint64_t>(of_blue) | static_cast<std::uint64_t>(of_green) << 16 |
                       static_cast<std::uint64_t>(of_red) << 32;
    const auto far = steps + threshold_of_each;
    too_far = (far & 0xff00ff00ff00) != 0;
    // No channel is 0, so adding 1 to a lane never carries into the next one.
    const auto all = static_cast<std::uint64_t>(std::int64_t{down}) & 0xffffffffffff, ones = all & 0x000100010001;
    const auto differences = (far ^ all) + ones;
    for (int channel = 0; channel < 3; ++channel)
        pixel[channel] = static_cast<std::uint8_t>(differences >> (16 * channel));
    return (steps ^ all) + ones;
}

// In WebAssembly, computing one channel after the other takes a quarter less time per block than a vector of all
// channels.
constexpr bool channel_by_channel = HWY_TARGET == HWY_WASM;

/// Reads the magnitudes that follow a pixel's pattern. Writes the differences to `pixel`, adds their number to
/// `found.count`, and returns the steps. Sets `too_far` if a difference exceeds 255.
template <int channels, class Reader>
HWY_INLINE std::uint64_t read_magnitudes(Reader& reader, const StepModels& models, const PatternReading& pattern,
                                         const StepsAround& around, int threshold, std::uint8_t* pixel,
                                         ChangesDecoder::Found& found, bool& too_far) {
    Expected expected;
    if constexpr (!channel_by_channel) expected = expect(pattern, around);
    std::uint64_t steps = 0;
    int before = 0;                              // magnitude of the previous channel
    int channel_before = -1, signed_before = 0;  // previous channel, and its steps
    const auto read = [&](auto order) HWY_ATTR __attribute__((always_inline)) {
        constexpr auto channel = static_cast<std::size_t>(channels == 1 ? 0 : channel_order[order]);
        const int sign = pattern.signs[channel];
        if (!sign) return;
        int magnitude, first;
        if constexpr (order == 0 || channel_by_channel) {
            // The first channel is computed with scalars, because vectors have a higher latency, and all other channels
            // wait for it.
            const auto at = [&](int x, int y, int of_channel) HWY_ATTR {
                const auto of = y == 0 ? around.left : x == 0 ? around.above : around.corner;
                return int{static_cast<std::int16_t>(of >> (16 * of_channel))};
            };
            const auto context = magnitude_context(at, static_cast<int>(channel), sign,
                                                   order == 0 ? -1 : channel_before, signed_before, order == 0, true);
            magnitude = context.expected;
            first = step_models::magnitude.at(context.model);
        } else {
            magnitude = std::clamp(expected.magnitude[channel] + (before & pattern.same[channel]), 1, max_steps);
            first = expected.first[channel];
            first += magnitude > 1 ? step_models::magnitude.symbols : 0;
            first += magnitude > 11 ? step_models::magnitude.symbols : 0;
        }
        const int symbol = models.read(reader, first, step_models::magnitude.symbols), bits = token_bits(symbol);
        const int folded = bits ? folded_of(symbol, static_cast<int>(reader.bits(bits))) : symbol;
        before = unfold(folded, magnitude);
        channel_before = static_cast<int>(channel);
        signed_before = sign * before;
        const int far = before + threshold;
        too_far |= far > 255;
        pixel[channel] = static_cast<std::uint8_t>(sign * far);
        steps |= std::uint64_t{static_cast<std::uint16_t>(signed_before)} << (16 * channel);
        ++found.count;
    };
    read(std::integral_constant<int, 0>());
    if constexpr (channels == 3) {
        read(std::integral_constant<int, 1>());
        read(std::integral_constant<int, 2>());
    }
    return steps;
}

/// Reads a sub-block with changes. Returns false if a difference is too large for a byte.
template <int channels, class Reader>
HWY_INLINE bool read_part(Reader& reader, const StepModels& models, const ReadingTables& tables,
                          const BlockPlace& block, int left, int top, int threshold, HostView<std::uint8_t> tile,
                          ReadPixels& pixels, ChangesDecoder::Found& found) {
    const int width = std::min(part_side, block.width - left), bottom = std::min(top + part_side, block.height);
    [[maybe_unused]] const auto threshold_of_each = static_cast<std::uint64_t>(threshold) * 0x000100010001;
    // `run` is the value that the traits of the pixel above must have for the fast path; ~0 never matches.
    const auto run_of = [](unsigned traits) { return all_alike(traits) ? traits : ~0u; };
    bool too_far = false;
    auto above = pixels.row_traits(left, top - 1), second = pixels.row_traits(left, top - 2);
    std::uint64_t right = pixels.traits(left + part_side, top - 1);
    for (int y = 0; y < part_side; ++y)
        std::memset(tile.row(0, top + y) + std::int64_t{left} * channels, 0, std::size_t{part_side} * channels);
    for (int y = top; y < bottom; ++y) {
        const auto signalled = row_above(above, second, pixels.traits(left - 1, y - 1), right);
        second = above;
        above = right = 0;  // the sub-block above right is known only in the first row
        const auto* const steps_above = &pixels.steps(left, y - 1);
        auto* const steps_here = &pixels.steps(left, y);
        unsigned before = pixels.traits(left - 1, y);
        [[maybe_unused]] unsigned run = run_of(before);
        unsigned seconds = pixels.traits(left - 2, y) ? RowAbove::second_bit : 0;
        auto steps = steps_here[-1];
        auto* pixel = tile.row(0, y) + std::int64_t{left} * channels;
        for (std::size_t x = 0; x < static_cast<std::size_t>(width); ++x, pixel += channels) {
            const auto changes_from = tables.changes_from[signalled.changed[x] | seconds | (before & 3)];
            seconds = before ? RowAbove::second_bit : 0;
            if (!StepModels::read_flag_from(reader, changes_from)) {
                before = 0;
                run = run_of(0);
                steps = 0;
                continue;
            }
            const StepsAround around{steps, steps_above[x], (steps_above + x)[-1]};
            if constexpr (channels == 3 && !channel_by_channel) {
                // All channels go up or all go down, like those of the neighbours to the left and above. Most pixels of
                // a moving object do.
                if ((signalled.above[x] & 15u) == run) {
                    const auto down = goes_down(run);
                    const auto [start, count] = tables.alike_pattern[down];
                    const auto offset = reader.place() - start;
                    if (offset < count) [[likely]] {
                        reader.take_offset(offset, count);
                        above |= std::uint64_t{run} << (8 * x);
                        steps = read_alike(reader, models, tables, around, -static_cast<int>(down), threshold_of_each,
                                           pixel, too_far);
                        found.count += channels;
                        if (too_far) return false;
                        steps_here[x] = steps;
                        continue;
                    }
                }
            }
            const int model =
                signalled_patterns.left[signalled.corner[x] | before] | signalled_patterns.above[signalled.above[x]];
            const auto rank = read_pattern<channels>(reader, models, model);
            const auto& pattern = pattern_readings[patterns_by_frequency[rank]];
            before = pattern.traits;
            run = run_of(before);
            above |= std::uint64_t{before} << (8 * x);
            steps = read_magnitudes<channels>(reader, models, pattern, around, threshold, pixel, found, too_far);
            if (too_far) return false;
            steps_here[x] = steps;
        }
        pixels.set_row_traits(left, y, above);
    }
    return true;
}

/// Reads all sub-blocks of a block. Stops at the first inconsistency and returns false as `whole`.
template <int channels, class Reader>
ChangesDecoder::Found read_parts(StepBytes& bytes, Reader reader, const StepModels& models, const BlockPlace& block,
                                 int threshold, HostView<std::uint8_t> tile, HostView<const std::uint8_t> held,
                                 ReadPixels& pixels) {
    const auto& tables = reading_tables(models);
    CodedParts modes;
    ChangesDecoder::Found found{false, 0, 0};
    for (int row = 0; row < block.part_rows(); ++row)
        for (int column = 0; column < block.part_columns(); ++column) {
            const auto changes = read_part_changes(bytes, reader, models, modes, column, row);
            if (!changes) return found;
            if (!*changes) continue;
            found.parts |= part_bit(column, row);
            bring_near(tile, held, block, found.parts, column, row);
            if (!read_part<channels>(reader, models, tables, block, column * part_side, row * part_side, threshold,
                                     tile, pixels, found))
                return found;
        }
    found.whole = bytes.at_end(reader);
    return found;
}

}  // namespace

ChangesDecoder::Found read_changes(StepBytes& words, std::span<const std::uint8_t> bytes, const BlockPlace& block,
                                   int threshold, HostView<std::uint8_t> tile, HostView<const std::uint8_t> held,
                                   ReadPixels& pixels) {
    return words.read(bytes, [&](const auto& reader, const StepModels& models) {
        return tile.shape().channels == 1 ? read_parts<1>(words, reader, models, block, threshold, tile, held, pixels)
                                          : read_parts<3>(words, reader, models, block, threshold, tile, held, pixels);
    });
}

}  // namespace framewire::codec::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace framewire::codec {

HWY_EXPORT(read_changes);

ChangesDecoder::Found ChangesDecoder::decode(std::span<const std::uint8_t> bytes, const BlockPlace& block,
                                             int threshold, HostView<std::uint8_t> tile,
                                             HostView<const std::uint8_t> held) {
    if (step_states::is_in_runs(bytes.data(), bytes.size())) return decode_runs(bytes, block, threshold, tile, held);
    const auto found = HWY_DYNAMIC_DISPATCH(read_changes)(bytes_, bytes, block, threshold, tile, held, pixels_);
    for_each_of(found.parts, block, [&](int left, int top, int, int) { pixels_.clear_part(left, top); });
    return found;
}

ChangesDecoder::Found ChangesDecoder::decode_runs(std::span<const std::uint8_t> bytes, const BlockPlace& block,
                                                  int threshold, HostView<std::uint8_t> tile,
                                                  HostView<const std::uint8_t> held) {
    const auto found =
        runs_.read(bytes_, bytes.subspan(step_states::form_bytes), block, threshold, tile, held, pixels_);
    for_each_of(found.parts, block, [&](int left, int top, int, int) { pixels_.clear_traits(left, top); });
    return found;
}

}  // namespace framewire::codec

#endif
