"""DECC as portable C: the controller as it is, and one form of its policy as constants."""
