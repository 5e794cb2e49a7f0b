"""The exports of controllers to a card, as fixtures."""

from tests.support.card.exports import exports

__all__ = ["exports"]
