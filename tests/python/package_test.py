"""The wheel: its files, declarations and types, and the blocks of the tutorial."""
import os
import re
import socket
import subprocess
import sys
import tempfile
import unittest
import zipfile

import framewire

WHEEL, SITE = os.environ.get("FRAMEWIRE_WHEEL", ""), os.environ["FRAMEWIRE_SITE"]


class Package(unittest.TestCase):
    def test_versions_agree(self):
        with open("VERSION", encoding="utf-8") as file:
            version = file.readline().strip()
        self.assertEqual(framewire.__version__, version)
        self.assertRegex(os.path.basename(WHEEL), rf"^framewire-{version}-py3-none-manylinux_2_\d+_\w+\.whl$")

    def test_wheel_holds_the_package_and_the_library(self):
        with zipfile.ZipFile(WHEEL) as wheel:
            names = {name for name in wheel.namelist() if name.startswith("framewire/")}
        sources = {f"framewire/{name}" for name in os.listdir("python/framewire") if name.endswith((".py", ".pyi", ".typed"))}
        self.assertEqual(names, sources | {"framewire/_cffi.py", "framewire/lib/libframewire.so.0"})

    def test_every_function_of_the_header_is_declared(self):
        from framewire._library import lib
        with open("src/framewire/framewire.h", encoding="utf-8") as file:
            header = re.sub(r"//[^\n]*", "", file.read())
        functions = set(re.findall(r"\bFW_API [^;]*?\b(fw_\w+)\(", header))
        self.assertGreater(len(functions), 40)
        self.assertEqual({name for name in dir(lib) if name.startswith("fw_")}, functions)
        for name in functions:
            getattr(lib, name)

    def test_structs_have_the_layout_of_the_c_compiler(self):
        from framewire._cffi import ffi
        structs = ("fw_image", "fw_settings", "fw_box", "fw_track", "fw_info", "fw_time", "fw_source_options",
                   "fw_sink_options", "fw_viewer_options", "fw_view")
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "sizes.c")
            with open(source, "w", encoding="utf-8") as file:
                file.write('#include "framewire/framewire.h"\n#include <stdio.h>\nint main(void) {\n')
                for struct in structs:
                    file.write(f'printf("%zu", sizeof({struct}));\n')
                    for name, _ in ffi.typeof(struct).fields:
                        file.write(f'printf(" {name} %zu", offsetof({struct}, {name}));\n')
                    file.write('printf("\\n");\n')
                file.write("return 0;\n}\n")
            subprocess.run(["gcc", "-Isrc", source, "-o", source[:-2]], check=True)
            sizes = subprocess.run([source[:-2]], check=True, capture_output=True, text=True).stdout.splitlines()
        for struct, size in zip(structs, sizes):
            fields = [f"{name} {field.offset}" for name, field in ffi.typeof(struct).fields]
            self.assertEqual(" ".join([str(ffi.sizeof(struct)), *fields]), size, struct)

    def test_types_are_complete(self):
        checked = subprocess.run(["mypy", "--strict", "--python-version", "3.9", "--cache-dir", os.devnull,
                                  os.path.join(SITE, "framewire")], capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)

    def test_every_public_name_has_a_docstring(self):
        for name in framewire.__all__:
            self.assertTrue(getattr(framewire, name).__doc__, name)
        self.assertEqual(framewire.__all__, sorted(framewire.__all__))

    def test_import_needs_no_parser(self):
        subprocess.run([sys.executable, "-c", "import sys, framewire; assert 'pycparser' not in sys.modules"], check=True,
                       env={**os.environ, "PYTHONPATH": SITE})

    def test_a_missing_library_is_named(self):
        run = subprocess.run([sys.executable, "-c", "import framewire"], capture_output=True, text=True, check=False,
                             env={**os.environ, "PYTHONPATH": SITE, "FRAMEWIRE_LIBRARY": "/nowhere/lib.so"})
        self.assertIn("ImportError: framewire's library cannot be loaded: ", run.stderr)
        self.assertIn("/nowhere/lib.so", run.stderr)


class Tutorial(unittest.TestCase):
    def test_blocks_run_in_order_and_have_their_output(self):
        with open("docs/python.md", encoding="utf-8") as file:
            blocks = re.findall(r"^```(\w+)\n(.*?)^```$", file.read(), flags=re.S | re.M)
        with tempfile.TemporaryDirectory() as folder:
            with socket.create_server(("127.0.0.1", 0)) as server:
                port = str(server.getsockname()[1])  # tests may run twice on one machine
            code = "\n".join(block for kind, block in blocks if kind == "python").replace("7979", port)
            outputs = "".join(block for kind, block in blocks if kind == "text")
            environment = {**os.environ, "PYTHONPATH": SITE,
                           "PATH": os.path.dirname(os.environ["FRAMEWIRE_PROGRAM"]) + ":" + os.environ["PATH"]}
            run = subprocess.run([sys.executable, "-c", code], cwd=folder, env=environment, capture_output=True, text=True,
                                 check=False)
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertEqual(run.stdout, outputs)
            source = os.path.join(folder, "tutorial.py")
            with open(source, "w", encoding="utf-8") as file:
                file.write(code)
            typed = subprocess.run(["mypy", "--python-version", "3.9", "--cache-dir", os.devnull, source],
                                   capture_output=True, text=True, check=False, env={**environment, "MYPYPATH": SITE})
            self.assertEqual(typed.returncode, 0, typed.stdout)
