"""Writes what is made of the code: pages of docs/reference, and the schema of experiment files (``make schema``)."""

from scripts.reference import cli, experiment, figures, metrics, plugins, schema, verdicts

WRITTEN = {one.FILE: one.text for one in (schema, cli, experiment, figures, metrics, plugins, verdicts)}

if __name__ == "__main__":
    for file, text in WRITTEN.items():
        file.write_text(text(), encoding="utf-8")
