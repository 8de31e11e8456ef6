#!/usr/bin/env python3
"""Checks the documentation: links and anchors, named files, pages without links to them, lengths, options of commands.
Reports the way GoogleTest does.

    tests/docs_test.py [PROGRAM]    default: build/dev/framewire; its help lists the options
"""
import os
import re
import subprocess
import sys

PROGRAM = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "build/dev/framewire"
os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
PAGES = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"], capture_output=True,
                       text=True, check=True).stdout.split()
TEXTS = {page: open(page, encoding="utf-8").read() for page in PAGES if os.path.exists(page)}

# Maximum number of words, by page or by folder.
LENGTHS = {"README.md": 900, "docs/with/": 300, "docs/decisions/": 400, "CONTRIBUTING.md": 900}
# Maximum number of words outside tables in all pages about benchmarks; figures belong in bench/report.py's tables.
BENCHMARKS_PROSE = 3000
# Only these subcommands are checked: other commands belong to other programs or are placeholders.
SUBCOMMANDS = ("run", "explain", "serve", "check", "view", "show", "detect", "find", "hog", "filters", "sources", "devices")


def without_code(text):
    return re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.S | re.M)


def anchors(text):
    """Returns the anchors that GitHub makes from headings."""
    found = {}
    for heading in re.findall(r"^#{1,6} +(.*?) *$", without_code(text), flags=re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        count = found.get(name, 0)
        found[name] = count + 1
        if count:
            found[f"{name}-{count}"] = 1
    return found


def links(page):
    """Yields (link target, page or file, anchor) of each link into the project."""
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(TEXTS[page])):
        if not re.match(r"[a-z]+:", target):
            path, _, anchor = target.partition("#")
            yield target, os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page, anchor


def dead_links():
    for page in TEXTS:
        for target, path, anchor in links(page):
            if not os.path.exists(path):
                yield f"{page}: {target} does not exist"
            elif anchor and path in TEXTS and anchor not in anchors(TEXTS[path]):
                yield f"{page}: {target}: the page has no such heading"


def missing_files():
    """Returns the paths from the project's root in backticks, except those with placeholders in capitals."""
    for page, text in TEXTS.items():
        if page == "CHANGELOG.md":
            continue
        for path in re.findall(r"`((?:src|apps|tests|scripts|bench|web|cmake|docs)/[\w./-]+)`", text):
            if not os.path.exists(path) and not re.search(r"(^|[/_.])[A-Z]{4,}", path):
                yield f"{page}: {path} does not exist"


def unlisted_pages():
    """Returns the pages that are more than two links away from docs/README.md."""
    near = {"docs/README.md"}
    for _ in range(2):
        near |= {path for page in near if page in TEXTS for _, path, _ in links(page)}
        near |= {os.path.join(path, "README.md") for path in near if os.path.isdir(path)}
    folders = {path for path in near if os.path.isdir(path)}
    for page in TEXTS:
        if page.startswith("docs/") and page not in near and os.path.dirname(page) not in folders:
            yield f"{page}: more than two links from docs/README.md"


def long_pages():
    for page, text in TEXTS.items():
        for name, most in LENGTHS.items():
            words = len(text.split())
            if (page == name or (name.endswith("/") and page.startswith(name))) and words > most:
                yield f"{page}: {words} words; at most {most} are allowed"
    prose = sum(len(re.sub(r"^\|.*$", "", text, flags=re.M).split()) for page, text in TEXTS.items()
                if page.startswith("docs/benchmarks"))
    if prose > BENCHMARKS_PROSE:
        yield f"docs/benchmarks*: {prose} words outside tables; at most {BENCHMARKS_PROSE} are allowed"


def options_of(subcommand):
    help_text = subprocess.run([PROGRAM, subcommand, "--help"], capture_output=True, text=True, check=True).stdout
    return set(re.findall(r"(?<![\w-])(--?[A-Za-z][\w-]*)", help_text))


def commands(text):
    """Yields (subcommand, options) of each framewire command in blocks of shell code."""
    for block in re.findall(r"^ *```sh\n(.*?)^ *```$", text, flags=re.S | re.M):
        for line in block.replace("\\\n", " ").split("\n"):
            line = re.sub(r"'[^']*'|\"[^\"]*\"", "''", line)
            for command in re.split(r"[|;&]", re.sub(r"(^|\s)#.*$", "", line)):
                match = re.search(r"(?:^|[\s/])framewire (\w+)(.*)$", command)
                if match and match.group(1) in SUBCOMMANDS:
                    yield match.group(1), re.findall(r"(?<=\s)(--[a-z][\w-]*|-[a-z])(?=[\s=]|$)", match.group(2))


def unknown_options():
    known = {subcommand: options_of(subcommand) for subcommand in SUBCOMMANDS}
    count = 0
    for page, text in TEXTS.items():
        for subcommand, options in commands(text):
            count += 1
            for option in options:
                if option not in known[subcommand]:
                    yield f"{page}: framewire {subcommand} has no option {option}"
    if count < 100:
        yield f"only {count} commands were found"


def main():
    failed = False
    for name, check in (("LinkTargetsExist", dead_links), ("NamedFilesExist", missing_files),
                        ("EveryPageIsWithinTwoLinks", unlisted_pages), ("PagesDoNotExceedTheirLength", long_pages),
                        ("CommandsUseExistingOptions", unknown_options)):
        problems = list(check())
        for problem in problems:
            print(problem)
        failed |= bool(problems)
        print(f"[  FAILED  ] Docs.{name} (0 ms)" if problems else f"[       OK ] Docs.{name} (0 ms)")
    return 1 if failed else 0


sys.exit(main())
