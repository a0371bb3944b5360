"""The documents that installed headers, documents and examples name are installed, and their links lead to
files.  documents.py PREFIX PACKAGE..., each with documents in PREFIX/share/doc/PACKAGE"""
import pathlib
import re
import sys

prefix = pathlib.Path(sys.argv[1])
roots = [prefix / "share/doc" / package for package in sys.argv[2:]]
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
            # Examples are of libhindcast-dev alone.
            if not (text.parent / link).exists() and not (root.name == "hindcast" and "examples/" in link):
                missing.append(f"{text}: {link} leads nowhere")
print("\n".join(sorted(set(missing))))
print(count, "names of documents")
sys.exit(bool(missing) or count < 20)
