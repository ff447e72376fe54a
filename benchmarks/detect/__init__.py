"""How well faults are found: a matrix of them, run live, and what the incidents said."""
