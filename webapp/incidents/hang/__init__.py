"""Why nothing moves: from what every rank of an attempt was doing at one moment to who did not come along."""
