# The report's targets over the project's scripts. `make server` and `make client` take SRC=, FILTERS=, URL=.
SRC ?= synth:size=1280x720:fps=30
FILTERS ?=
URL ?= tcp://127.0.0.1:7878
BUILD := build/program
PROGRAM := $(BUILD)/framewire
chain := $(if $(FILTERS),-f '$(FILTERS)')

.PHONY: build program run server client prof debug clean test demo format

build:
	scripts/deps.sh
	cmake --preset dev >/dev/null
	ninja -C build/dev

# The program alone, with CUDA if there is a toolkit: no tests, no benches, and none of their packages.
program:
	scripts/deps.sh program
	cmake --preset program >/dev/null
	ninja -C $(BUILD) framewire

server run: program
	$(PROGRAM) serve -i '$(SRC)' $(chain)

client: program
	$(PROGRAM) view '$(URL)'

# The server under NVIDIA's profiler where there is one, else under perf.
prof: program
	@if command -v nsys >/dev/null; then nsys profile -o $(BUILD)/server $(PROGRAM) serve -i '$(SRC)' $(chain); \
	else perf record -g -o $(BUILD)/server.perf $(PROGRAM) serve -i '$(SRC)' $(chain); fi

debug: program
	gdb --args $(PROGRAM) serve -i '$(SRC)' $(chain)

clean:
	rm -rf build gpu-bundle demo-out

test:
	scripts/test.sh

demo:
	scripts/demo.sh

format:
	scripts/format.sh
