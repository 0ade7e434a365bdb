#!/bin/sh
# Builds a real Windows Python 3.11 that runs under Wine, in build/wine, from the registries of Debian and PyPI:
# panda3d's wheel for Windows carries python311.dll and its extension modules as they were built for Windows; the
# pure Python library is that of a Python 3.11 here; the start program is compiled with mingw. Wine 8 lacks
# bcryptprimitives.dll, which is one function.
#
# From the environment: PYTHON (a Python 3.11; default python3). As root on Debian it installs what is missing.
set -eu
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
place=build/wine
"$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || {
    echo "wine: $python is not Python 3.11, whose library the Windows Python needs" >&2
    exit 1
}
if ! command -v wine >/dev/null || ! command -v x86_64-w64-mingw32-gcc >/dev/null; then
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        wine wine64 gcc-mingw-w64-x86-64-win32 unzip >&2
fi
if [ ! -e "$place/ready" ]; then
    rm -rf "$place"
    mkdir -p "$place/python/DLLs" "$place/python/Lib/site-packages"
    target="--platform win_amd64 --python-version 3.11 --only-binary=:all:"
    # shellcheck disable=SC2086 - several words
    "$python" -m pip download -q --no-deps $target -d "$place" 'panda3d==1.10.16'
    unzip -qo "$place"/panda3d*.whl 'deploy_libs/*' -d "$place"
    cp "$place"/deploy_libs/*.pyd "$place"/deploy_libs/lib*.dll "$place"/deploy_libs/sqlite3.dll "$place/python/DLLs"
    cp "$place"/deploy_libs/python311.dll "$place"/deploy_libs/VCRUNTIME140.dll "$place/python"
    library=$("$python" -c 'import sysconfig; print(sysconfig.get_path("stdlib"))')
    (cd "$library" && tar cf - --exclude=site-packages --exclude=./test --exclude=__pycache__ --exclude=lib-dynload .) |
        tar xf - -C "$place/python/Lib"
    cat >"$place/start.c" <<'C'
#include <windows.h>
int wmain(int count, wchar_t **words) {
    HMODULE python = LoadLibraryW(L"python311.dll");
    int (*start)(int, wchar_t **) = python ? (void *)GetProcAddress(python, "Py_Main") : 0;
    return start ? start(count, words) : 111;
}
C
    cat >"$place/random.c" <<'C'
#include <windows.h>
BOOLEAN NTAPI SystemFunction036(PVOID, ULONG);
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) { return SystemFunction036(data, (ULONG)size); }
C
    x86_64-w64-mingw32-gcc -municode -O1 "$place/start.c" -o "$place/python/python.exe"
    x86_64-w64-mingw32-gcc -shared -O1 "$place/random.c" -o "$place/python/bcryptprimitives.dll" -ladvapi32
    # shellcheck disable=SC2086
    "$python" -m pip install -q $target --target "$place/python/Lib/site-packages" -r tests/requirements-windows.txt \
        apsw msgspec click rich colorama mcp starlette uvicorn google-re2 pillow tzdata
    cat >"$place/python.sh" <<'S'
#!/bin/sh
place=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$place/../.." && pwd | tr / '\\')
export WINEPREFIX="$place/prefix" WINEDEBUG=-all PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH="Z:$root\\src;Z:$root"
exec wine "$place/python/python.exe" "$@"
S
    chmod +x "$place/python.sh"
    touch "$place/ready"
fi
"$place/python.sh" -c 'import sys; print(sys.version)' </dev/null | cat >&2
echo "$place/python.sh"
