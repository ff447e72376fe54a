import os
import time


def train():
    raise ValueError("the learning rate must be positive")


if os.environ["RANK"] == "0":
    print("about to raise", flush=True)
    train()
time.sleep(60)
