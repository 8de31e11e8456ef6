# framewire_embed(TARGET HEADER NAMESPACE FILES path=file ...): adds a source to TARGET that defines embedded_files(), as
# declared in HEADER, with the bytes of each file at build time. A server serves the file under `path`.
function(framewire_embed target)
    cmake_parse_arguments(arg "" "HEADER;NAMESPACE" "FILES" ${ARGN})
    set(types_html "text/html; charset=utf-8")
    set(types_js "text/javascript; charset=utf-8")
    set(types_css "text/css; charset=utf-8")
    set(types_svg "image/svg+xml")
    set(types_png "image/png")
    set(types_ico "image/x-icon")
    set(types_wasm "application/wasm")
    set(types_json "application/json")
    set(types_webmanifest "application/manifest+json")
    set(bytes "")
    set(symbols "")
    set(table "")
    set(inputs "")
    set(number 0)
    list(SORT arg_FILES)
    foreach(entry IN LISTS arg_FILES)
        string(REGEX MATCH "^([^=]+)=(.+)$" unused "${entry}")
        set(path ${CMAKE_MATCH_1})
        set(file ${CMAKE_MATCH_2})
        string(REGEX MATCH "[a-z]+$" ending "${path}")
        set(symbol framewire_embedded_${number})
        string(APPEND bytes "asm(R\"(.pushsection .rodata\n.balign 16\n.globl ${symbol}, ${symbol}_end\n.hidden ${symbol}, ${symbol}_end\n"
            "${symbol}:\n.incbin \"${file}\"\n${symbol}_end:\n.byte 0\n.popsection)\");\n")
        string(APPEND symbols "extern const char ${symbol}[], ${symbol}_end[];\n")
        string(APPEND table "        {\"${path}\", \"${types_${ending}}\", {${symbol}, ${symbol}_end}},\n")
        list(APPEND inputs ${file})
        math(EXPR number "${number} + 1")
    endforeach()
    set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded/embedded_files.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"${arg_HEADER}\"

#include <array>

${bytes}
extern \"C\" {
#pragma GCC visibility push(hidden)
${symbols}#pragma GCC visibility pop
}

namespace ${arg_NAMESPACE} {

std::span<const EmbeddedFile> embedded_files() {
    static const std::array<EmbeddedFile, ${number}> files{{
${table}    }};
    return files;
}

}  // namespace ${arg_NAMESPACE}
" @ONLY)
    set_source_files_properties(${source} PROPERTIES OBJECT_DEPENDS "${inputs}" SKIP_UNITY_BUILD_INCLUSION ON)
    target_sources(${target} PRIVATE ${source})
endfunction()

# framewire_page_files(VARIABLE): sets VARIABLE to the page's files in web/, in the form that framewire_embed() expects.
# The list is empty in a build without the page, and lacks the plots if web/node_modules does not have them.
function(framewire_page_files variable)
    set(web ${PROJECT_SOURCE_DIR}/web)
    set(files "")
    foreach(part IN ITEMS page stream)
        set(patterns "")
        foreach(ending IN ITEMS html js css svg png ico wasm json webmanifest)
            list(APPEND patterns ${web}/${part}/*.${ending})
        endforeach()
        file(GLOB_RECURSE found CONFIGURE_DEPENDS RELATIVE ${web}/${part} ${patterns})
        list(FILTER found EXCLUDE REGEX "(^|/)(tests?|node_modules)/|[_.]test\\.js$|(^|/)package[^/]*\\.json$")
        set(at /)
        if(part STREQUAL stream)
            set(at /stream/)
        endif()
        foreach(file IN LISTS found)
            list(APPEND files ${at}${file}=${web}/${part}/${file})
        endforeach()
    endforeach()
    get_property(built GLOBAL PROPERTY FRAMEWIRE_STREAM_FILES)
    foreach(file IN LISTS built)
        cmake_path(GET file FILENAME name)
        list(APPEND files /stream/${name}=${file})
    endforeach()
    set(plots ${web}/node_modules/uplot/dist)
    file(GLOB found CONFIGURE_DEPENDS ${plots}/uPlot.esm.js)
    if(found)
        list(APPEND files /vendor/uplot.js=${plots}/uPlot.esm.js /vendor/uplot.css=${plots}/uPlot.min.css)
    elseif(files)
        message(STATUS "framewire: web/node_modules has no uplot; the page will have no plots (npm ci in web/)")
    endif()
    set(${variable} ${files} PARENT_SCOPE)
endfunction()
