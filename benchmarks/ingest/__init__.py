"""What storing a point costs, beside other stores; see `__main__.py`."""
