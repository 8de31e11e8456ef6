#pragma once

namespace framewire::cuda {

/// True if this build contains the CUDA code. In a build without it every function of this folder that needs a
/// GPU throws Error{config}.
inline constexpr bool compiled = FRAMEWIRE_CUDA != 0;

}  // namespace framewire::cuda
