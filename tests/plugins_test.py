#!/usr/bin/python3
"""Drives the plugins by the programs that load them: FFmpeg, melt and GStreamer. Their pictures must be those of the
program. Reports the way GoogleTest does.

    tests/plugins_test.py [BUILD [PATTERN]]    default: build/dev, and all tests
"""
import os
import sys
import tempfile

from gtest_result import run_tests

FOLDER = os.path.dirname(os.path.abspath(__file__))
BUILD = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(FOLDER, "../build/dev"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(FRAMEWIRE_PROGRAM=os.path.join(BUILD, "framewire"), FRAMEWIRE_BUILD=BUILD,
                          FREI0R_PATH=os.path.join(BUILD, "frei0r-1"), GST_PLUGIN_PATH=os.path.join(BUILD, "gstreamer-1.0"),
                          GST_REGISTRY=os.path.join(folder, "registry"))
        return run_tests("Plugins", os.path.join(FOLDER, "plugins"), sys.argv[2] if len(sys.argv) > 2 else None)


sys.exit(main())
