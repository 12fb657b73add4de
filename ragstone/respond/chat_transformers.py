"""Language models of the Hugging Face hub, or in a folder, run here by transformers with their own chat template.

On a GPU weights have 16 bits. Without one the linear layers are quantised to 8 bits as they are loaded, layer by layer,
so that the whole model is never held in 32 bits.
"""

from __future__ import annotations

import asyncio
import os
import threading
import warnings
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ragstone.answers import Message, Piece, Reply
from ragstone.errors import MissingExtra, ModelError, SettingsError
from ragstone.respond.pairs import resolved
from ragstone.services import ModelSettings

try:
    import torch  # pyright: ignore[reportMissingImports]
    from transformers import (  # pyright: ignore[reportMissingImports]
        AutoModelForCausalLM,
        AutoTokenizer,
        StoppingCriteria,
        StoppingCriteriaList,
        TextStreamer,
    )
except ModuleNotFoundError as error:
    raise MissingExtra("transformers", extra="transformers") from error

PREFIX = "huggingface:"
Heard = str | Reply | ModelError
"""What the thread that generates tells."""


class TransformersChat:
    """A model that is loaded into this process. One reply is written at a time; others wait.

    Args:
        name: as the settings have it: ``huggingface:`` and a name on the hub, a folder, or a shipped pair's name.
        settings: how the model is asked, in what precision and on how many threads, and whether it may be fetched.

    Raises:
        SettingsError: there is no such model here, and it cannot or may not be fetched, or it is none to chat with.
    """

    def __init__(self, name: str, settings: ModelSettings) -> None:
        self.name = name
        self._settings = settings
        self._free = threading.Lock()
        place = resolved(name.removeprefix(PREFIX))
        folder = Path(place).expanduser()
        place = str(folder) if folder.is_dir() else place
        local = folder.is_dir() or not settings.download
        self._device = _device()
        torch.set_num_threads(settings.threads or max(1, len(os.sched_getaffinity(0)) - 1))
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(place, local_files_only=local)
            self._model: Any = AutoModelForCausalLM.from_pretrained(
                place, local_files_only=local, dtype="auto", use_safetensors=True
            )
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            first = str(error).strip().partition("\n")[0]
            raise SettingsError(f"respond.model.name is {name}, which transformers cannot load: {first}") from error
        if not self._tokenizer.chat_template:
            raise SettingsError(f"respond.model.name is {name}, which is no model for chats: it has no chat template")
        self._model = _placed(self._model, self._device, settings)
        reach = getattr(self._model.config, "max_position_embeddings", settings.window_tokens)
        self._window = min(settings.window_tokens, int(reach or settings.window_tokens))

    def __repr__(self) -> str:
        return f"TransformersChat({self.name} on {self._device})"

    def count(self, text: str) -> int:
        """Tokens of a text by the model's own tokenizer."""
        return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    async def stream(self, messages: Sequence[Message], form: type[BaseModel] | None = None) -> AsyncGenerator[Piece]:
        """The reply piece by piece, and last the whole of it; nothing makes it keep to a form.

        Raises:
            ModelError: the model fails, or the conversation is longer than it reads.
        """
        del form
        loop, heard, stop = asyncio.get_running_loop(), asyncio.Queue[Heard](), threading.Event()

        def tell(one: Heard) -> None:
            if not stop.is_set():  # later the loop may be gone
                loop.call_soon_threadsafe(heard.put_nowait, one)

        # No thread of a pool: the end of the program would wait for those.
        threading.Thread(target=self._write, args=(tuple(messages), tell, stop), daemon=True).start()
        try:
            while True:
                one = await heard.get()
                if isinstance(one, ModelError):
                    raise one
                yield one
                if isinstance(one, Reply):
                    return
        finally:
            stop.set()

    def _write(self, messages: Sequence[Message], tell: Any, stop: threading.Event) -> None:
        with self._free:
            if stop.is_set():
                return
            try:
                tell(self._reply(messages, tell, stop))
            except ModelError as error:
                tell(error)
            except Exception as error:  # out of memory, or whatever a model's code raises
                first = str(error).strip().partition("\n")[0]
                tell(ModelError(f"{self.name} failed: {type(error).__name__}: {first}"))

    def _reply(self, messages: Sequence[Message], tell: Any, stop: threading.Event) -> Reply:
        asked = self._encoded(messages)
        length = int(asked["input_ids"].shape[1])
        room = self._window - length
        if room < 1:
            raise ModelError(
                f"{self.name}: the text has {length} tokens, and the model reads {self._window}; lower"
                " respond.context_tokens, or raise respond.model.window_tokens"
            )
        pieces = _Pieces(self._tokenizer, tell)
        chance = self._settings.temperature > 0
        with torch.inference_mode():
            written = self._model.generate(
                **asked,
                max_new_tokens=min(self._settings.max_tokens, room),
                do_sample=chance,
                temperature=self._settings.temperature if chance else None,
                top_p=self._settings.top_p if chance else None,
                top_k=0 if chance else None,
                streamer=pieces,
                stopping_criteria=StoppingCriteriaList([_Stopped(stop)]),
            )[0][length:]
        ends = self._model.generation_config.eos_token_id
        ends = {ends} if isinstance(ends, int) else set(ends or ())
        return Reply(
            text=pieces.text,
            prompt_tokens=length,
            completion_tokens=len(written),
            cut=not len(written) or int(written[-1]) not in ends,
        )

    def _encoded(self, messages: Sequence[Message]) -> dict[str, Any]:
        told = [{"role": one.role, "content": one.content} for one in messages]
        ways = {"add_generation_prompt": True, "return_dict": True, "return_tensors": "pt"}
        try:
            found = self._tokenizer.apply_chat_template(told, **ways)
        except Exception as error:  # some templates refuse the system's role, by an error of their own
            if told[0]["role"] != "system" or len(told) < 2:
                raise ModelError(f"{self.name}: its chat template cannot write this conversation: {error}") from error
            first = {"role": told[1]["role"], "content": f"{told[0]['content']}\n\n{told[1]['content']}"}
            found = self._tokenizer.apply_chat_template([first, *told[2:]], **ways)
        return {name: found[name].to(self._device) for name in ("input_ids", "attention_mask")}


class _Pieces(TextStreamer):
    """Tells the words as soon as they are whole, and keeps them."""

    def __init__(self, tokenizer: Any, tell: Any) -> None:
        super().__init__(tokenizer, skip_prompt=True, skip_special_tokens=True)
        self._tell = tell
        self.text = ""

    def on_finalized_text(self, text: str, stream_end: bool = False) -> None:  # noqa: ARG002
        self.text += text
        if text:
            self._tell(text)


class _Stopped(StoppingCriteria):
    """Stops where nobody listens any more."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:  # noqa: ARG002
        return torch.full((input_ids.shape[0],), self._stop.is_set(), dtype=torch.bool, device=input_ids.device)


def _device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _placed(model: Any, device: str, settings: ModelSettings) -> Any:
    """The model on its device, in the precision that was asked for or suits it."""
    precision = settings.precision
    if precision == "auto":
        precision = "int8" if device == "cpu" else "float16"
    if precision == "int8":
        if device != "cpu":
            raise SettingsError("respond.model.precision=int8 is for machines without a GPU; leave it at auto")
        return _quantised(model).eval()
    if precision == "full":
        return model.to(device=device, dtype=torch.float32).eval()
    # Weights made in bfloat16 go beyond the range of float16 in some families; their own sixteen bits suit a GPU too.
    own = model.dtype == torch.bfloat16 and settings.precision == "auto" and _has_bfloat16(device)
    return model.to(device=device, dtype=torch.bfloat16 if own else torch.float16).eval()


def _has_bfloat16(device: str) -> bool:
    return device == "cuda" and torch.cuda.is_bf16_supported()


def _quantised(model: Any) -> Any:
    """Linear layers with weights of 8 bits, the rest with 32. torch says its way of doing so will move some day."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for parent in list(model.modules()):
            for name, child in list(parent.named_children()):
                if type(child) is torch.nn.Linear:
                    one = torch.nn.Sequential(child.float())
                    small = torch.ao.quantization.quantize_dynamic(one, {torch.nn.Linear}, dtype=torch.qint8)
                    setattr(parent, name, small[0])
    return model.float()
