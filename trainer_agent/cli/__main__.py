"""`python -m trainer_agent.cli` is `paceline`."""

from trainer_agent.cli.main import main

main()
