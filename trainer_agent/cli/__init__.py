"""`paceline`: the command line for people and scripts. Talks to the server over HTTP only."""
