"""Install the newest Python that Debian has, once, in a folder of its own, and print its environment's path.

Of the package registries (PyPI, npm, Debian), Debian alone carries new releases of Python: the packages of PyPI and npm
that install one download it from GitHub. It needs newer libraries than most machines have, so these are installed
beside it, and `patchelf`, from the same place, makes it load them.
"""

import hashlib
import lzma
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

DEBIAN = "https://deb.debian.org/debian"
ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
PYTHONS = Path(__file__).resolve().parents[1] / ".cache" / "pythons"

Packages = dict[str, dict[str, str]]


def main() -> None:
    packages = read_index()
    name = find_newest(packages)
    folder = PYTHONS / packages[name]["Version"]
    if not folder.exists():
        install(packages, name, folder)
    print(folder / "venv")  # noqa: T201 - what the caller asked for


def read_index() -> Packages:
    """What Debian's newest, "unstable", has for this machine."""
    architecture = ARCHITECTURES.get(platform.machine())
    if sys.platform != "linux" or architecture is None or shutil.which("dpkg-deb") is None:
        sys.exit("Only Linux on x86-64 or arm64 with dpkg-deb can use Debian's newest Python.")
    text = lzma.decompress(download(f"{DEBIAN}/dists/unstable/main/binary-{architecture}/Packages.xz")).decode()
    read = (dict(re.findall(r"^([\w-]+): (.*)$", entry, re.MULTILINE)) for entry in text.split("\n\n"))
    return {package["Package"]: package for package in read if package}


def download(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=60) as answer:
            return bytes(answer.read())
    except OSError as error:
        sys.exit(f"Cannot download {url}: {error}.")


def find_newest(packages: Packages) -> str:
    """The newest release; previews have a `~` in their version."""
    found = [
        name
        for name, package in packages.items()
        if re.fullmatch(r"python3\.\d+", name) and "~" not in package["Version"]
    ]
    if not found:
        sys.exit("Debian has no release of Python.")
    return max(found, key=lambda name: int(name.partition(".")[2]))


def install(packages: Packages, name: str, folder: Path) -> None:
    sys.stderr.write(f"installing Python {packages[name]['Version']} in {folder} (once) ...\n")
    folder.mkdir(parents=True)
    try:
        for needed in find_needed(packages, name, f"{name}-venv", "libstdc++6", "patchelf"):
            unpack(packages[needed], folder)
        use_own_libraries(folder, f"usr/bin/{name}")
        make_environment(folder, name)
    except BaseException:
        shutil.rmtree(folder)
        raise


def find_needed(packages: Packages, *names: str) -> set[str]:
    """These packages and what they depend on. What only other packages provide is nothing that Python loads."""
    needed: set[str] = set()
    left = list(names)
    while left:
        name = left.pop()
        if name in packages and name not in needed:
            needed.add(name)
            depends = ", ".join(packages[name].get(field, "") for field in ("Depends", "Pre-Depends"))
            left += re.findall(r"(?:^|, )([a-z0-9][a-z0-9.+-]+)", depends)
    return needed


def unpack(package: dict[str, str], folder: Path) -> None:
    url = f"{DEBIAN}/{package['Filename']}"
    content = download(url)
    if hashlib.sha256(content).hexdigest() != package["SHA256"]:
        sys.exit(f"{url} is not the file that Debian's index names.")
    with tempfile.NamedTemporaryFile(suffix=".deb") as file:
        file.write(content)
        file.flush()
        subprocess.run(["dpkg-deb", "-x", file.name, folder], check=True)


def use_own_libraries(folder: Path, program: str) -> None:
    """Write into the program which loader starts it, and where this finds libraries for whatever the program loads."""
    [libraries] = folder.glob("usr/lib/*-linux-gnu")
    [loader] = libraries.glob("ld-linux-*.so.*")
    # The page has to hold all that patchelf moves, of which symbols and their names have 127 KiB: with pages of 64 KiB,
    # the program crashes at its start or does not, depending on how long the paths are.
    patchelf = [loader, "--library-path", libraries, folder / "usr/bin/patchelf", "--page-size", "262144"]
    changes = ["--set-interpreter", loader, "--force-rpath", "--set-rpath", libraries]
    subprocess.run([*patchelf, *changes, folder / program], check=True)


def make_environment(folder: Path, name: str) -> None:
    """An environment with pip, which Debian's Python looks for in `/usr` if it makes one by itself."""
    environment = folder / "venv"
    subprocess.run([folder / "usr/bin" / name, "-m", "venv", "--without-pip", environment], check=True)
    [wheel] = folder.glob("usr/share/python-wheels/pip-*.whl")
    python = environment / "bin" / "python"
    subprocess.run([python, wheel / "pip", "install", "--quiet", "--no-index", wheel], check=True)


main()
