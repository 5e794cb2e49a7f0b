"""Experiments with apps, as a user writes them, and two apps that measure round trips."""

from __future__ import annotations

from pathlib import Path


def experiment(folder: Path, text: str) -> str:
    """The file that has it."""
    (folder / "mine.yaml").write_text(text)
    return str(folder / "mine.yaml")


def round_trips(loop: str) -> str:
    """``apps`` of an experiment: h1 sends back what h2 sends it in a ``loop`` of Python; figures shortest, longest."""
    return f"""
apps:
  - name: echo
    hosts: [h1]
    run: |
      exec $TESTBED_PYTHON -u - <<'END'
      import socket
      s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
      s.bind(("", 7))
      print("ready")
      while True:
          s.sendto(*s.recvfrom(100))
      END
    ready: {{ prints: ready }}
  - name: ask
    hosts: [h2]
    run: |
      exec $TESTBED_PYTHON - <<'END'
      import socket, time
      s, took = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), []
      s.connect(("h1", 7))
      end = time.monotonic() + 0.8
      {loop}:
          began = time.monotonic()
          s.send(b"x")
          s.recv(100)
          took.append(time.monotonic() - began)
      print("rtt", min(took), max(took))
      END
    exit: 0
    figures:
      - {{ name: shortest, pattern: "rtt ([0-9.e-]+) ", kind: time, unit: s }}
      - {{ name: longest, pattern: "rtt .* ([0-9.e-]+)", kind: time, unit: s }}
"""
