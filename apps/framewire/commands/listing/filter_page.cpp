// Documentation pages of filters. Summary, parameters and examples come from the registry; formulas and references come
// from `definitions`.

#include "commands/listing/filter_page.hpp"
#include "commands/listing/parameter_page.hpp"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

namespace framewire::app {
namespace {

struct Definition {
    std::string_view filter, text;
};

// Texts of a page that the registry does not contain: the formula, and differences from the report.
constexpr Definition definitions[] = {
    {"binarize",
     R"(With `h` the histogram of gray values (`gray`'s `weighted`), a pixel is white where its value is above the threshold `t`:

- `two-max`: `t = min(max(floor((a + b) / 2), 50), 200)`. `a` and `b` are the values of the two fullest bins of `h`; if two
  are equal, the darker one comes first. An image of one value `a` has `b = 0`, or `b = 1` if `a = 0`.
- `otsu`: OpenCV's threshold, exactly.
- `two-peaks`: `h` is smoothed, `h[i] = (h[i - 1] + 2 h[i] + h[i + 1]) / 4`, until it has two peaks. `t` is the lowest bin between
  them. A histogram that never has two peaks gets Otsu's threshold.
- `document`: the brightest pixel of each block of 4x4 pixels gives a small image. A morphological close by a square of
  `window / 8` blocks and a median of `window / 4` blocks, both rounded down to an odd number, remove the ink from it; bilinear
  interpolation to full size gives the paper `p`. Otsu's threshold is computed on `255 gray / p`, where paper darker than 64
  weighs differences as if it were 64. If that threshold lies within the paper's own noise, only what stands out from the noise
  is black ([rule](../decisions/documents.md)). Black pixels become white if they fit a square of 3x3 or 5x5 pixels whose ring
  of neighbours is white. A blank page is white, and so is an image of one value, even 0.
- `sauvola`: `t = m (1 + k (s / 128 - 1))`, with mean `m` and standard deviation `s` of the window around the pixel.

`two-max`, `otsu` and `two-peaks` derive a single threshold from the histogram. The histogram of a blank page has one peak, and
a threshold within it makes half of the page black. For pages that may be blank use `document` or `sauvola`.

## Which method

| pages | method |
|---|---|
| evenly lit, clean, never blank | `otsu` |
| shadows, stains, yellowed or mottled paper, pages that may be blank | `document` |
| a published formula, to compare with other programs | `sauvola` |
| a fixed camera and constant light | `fixed` |

Mean F of black pixels over six scanned pages with ground truth, five of them from DIBCO 2009, and the lowest of the six. The
last two columns are over the same pages as scanned and altered in 15 ways, such as half and three times the size, faint ink,
stains, shadows, noise and a dark border: the mean, and the mean of the worst way.

| method | mean | lowest page | mean, also altered | worst way |
|---|---|---|---|---|
| `document` | .913 | .887 | .876 | .62 (half of the ink faint) |
| `document:window=41` | .905 | .870 | .863 | .62 (half of the ink faint) |
| `document:window=63` | .894 | .828 | | |
| `sauvola` | .873 | .801 | .777 | .20 (faint ink) |
| `otsu` | .802 | .406 | .680 | .31 (shadow) |

An area that is dark throughout and wider than the window counts as dark paper: a black border and a dark photograph become
white, with black only where details are darker than their surroundings. Letters whose strokes are wider than half the window
become hollow; choose a larger window for headings. A full stop of up to 5x5 pixels is dropped like a speck.

`two-max` and `two-peaks` are sections 8.4 and 8.3 of the [report](../reports.md) of 2022. The report does not say which of equally
full bins is first; its GPU reduction finds the fullest even and the fullest odd bin instead of the two fullest.)"},
    {"gaussian",
     R"(The weight of the pixel `(dx, dy)` away is `exp(-(dx^2 + dy^2) / (2 sigma^2))`, divided by the sum of all weights in the window.
A window of even size covers the offsets `-size / 2` to `size / 2 - 1`. Its weights are centred between them, at -0.5.

- `rounding=fine`: every byte differs by 1 at most from the formula computed in float64 and rounded to a whole value. So it is
  less than 1.5 away from the value before rounding.
- `rounding=opencv`: for odd sizes every byte equals that of OpenCV's `GaussianBlur` for 8-bit images: weights in 256ths (for large
  windows coarser than `fine`), no rounding between rows and columns, and for sizes 3, 5 and 7 without a `sigma` OpenCV's own
  weights. `detect --method report` blurs with it.)"},
    {"gray",
     R"(`weighted` gives the bytes of OpenCV's `COLOR_BGR2GRAY`: `(3735 B + 19235 G + 9798 R + 16384) >> 15`, so it rounds to nearest. The
[report](../reports.md) of 2022 (section 7) truncates.)"},
    {"heatmap",
     R"(With `dB`, `dG` and `dR` the differences from the previous frame, `f = (|dB| + |dG| + |dR|) / 765`, and

- `B = 255 sin(pi f + pi / 2)`
- `G = 255 sin(pi f)`
- `R = 255 sin(pi f - pi / 2)`,

each clamped to 0..255 and rounded to nearest. This is section 4 of the [report](../reports.md) of 2022. Its text divides by 765, as
here; its CPU code divides by 510.)"},
    {"mosaic",
     R"(Each cell becomes the mean of its pixels, channel by channel, rounded to nearest, half up. Cells at the right and lower edge that
are cut off average the pixels they have. The faster variant of the [report](../reports.md) on the mosaic
starts one thread for each pixel of a cell, which no GPU allows for cells of more than 32 x 32 pixels, and leaves out the last pixel
of each cell.)"},
    {"noise",
     R"(A pixel shows if `|dB|`, `|dG|` or `|dR|` from the previous frame is greater than `threshold`. In the [report](../reports.md) of
2022 (section 5) an overlay lies on the previous frame; here that is `base=previous`, and the default is the current frame.)"},
};

// Returns the filter's first example, or its name if it has none.
std::string_view first_example(const FilterInfo& filter) {
    return filter.examples.empty() ? filter.name : filter.examples.front();
}

// Returns a sentence that describes values without keys.
std::string values_without_keys(const FilterInfo& filter) {
    const auto& parameters = filter.parameters;
    if (filter.unnamed == 1) return fmt::format("A first value without a key sets `{}`", parameters[0].name);
    auto names = fmt::format("`{}`", parameters[0].name);
    for (std::size_t index = 1; index < filter.unnamed; ++index)
        names += fmt::format("{}`{}`", index + 1 < filter.unnamed ? ", " : " and ", parameters[index].name);
    return fmt::format("First values without keys set {}, in this order", names);
}

}  // namespace

std::string filter_page(const FilterInfo& filter) {
    std::string page = fmt::format("# {}\n\n{}\n\n", filter.name, filter.summary);
    auto out = std::back_inserter(page);
    fmt::format_to(out,
                   "| before | `{0}` |\n|---|---|\n| ![before](pictures/before.jpg) | ![after](pictures/{1}.jpg) |\n\n",
                   table_cell(first_example(filter)), filter.name);
    fmt::format_to(out, "```sh\n");
    fmt::format_to(out, "framewire run -i SRC -f \"{}\" -o DST\n", first_example(filter));
    for (std::size_t index = 1; index < filter.examples.size(); ++index)
        fmt::format_to(out, "framewire run -i SRC -f \"{}\" -o DST\n", filter.examples[index]);
    fmt::format_to(out, "```\n\n");
    if (filter.parameters.empty()) {
        fmt::format_to(out, "It has no parameters.\n");
    } else {
        page += parameter_table(filter.parameters);
        fmt::format_to(out, "\n{}.\n", values_without_keys(filter));
    }
    for (const auto& definition : definitions)
        if (definition.filter == filter.name) fmt::format_to(out, "\n## Definition\n\n{}\n", definition.text);
    if (filter.needs_previous) fmt::format_to(out, "\nThe first frame is compared with itself.\n");
    if (filter.pointwise)
        fmt::format_to(out,
                       "\nAdjacent pointwise filters of a chain run in one pass, including this one if its parameters "
                       "allow it.\n");
    if (filter.kind || filter.placement || (filter.original && filter.original->parts))
        fmt::format_to(out,
                       "\nIt works directly on the planes of YUV if its parameters allow it "
                       "([what it means there](../formats.md)).\n");
    fmt::format_to(out, "\n[All filters](README.md)\n");
    return page;
}

std::string filter_index(std::span<const FilterInfo> filters) {
    std::string page =
        "# Filters\n\n"
        "Written by `scripts/filter-docs.sh` from the output of `framewire filters`; the pictures show the synthetic "
        "camera.\n"
        "[noise-saved.md](noise-saved.md) shows how much of a difference stream the filters save.\n\n"
        "| filter | |\n|---|---|\n";
    for (const auto& filter : filters)
        fmt::format_to(std::back_inserter(page), "| [{0}]({0}.md) | {1} |\n", filter.name, table_cell(filter.summary));
    return page;
}

}  // namespace framewire::app
