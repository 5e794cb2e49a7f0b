from tests.support.card.exports import card, exports, libraries

__all__ = ["card", "exports", "libraries"]
