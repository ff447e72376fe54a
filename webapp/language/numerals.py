"""Numbers with the separators of the reader's language."""

from decimal import Decimal

from django.utils.formats import get_format


def numeral(value: float | Decimal, spec: str = ",") -> str:
    """`format(value, spec)`, in the reader's way: "1,204.5" in English, "1.204,5" in Portuguese. For eyes only."""
    signs = {",": get_format("THOUSAND_SEPARATOR"), ".": get_format("DECIMAL_SEPARATOR")}
    return format(value, spec).translate(str.maketrans(signs))
