#pragma once

#include "framewire/core/dynamic_library.hpp"

#include <SDL.h>

namespace framewire::app {

/// The SDL functions that this program calls, under their original names.
struct SdlFunctions {
    const DynamicLibrary library{"libSDL2-2.0.so.0"};
#define FRAMEWIRE_FUNCTION(name) decltype(&::name) name = library.function<decltype(::name)>(#name)
    FRAMEWIRE_FUNCTION(SDL_CreateRenderer);
    FRAMEWIRE_FUNCTION(SDL_CreateTexture);
    FRAMEWIRE_FUNCTION(SDL_CreateWindow);
    FRAMEWIRE_FUNCTION(SDL_DestroyRenderer);
    FRAMEWIRE_FUNCTION(SDL_DestroyTexture);
    FRAMEWIRE_FUNCTION(SDL_DestroyWindow);
    FRAMEWIRE_FUNCTION(SDL_GetCurrentVideoDriver);
    FRAMEWIRE_FUNCTION(SDL_GetDisplayUsableBounds);
    FRAMEWIRE_FUNCTION(SDL_GetError);
    FRAMEWIRE_FUNCTION(SDL_GetPerformanceCounter);
    FRAMEWIRE_FUNCTION(SDL_GetPerformanceFrequency);
    FRAMEWIRE_FUNCTION(SDL_GetRendererOutputSize);
    FRAMEWIRE_FUNCTION(SDL_Init);
    FRAMEWIRE_FUNCTION(SDL_LockTexture);
    FRAMEWIRE_FUNCTION(SDL_PollEvent);
    FRAMEWIRE_FUNCTION(SDL_Quit);
    FRAMEWIRE_FUNCTION(SDL_RenderClear);
    FRAMEWIRE_FUNCTION(SDL_RenderCopyF);
    FRAMEWIRE_FUNCTION(SDL_RenderGeometryRaw);
    FRAMEWIRE_FUNCTION(SDL_RenderPresent);
    FRAMEWIRE_FUNCTION(SDL_RenderSetClipRect);
    FRAMEWIRE_FUNCTION(SDL_SetHint);
    FRAMEWIRE_FUNCTION(SDL_SetRenderDrawColor);
    FRAMEWIRE_FUNCTION(SDL_SetTextureBlendMode);
    FRAMEWIRE_FUNCTION(SDL_SetTextureScaleMode);
    FRAMEWIRE_FUNCTION(SDL_SetWindowFullscreen);
    FRAMEWIRE_FUNCTION(SDL_SetWindowTitle);
    FRAMEWIRE_FUNCTION(SDL_UnlockTexture);
    FRAMEWIRE_FUNCTION(SDL_UpdateTexture);
    FRAMEWIRE_FUNCTION(SDL_getenv);
#undef FRAMEWIRE_FUNCTION
};

/// Returns the functions of SDL, which is loaded on the first call. SDL depends on two dozen other libraries, which
/// would take a fifth of the program's start-up time. Throws Error{config} if SDL cannot be loaded.
const SdlFunctions& sdl();

}  // namespace framewire::app
