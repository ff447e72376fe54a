"""Password hashes that the product accepts but that cost a test nothing."""

from django.contrib.auth.hashers import PBKDF2PasswordHasher


class FastHasher(PBKDF2PasswordHasher):
    """The product's algorithm with one iteration."""

    iterations = 1
