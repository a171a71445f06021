"""Training: one run, or many at once."""

from bagcn.training.checkpoint import Checkpoint
from bagcn.training.loop import train
from bagcn.training.member import Member, Result
from bagcn.training.population import train_population
from bagcn.training.settings import TrainSettings
from bagcn.training.task import Task

__all__ = ["Checkpoint", "Member", "Result", "Task", "TrainSettings", "train", "train_population"]
