#!/bin/sh
# KenLM's lmplz, build_binary and query, built from the sdist of kenlm on PyPI: lmplz.sh [FOLDER].
# FOLDER gets the three programs; made once, later calls do nothing. docs/how-to/lmplz.md says more.
set -eu
version=0.3.0
folder=${1:-.venv/kenlm/bin}
programs="lmplz build_binary query"

complete() {
    for program in $programs; do
        [ -x "$folder/$program" ] || return 1
    done
}
if complete; then
    echo "$folder has lmplz, build_binary and query"
    exit 0
fi

python=$(PYTHON="${PYTHON:-}" sh "$(dirname "$0")/preflight.sh") || exit 1
for program in cmake make c++; do
    command -v "$program" >/dev/null || {
        echo "lmplz.sh: no $program; on Debian or Ubuntu:" >&2
        echo "  apt-get install -y --no-install-recommends cmake make g++ libboost-program-options-dev libboost-system-dev libboost-thread-dev libboost-test-dev zlib1g-dev libbz2-dev liblzma-dev" >&2
        exit 1
    }
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
# Without building wheels: the sdist alone is wanted. Only a venv is sure to have pip.
[ -x .venv/bin/pip ] && python=.venv/bin/python
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary kenlm \
    --dest "$work" "kenlm==$version"
tar -xzf "$work/kenlm-$version.tar.gz" -C "$work"
cmake -S "$work/kenlm-$version" -B "$work/build" -DCMAKE_BUILD_TYPE=Release >"$work/log" 2>&1 &&
    make -C "$work/build" -j"$(getconf _NPROCESSORS_ONLN)" $programs >>"$work/log" 2>&1 || {
    tail -n 30 "$work/log" >&2
    echo "lmplz.sh: KenLM $version could not be built" >&2
    exit 1
}
mkdir -p "$folder"
for program in $programs; do
    cp "$work/build/bin/$program" "$folder/.$program" && mv "$folder/.$program" "$folder/$program"
done
echo "built $folder/lmplz, build_binary and query of KenLM $version"
