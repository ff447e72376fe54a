"""`GET /metrics`: the server and the health of its runs, as Prometheus reads them."""
