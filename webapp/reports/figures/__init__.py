"""Charts of a report as Plotly figures, for a file that needs no server: the numbers that the page's scripts draw."""
