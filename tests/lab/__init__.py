"""Machines of our own: namespaces with agents, a network between them, and what can go wrong with both. Root only."""
