"""One rank trains with Keras on torch."""

import os

os.environ["KERAS_BACKEND"] = "torch"

import keras
import numpy as np
from paceline.keras import PacelineCallback

model = keras.Sequential([keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss="mse")
data = np.ones((8, 2)), np.ones((8, 1))
model.fit(*data, batch_size=4, epochs=2, verbose=0, validation_data=data, callbacks=[PacelineCallback()])
