"""sbom.py DIST: the bill of materials (CycloneDX) of the Debian packages in DIST, as DIST/penumbra-VERSION.cdx.json.

Each package with the libraries that it was linked with, in the versions that the build had installed. Both are read
from the packages and their .buildinfo. The lab's document is made of its requirements, by cyclonedx-py itself.
"""

import re
import subprocess
import sys
from pathlib import Path

from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL


def fields_of(package: Path) -> dict[str, str]:
    shown = subprocess.run(["dpkg-deb", "-f", package], capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"^(\S+): (.*)$", shown, re.M))


def component(name: str, version: str, kind: ComponentType) -> Component:
    purl = PackageURL("deb", "debian", name, version)
    return Component(name=name, version=version, type=kind, purl=purl, bom_ref=str(purl))


def bill(dist: Path, version: str) -> Bom:
    installed = {}
    for build in dist.glob("*.buildinfo"):
        installed |= dict(re.findall(r"^ (\S+) \(= ([^)]+)\)", build.read_text(), re.M))
    bom = Bom()
    bom.serial_number = bom.metadata.timestamp = None  # the same bytes each time
    bom.metadata.component = root = component("penumbra", version, ComponentType.APPLICATION)
    libraries: dict[str, Component] = {}
    for package in sorted(dist.glob("*.deb")):
        fields = fields_of(package)
        if fields["Package"].endswith("-dbgsym"):
            continue
        own = component(fields["Package"], fields["Version"], ComponentType.LIBRARY)
        # The first of alternatives; those that the build had not installed are for running only, in any version.
        names = [name.split("|")[0].split()[0].split(":")[0] for name in fields.get("Depends", "").split(",") if name.strip()]
        needed = [libraries.setdefault(name, component(name, installed.get(name, "any"), ComponentType.LIBRARY)) for name in names]
        bom.components.add(own)
        bom.register_dependency(root, [own])
        bom.register_dependency(own, needed)
    bom.components.update(libraries.values())
    return bom


def main() -> int:
    dist = Path(sys.argv[1])
    version = (Path(__file__).resolve().parents[1] / "VERSION").read_text().strip()
    bom = bill(dist, version)
    if not bom.components:
        print(f"{dist} has no packages: run `make deb` first", file=sys.stderr)
        return 1
    text = JsonV1Dot6(bom).output_as_string(indent=2)
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if error:
        print(error, file=sys.stderr)
        return 1
    path = dist / f"penumbra-{version}.cdx.json"
    path.write_text(text + "\n")
    print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
