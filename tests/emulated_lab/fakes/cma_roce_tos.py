"""`cma_roce_tos`: the type of service of rdma_cm's connections, through configfs."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.emulated_lab.store import Store


def main(arguments: list[str], store: Store) -> int:
    parser = argparse.ArgumentParser(prog="cma_roce_tos", allow_abbrev=False)
    parser.add_argument("-d", dest="device", default=store.read()["device"])
    parser.add_argument("-t", dest="tos", type=int)
    parser.add_argument("-p", dest="port", type=int, default=1)
    options = parser.parse_args(arguments)
    folder = Path("/sys/kernel/config/rdma_cm") / options.device
    try:
        folder.mkdir(exist_ok=True)
        file = folder / f"ports/{options.port}/default_roce_tos"
        if options.tos is not None:
            file.write_text(str(options.tos))
        print(file.read_text().strip())
        folder.rmdir()
    except OSError as error:
        print(f"cma_roce_tos: {error}")
        return 1
    return 0
