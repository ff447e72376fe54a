"""Two ranks train with Lightning; every rank logs its own number."""

import os

import torch
from paceline.lightning import PacelineLogger
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    def __init__(self, lr: float, optimizer: dict[str, float]) -> None:
        super().__init__()
        self.save_hyperparameters()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, _index):
        loss = self.layer(batch[0]).square().mean()
        self.log("loss", loss)
        self.log("mine", float(os.environ["RANK"]))
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)


Trainer(
    max_steps=6,
    accelerator="cpu",
    devices=2,
    strategy="ddp",
    logger=PacelineLogger(),
    log_every_n_steps=2,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
).fit(Model(0.25, {"momentum": 0.5}), DataLoader(TensorDataset(torch.ones(64, 2)), batch_size=4))
