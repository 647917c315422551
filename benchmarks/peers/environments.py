"""Each peer's Python, in an environment of its own in .venv/peers."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.measuring.texts import ROOT

ENVIRONMENTS = ROOT / ".venv" / "peers"

PEERS = {
    "rensa": ["rensa==0.5.0"],
    "datasketch": ["datasketch==2.0.0", "numpy==2.4.6"],
    "datatrove": [
        "datatrove==0.10.1",
        "fasteners==0.20",
        "fasttext-numpy2-wheel==0.9.2",
        "numpy==2.4.6",
        "orjson==3.13.0",
        "regex==2026.11.19",
        "spacy==3.8.18",
        "tokenizers==0.23.3",
        "xxhash==3.8.2",
    ],
}
"""What is installed for each; spaCy's blank English model is in its package."""


def environment(peer: str) -> Path:
    """The Python of a peer's environment, made where there is none with these versions."""
    folder = ENVIRONMENTS / peer
    python = folder / "bin" / "python"
    made_from = folder / "made-from"
    wanted = "\n".join(PEERS[peer])
    if not made_from.exists() or made_from.read_text() != wanted:
        print(f"making {folder.relative_to(ROOT)}", flush=True)
        venv.create(folder, clear=True, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
        done = subprocess.run([*pip, *PEERS[peer]], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{peer} could not be installed:\n{done.stdout}{done.stderr}")
        made_from.write_text(wanted)
    return python
