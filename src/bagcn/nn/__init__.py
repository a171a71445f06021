"""The paper's model: biaffine attention, the layer, the network and its loss."""

from bagcn.nn.attention import attend, attention_weights, biaffine_attention
from bagcn.nn.layer import BiaffineLayer
from bagcn.nn.loss import consistency, sharpen
from bagcn.nn.model import BAGCN

__all__ = [
    "BAGCN",
    "BiaffineLayer",
    "attend",
    "attention_weights",
    "biaffine_attention",
    "consistency",
    "sharpen",
]
