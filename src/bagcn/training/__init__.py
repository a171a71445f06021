"""Training: one run, or many at once."""

from bagcn.training.loop import Checkpoint, Member, Result, train
from bagcn.training.settings import TrainSettings
from bagcn.training.task import Task

__all__ = ["Checkpoint", "Member", "Result", "Task", "TrainSettings", "train"]
