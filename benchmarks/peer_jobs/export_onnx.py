"""Write the encoder of a sentence-transformers folder as ONNX in float32: `python export_onnx.py MODEL FILE`."""

# pyright: basic, reportMissingImports=false
# This runs in an environment of its own, with packages that are not installed here.

import sys

import torch
from transformers import AutoModel

NAMES = ["input_ids", "attention_mask", "token_type_ids"]
AXES = {0: "texts", 1: "tokens"}


class Encoder(torch.nn.Module):
    def __init__(self, folder):
        super().__init__()
        self.model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()

    def forward(self, input_ids, attention_mask, token_type_ids):
        given = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids}
        return self.model(**given).last_hidden_state


ids = torch.ones(2, 9, dtype=torch.long)
torch.onnx.export(
    Encoder(sys.argv[1]),
    (ids, ids, ids * 0),
    sys.argv[2],
    input_names=NAMES,
    output_names=["last_hidden_state"],
    dynamic_axes=dict.fromkeys([*NAMES, "last_hidden_state"], AXES),
    dynamo=False,
    opset_version=17,
)
