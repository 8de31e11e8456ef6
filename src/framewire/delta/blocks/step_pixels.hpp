#pragma once

#include "framewire/delta/blocks/step_contexts.hpp"
#include "framewire/delta/entropy/symbols.hpp"

namespace framewire::delta {

/// The symbols of a pixel that changes: its pattern, then each changed channel's magnitude. `coded` has them already.
void add_pixel(Symbols& symbols, const CodedPixels& coded, const CodedPixels::Neighbours& near, int x, int y,
               int channels, int pattern, const int* steps, bool fine);

/// Reads what add_pixel() wrote: fills `steps` of all channels, and what `coded` has of the pixel.
void read_pixel(const StepModels& models, rans::Reader& reader, CodedPixels& coded,
                const CodedPixels::Neighbours& near, int x, int y, int channels, bool fine, int* steps);

}  // namespace framewire::delta
