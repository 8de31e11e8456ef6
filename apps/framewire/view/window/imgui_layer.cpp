// Dear ImGui on an SDL renderer, without ImGui's SDL backends. This requires three things: a font texture, mouse
// events, and drawing of triangle lists.

#include "view/window/imgui_layer.hpp"

#include "view/window/sdl_functions.hpp"
#include "view/window/window_thread.hpp"

#include "framewire/core/error.hpp"
#include "framewire/core/log.hpp"
#include "framewire/filters/text.hpp"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

namespace framewire::app {
namespace {

// Glyph ranges: Latin, Greek, Cyrillic and some symbols. Other characters are shown as question marks.
constexpr std::array<ImWchar, 9> letters{0x20, 0x24F, 0x370, 0x52F, 0x2010, 0x2026, 0x2190, 0x2193, 0};

// Returns the font size for a window height.
int font_px_for(int height_px) { return std::clamp(8 + height_px / 90, 11, 22); }

// Sets colours and spacing.
void set_look() {
    auto& style = ImGui::GetStyle();
    style = ImGuiStyle();
    ImGui::StyleColorsDark();
    style.WindowRounding = style.PopupRounding = 6;
    style.FrameRounding = style.GrabRounding = 3;
    style.WindowBorderSize = style.PopupBorderSize = 0;
    style.WindowPadding = {10, 8};
    style.ItemSpacing = {8, 5};
    style.FramePadding = {6, 2};
    style.CellPadding = {6, 1};
    auto* colours = style.Colors;
    const ImVec4 blue{0.36F, 0.60F, 0.86F, 1.0F}, ground{0.16F, 0.18F, 0.21F, 1.0F}, lifted{0.22F, 0.25F, 0.29F, 1.0F};
    colours[ImGuiCol_Text] = {0.91F, 0.92F, 0.94F, 1.0F};
    colours[ImGuiCol_TextDisabled] = {0.60F, 0.63F, 0.67F, 1.0F};
    colours[ImGuiCol_WindowBg] = colours[ImGuiCol_PopupBg] = {0.07F, 0.08F, 0.10F, 0.82F};
    colours[ImGuiCol_FrameBg] = colours[ImGuiCol_Button] = ground;
    colours[ImGuiCol_FrameBgHovered] = colours[ImGuiCol_FrameBgActive] = lifted;
    colours[ImGuiCol_ButtonHovered] = colours[ImGuiCol_ButtonActive] = lifted;
    colours[ImGuiCol_SliderGrab] = colours[ImGuiCol_SliderGrabActive] = colours[ImGuiCol_CheckMark] = blue;
    colours[ImGuiCol_PlotLines] = blue;
    colours[ImGuiCol_Separator] = lifted;
}

// Adds the system's DejaVu Sans, or ImGui's built-in font if there is none.
void add_font(ImFontAtlas& atlas, int size_px) {
    ImFontConfig config;
    config.SizePixels = static_cast<float>(size_px);
    config.OversampleH = config.OversampleV = 1;
    config.PixelSnapH = true;
    try {
        const auto font = find_font("DejaVu Sans");
        config.FontNo = font.face;
        const std::string_view path = font.path;
        // ImGui aborts the program for other font formats.
        if (path.ends_with(".ttf") || path.ends_with(".ttc"))
            if (atlas.AddFontFromFileTTF(font.path.c_str(), config.SizePixels, &config, letters.data())) return;
    } catch (const Error& error) {
        log_warning("the window uses its built-in font: {}", error.what());
    }
    config.FontNo = 0;
    atlas.AddFontDefault(&config);
}

}  // namespace

void ImguiLayer::DestroyTexture::operator()(SDL_Texture* texture) const {
    if (!display_lost()) sdl().SDL_DestroyTexture(texture);
}

ImguiLayer::ImguiLayer(SDL_Renderer& renderer) : renderer_(&renderer) {
    ImGui::CreateContext();
    auto& io = ImGui::GetIO();
    io.IniFilename = io.LogFilename = nullptr;
    io.BackendFlags |= ImGuiBackendFlags_RendererHasVtxOffset;
    io.BackendRendererName = io.BackendPlatformName = "framewire";
    io.ConfigWindowsMoveFromTitleBarOnly = true;
    set_look();
}

ImguiLayer::~ImguiLayer() { ImGui::DestroyContext(); }

// Renders the font to a texture if the size has changed.
void ImguiLayer::make_font(int size_px) {
    if (std::exchange(font_px_, size_px) == size_px) return;
    auto& atlas = *ImGui::GetIO().Fonts;
    atlas.Clear();
    add_font(atlas, size_px);
    unsigned char* pixels = nullptr;
    int width = 0, height = 0;
    atlas.GetTexDataAsRGBA32(&pixels, &width, &height);
    font_.reset(sdl().SDL_CreateTexture(renderer_, SDL_PIXELFORMAT_RGBA32, SDL_TEXTUREACCESS_STATIC, width, height));
    if (!font_) fail(ErrorCode::config, "cannot create the window's font ({})", sdl().SDL_GetError());
    sdl().SDL_UpdateTexture(font_.get(), nullptr, pixels, 4 * width);
    sdl().SDL_SetTextureBlendMode(font_.get(), SDL_BLENDMODE_BLEND);
    sdl().SDL_SetTextureScaleMode(font_.get(), SDL_ScaleModeNearest);
    atlas.SetTexID(font_.get());
    atlas.ClearTexData();
}

void ImguiLayer::handle(const SDL_Event& event) {
    if (event.type == SDL_MOUSEMOTION)
        queue_move({static_cast<float>(event.motion.x), static_cast<float>(event.motion.y)});
    const bool pressed = event.type == SDL_MOUSEBUTTONDOWN;
    if ((pressed || event.type == SDL_MOUSEBUTTONUP) && event.button.button == SDL_BUTTON_LEFT) {
        queue_move({static_cast<float>(event.button.x), static_cast<float>(event.button.y)});
        if (std::exchange(held_, pressed) != pressed) queue_.push_back({.held = pressed});
    }
    if (event.type == SDL_MOUSEWHEEL) ImGui::GetIO().MouseWheel += static_cast<float>(event.wheel.y);
    if (event.type == SDL_WINDOWEVENT && event.window.event == SDL_WINDOWEVENT_LEAVE && !held_)
        queue_move({-FLT_MAX, -FLT_MAX});
}

void ImguiLayer::queue_move(SDL_FPoint to) {
    if (!queue_.empty() && queue_.back().moved_to)
        queue_.back().moved_to = to;
    else
        queue_.push_back({.moved_to = to});
}

// ImGui samples the mouse once per frame, so several events in one frame would merge: a press would act at the position
// of the next motion, and a release would hide the motion before it. Therefore a frame ends after a press or release,
// and a release is passed in a frame without motion.
bool ImguiLayer::take_queued() {
    auto& io = ImGui::GetIO();
    bool moved = false;
    while (!queue_.empty()) {
        const auto event = queue_.front();
        if (!event.moved_to && !event.held && moved) return false;
        queue_.pop_front();
        if (!event.moved_to) return io.MouseDown[0] = event.held;
        moved |= event.moved_to->x != io.MousePos.x || event.moved_to->y != io.MousePos.y;
        io.MousePos = {event.moved_to->x, event.moved_to->y};
    }
    return false;
}

std::optional<SDL_FPoint> ImguiLayer::begin(int width, int height) {
    make_font(font_px_for(height));
    auto& io = ImGui::GetIO();
    io.DisplaySize = {static_cast<float>(width), static_cast<float>(height)};
    const auto now = sdl().SDL_GetPerformanceCounter();
    const auto passed = static_cast<double>(now - drawn_at_) / static_cast<double>(sdl().SDL_GetPerformanceFrequency());
    io.DeltaTime = drawn_at_ == 0 ? 0.02F : std::clamp(static_cast<float>(passed), 0.001F, 1.0F);
    drawn_at_ = now;
    const bool pressed = take_queued();
    ImGui::NewFrame();
    if (!pressed || io.WantCaptureMouse) return std::nullopt;
    return SDL_FPoint{io.MousePos.x, io.MousePos.y};
}

// Draws ImGui's vertex lists with SDL_RenderGeometryRaw(), each clipped to its own rectangle.
void ImguiLayer::end() {
    ImGui::Render();
    const auto& drawn = *ImGui::GetDrawData();
    for (int index = 0; index < drawn.CmdListsCount; ++index) {
        const auto& list = *drawn.CmdLists[index];
        for (const auto& command : list.CmdBuffer) {
            const int left = std::max(0, static_cast<int>(command.ClipRect.x));
            const int top = std::max(0, static_cast<int>(command.ClipRect.y));
            const SDL_Rect clip{left, top, static_cast<int>(command.ClipRect.z) - left,
                                static_cast<int>(command.ClipRect.w) - top};
            if (clip.w <= 0 || clip.h <= 0) continue;
            const auto* vertices = list.VtxBuffer.Data + command.VtxOffset;
            sdl().SDL_RenderSetClipRect(renderer_, &clip);
            sdl().SDL_RenderGeometryRaw(
                renderer_, static_cast<SDL_Texture*>(command.GetTexID()), &vertices->pos.x, sizeof(ImDrawVert),
                reinterpret_cast<const SDL_Color*>(&vertices->col), sizeof(ImDrawVert), &vertices->uv.x,
                sizeof(ImDrawVert), list.VtxBuffer.Size - static_cast<int>(command.VtxOffset),
                list.IdxBuffer.Data + command.IdxOffset, static_cast<int>(command.ElemCount), sizeof(ImDrawIdx));
        }
    }
    sdl().SDL_RenderSetClipRect(renderer_, nullptr);
}

}  // namespace framewire::app
