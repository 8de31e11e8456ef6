#pragma once

namespace framewire::cuda {

/// True when this build holds the CUDA code; without it every other call of this folder says so by Error{config}.
inline constexpr bool compiled = FRAMEWIRE_CUDA != 0;

}  // namespace framewire::cuda
