"""Models with random weights, small enough to be made by a test."""

from __future__ import annotations

from pathlib import Path

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

WORDS = (
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "a",
    "cat",
    "cats",
    "sleeps",
    "and",
    "bread",
    "query",
    "passage",
    ":",
    "##s",
)


def tokenizer() -> Tokenizer:
    """Words of a small vocabulary; a pair of texts is told apart by type."""
    made = Tokenizer(models.WordPiece({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer(lowercase=True)
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    markers = [("[CLS]", 2), ("[SEP]", 3)]
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=markers
    )
    return made


def save_bert(folder: Path, *, head: bool, seed: int = 0) -> None:
    """A BERT of two layers that reads 64 tokens; with a head it scores pairs, without it embeds texts."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(seed)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=64,
        num_labels=1,
        initializer_range=0.5,
    )
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer(), model_max_length=64, **names)
    (BertForSequenceClassification if head else BertModel)(config).save_pretrained(folder)
    fast.save_pretrained(folder)
