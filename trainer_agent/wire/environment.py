"""The environment that Paceline gives to a rank: every name, in one place. Stdlib only."""

RUN = "PACELINE_RUN"  # run id, e.g. r-7k3q9m
ATTEMPT = "PACELINE_ATTEMPT"  # attempt key
MARK = "PACELINE_MARK"  # "<node>/<attempt>": the mark by which the process tree of one attempt on one node is found
ATTEMPT_NUMBER = "PACELINE_ATTEMPT_NUMBER"
RING_DIR = "PACELINE_RING_DIR"
RANK_DIR = "PACELINE_RANK_DIR"  # rank<r>.log, rank<r>.started.json, rank<r>.exited.json
CHECKPOINT_DIR = "PACELINE_CHECKPOINT_DIR"
DEEP = "PACELINE_DEEP"  # "1": per-bucket communication hook
PROBE = "PACELINE_PROBE"  # "0" switches the probe off
HOME_OF_AGENT = "PACELINE_AGENT_DIR"  # folder that holds the trainer_agent package
PROBE_PID = "PACELINE_PROBE_PID"  # set by the probe in its own process: children know that they are not the rank
