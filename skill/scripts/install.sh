#!/bin/sh
# Install the command openclaw-memory, with uv if it is there, else with pip.
set -eu

usage() {
    cat <<'TEXT'
usage: install.sh [--pip] [SOURCE]

Installs the command openclaw-memory from SOURCE, a folder with its source code.
Without SOURCE: from the folder that this script belongs to, and if that is the
skill alone, the package openclaw-memory-graph from PyPI.

With uv:     uv tool install SOURCE
Without uv, or with --pip: a virtual environment in
             ${XDG_DATA_HOME:-~/.local/share}/openclaw-memory-venv
             and a link to its command in ~/.local/bin

Needs Python 3.11 or newer (uv can fetch one), and PyPI or a mirror of it. llama.cpp comes prebuilt; where there is no
wheel of it, it is compiled, which takes minutes and needs a C++ compiler; where that fails, notes are searched by keywords.
With CMAKE_ARGS set it is compiled in any case.
TEXT
}

fail() {
    printf 'install.sh: %s\n' "$1" >&2
    exit 1
}

is_source() {
    grep -qs '^name = "openclaw-memory-graph"' "$1/pyproject.toml" && [ -f "$1/openclaw_memory/__init__.py" ]
}

# The folder above skill/scripts/, links followed: OpenClaw links to a plugin's skill from elsewhere.
own_source() {
    file=$0
    while [ -L "$file" ]; do
        target=$(readlink "$file")
        case $target in /*) file=$target ;; *) file=$(dirname "$file")/$target ;; esac
    done
    CDPATH='' cd -P "$(dirname "$file")/../.." && pwd -P
}

find_python() {
    for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
        command -v "$name" >/dev/null 2>&1 || continue
        "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue
        command -v "$name"
        return
    done
    fail 'no Python 3.11 or newer on the PATH; install one, or install uv, which can fetch it'
}

link() { # the command into ~/.local/bin, unless something else is there
    mkdir -p "$HOME/.local/bin"
    if [ -e "$2" ] && [ ! -L "$2" ]; then
        fail "$2 is there already and not a link; move it away, or run $1"
    fi
    ln -sf "$1" "$2"
}

pip_only=
source=
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage && exit ;;
        --pip) pip_only=yes ;;
        -*) usage >&2 && exit 2 ;;
        *) source=$1 ;;
    esac
    shift
done

if [ -n "$source" ]; then
    is_source "$source" || fail "$source: not the source of openclaw-memory"
    source=$(CDPATH='' cd -P "$source" && pwd -P)
else
    source=$(own_source)
    is_source "$source" || source=openclaw-memory-graph
fi

# The versions that the tests have run with.
constraints=$source/.ci/constraints.txt
[ -f "$constraints" ] || constraints=

# Leaves out the parts of llama.cpp that embedding does not use; the file name may hold no space or semicolon.
wants_compiled=${CMAKE_ARGS:-}
short=$source/openclaw_memory/embed/llama-only.cmake
case $short in
    *[\ \;]*) ;;
    *) [ ! -f "$short" ] || export CMAKE_ARGS="${CMAKE_ARGS--DLLAVA_BUILD=OFF -DCMAKE_PROJECT_INCLUDE=$short}" ;;
esac

has_compiler() {
    for compiler in "${CXX:-}" c++ g++ clang++; do
        [ -n "$compiler" ] && command -v "${compiler%% *}" >/dev/null 2>&1 && return
    done
    return 1
}

# Run an installer with a source that brings llama.cpp: prebuilt, else compiled, else without it.
# The first argument is its option that forbids to compile a package.
with_llama() {
    only_prebuilt=$1
    shift
    [ -z "$constraints" ] || set -- "$@" -c "$constraints"
    if [ -z "$wants_compiled" ]; then
        "$@" "$only_prebuilt" xllamacpp "$source[prebuilt]" && return
        printf '%s\n' 'install.sh: there is no prebuilt llama.cpp for this machine' >&2
    fi
    if has_compiler; then
        "$@" "$source[llama-cpp-python]" && return
    fi
    "$@" "$source" || fail 'the installation failed; what is said above names the cause'
    printf '%s\n' 'install.sh: without llama.cpp notes are searched by keywords only; install a C++ compiler, then run this again' >&2
}

if [ -z "$pip_only" ] && command -v uv >/dev/null 2>&1; then
    # The package is built again though its version is the same, as a source may have changed.
    with_llama --no-build-package uv tool install --compile-bytecode --force --reinstall-package openclaw-memory-graph --python '>=3.11'
    command=$(uv tool dir --bin)/openclaw-memory
else
    python=$(find_python)
    venv=${XDG_DATA_HOME:-$HOME/.local/share}/openclaw-memory-venv
    command=$HOME/.local/bin/openclaw-memory
    "$python" -m venv "$venv" || fail "$python cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv"
    with_llama --only-binary "$venv/bin/python" -m pip install
    link "$venv/bin/openclaw-memory" "$command"
fi

"$command" --version
found=$(command -v openclaw-memory || true)
case $found in
    "$command") ;;
    '') printf '%s\n' "add $(dirname "$command") to the PATH, also that of the OpenClaw gateway" ;;
    *) printf '%s\n' "another openclaw-memory comes first on the PATH: $found" ;;
esac
