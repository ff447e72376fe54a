"""One rank trains with the Hugging Face Trainer."""

import tempfile

import torch
from paceline.transformers import PacelineCallback
from transformers import Trainer, TrainingArguments


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def forward(self, x, labels):
        return {"loss": (self.layer(x) - labels).square().mean()}


rows = [{"x": torch.ones(2), "labels": torch.ones(1)} for _row in range(8)]
asked = TrainingArguments(
    tempfile.mkdtemp(),
    max_steps=6,
    logging_steps=2,
    learning_rate=0.25,
    per_device_train_batch_size=4,
    use_cpu=True,
    report_to=[],
    save_strategy="no",
    disable_tqdm=True,
)
Trainer(Model(), asked, train_dataset=rows, callbacks=[PacelineCallback()]).train()
