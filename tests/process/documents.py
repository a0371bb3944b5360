"""The documents that installed headers, documents and examples name are installed, their links lead to files, and
the scripts that the guides run are there.  documents.py PREFIX PACKAGE..., each with documents in
PREFIX/share/doc/PACKAGE"""
import pathlib
import re
import sys

prefix = pathlib.Path(sys.argv[1])
roots = [prefix / "share/doc" / package for package in sys.argv[2:]]
# These tell of the sources, which no package has.
OF_THE_SOURCES = ("README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "MEASUREMENTS.md", "CHANGELOG.md", "PROMISES.md",
                  "COMPATIBILITY.md", "DESIGN.md")
missing, count = [], 0
for root in roots:
    documents = list(root.rglob("*.md"))
    names = {document.name for document in documents}
    sources = [source for source in (root / "examples").rglob("*") if source.suffix in (".c", ".h")]
    for text in documents + sources + list((prefix / "include/hindcast").glob("*.h")):
        content = text.read_text()
        for name in re.findall(r"\b[A-Z][A-Z_]+\.md\b", content):
            count += 1
            if name not in names:
                missing.append(f"{text}: {name} is not in {root}")
        for link in re.findall(r"\]\(([^)#:]+)\)", content) if text.suffix == ".md" else []:
            if not (text.parent / link).exists():
                missing.append(f"{text}: {link} leads nowhere")
        for script in re.findall(r"\b(?:sh|python3) ((?:tests|deploy)/[\w./]+)", content):
            if text.name not in OF_THE_SOURCES and text.suffix == ".md" and not (root / script).exists():
                missing.append(f"{text}: {script} is not in {root}")
print("\n".join(sorted(set(missing))))
print(count, "names of documents")
sys.exit(bool(missing) or count < 20)
