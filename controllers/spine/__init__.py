"""SPINE, reconstructed: AIMD whose parameters a policy sets when a watcher asks for it (Tian et al., CoNEXT 2022).

Of the authors' system the executor is here; all else - networks, inputs, training, weights - is of this project and
says nothing about it beyond its idea. `policies` has the shipped policy, with the
command, the seeds and the log of its training; docs/explanation/spine.md what is known and what came out.
"""

from .controller import Spine

__all__ = ["Spine"]
