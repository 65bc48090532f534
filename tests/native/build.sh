#!/bin/sh
# Build the native tests with all of libps inside: build.sh SANITIZER DIRECTORY, where SANITIZER is none, address (with
# undefined) or thread. Prints the programs.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
out=$2
case $1 in
    none) flags=-O2 ;;
    address) flags='-O1 -fsanitize=address,undefined -fno-sanitize-recover=all' ;;
    thread) flags='-O1 -fsanitize=thread -Wno-tsan' ;; # fences: what they order is atomic or under a latch
    *) echo "unknown sanitizer $1" >&2 && exit 2 ;;
esac
mkdir -p "$out"
compile="${CXX:-g++} -std=c++17 -g -fno-omit-frame-pointer -pthread -Wall -Wextra -Werror $flags -I$root/pyps/core"
# shellcheck disable=SC2086
for source in "$root"/pyps/core/*.cpp "$root"/pyps/core/*/*.cpp; do echo "$source"; done |
    xargs -P "$(nproc)" -I{} sh -c "$compile -c {} -o '$out'/\$(basename {} .cpp).o"
for program in killed_worker threads slabs changes interleavings losses members gates timing wire sampling cluster hostile; do
    $compile "$root/tests/native/$program.cpp" "$out"/*.o -o "$out/$program"
    echo "$out/$program"
done
