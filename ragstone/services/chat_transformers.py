"""Chat models from the Hugging Face hub or a folder, run in this process by transformers.

On a GPU weights have 16 bits. Without one the linear layers are quantised to 8 bits while loading, layer by layer, so
that the whole model is never in memory with 32 bits.
"""

# torch and transformers are optional and untyped:
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUntypedBaseClass=false, reportMissingTypeStubs=false

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import AsyncGenerator, Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from ragstone.core.answers import Message, Piece, Reply
from ragstone.core.errors import ContextTooLong, MissingExtra, ModelError, SettingsError
from ragstone.core.processors import processors
from ragstone.core.request import Request
from ragstone.services.model_families import resolve_name
from ragstone.services.reply_text import Habits, cleaned
from ragstone.settings.services import ModelSettings

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
_WINDOW = 8192
"""Tokens of the window if the settings leave it open: attention takes memory with its square."""
Event = str | Reply | ModelError
"""What the generating thread sends: pieces, then the reply or an error."""


class TransformersChat:
    """A model in this process. It writes one reply at a time; other calls wait.

    Args:
        name: as the settings have it: ``huggingface:`` and a name on the hub, a folder, or a shipped pair's name.
        settings: the sampling and the precision of the model.

    Raises:
        SettingsError: there is no such model, it cannot be downloaded, or it has no chat template.
    """

    def __init__(self, name: str, settings: ModelSettings) -> None:
        self.name = name
        self._settings = settings
        self._free = threading.Lock()
        place = resolve_name(name.removeprefix(PREFIX))
        folder = Path(place).expanduser()
        place = str(folder) if folder.is_dir() else place
        local = folder.is_dir()
        self._device = _device()
        torch.set_num_threads(max(1, processors() - 1))
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(place, local_files_only=local)
            self._model: Any = AutoModelForCausalLM.from_pretrained(
                place, local_files_only=local, dtype="auto", use_safetensors=True
            )
        except (OSError, ValueError, ImportError, RuntimeError) as error:
            first = str(error).strip().partition("\n")[0]
            raise SettingsError(f"respond.model.name is {name}, which transformers cannot load: {first}") from error
        if not self._tokenizer.chat_template:
            raise SettingsError(f"respond.model.name is {name}, which is not a chat model: it has no chat template")
        self._model = _placed(self._model, self._device, settings)
        wanted = settings.window_tokens or _WINDOW
        reach = getattr(self._model.config, "max_position_embeddings", wanted)
        self._window, self._habits = min(wanted, int(reach or wanted)), Habits()

    def __repr__(self) -> str:
        return f"TransformersChat({self.name} on {self._device})"

    def count(self, text: str) -> int:
        """Return the number of tokens of a text, by the model's tokenizer."""
        return len(self._tokenizer(text, add_special_tokens=False)["input_ids"])

    async def window(self) -> int:
        """Return the tokens of the context window."""
        return self._window

    def stream(
        self, messages: Sequence[Message], request: Request, form: type[BaseModel] | None = None
    ) -> AsyncGenerator[Piece]:
        """Yield the reply piece by piece, then the complete `Reply`; a form is not enforced, but nothing is sampled.

        Raises:
            ContextTooLong: the conversation is longer than the model's window.
            ModelError: the model fails.
        """
        del request  # a model in this process has no deadline and costs nothing
        return cleaned(self._pieces(messages, form), self.name, self._habits, form=form is not None)

    async def _pieces(self, messages: Sequence[Message], form: type[BaseModel] | None) -> AsyncGenerator[Piece]:
        sampled = self._settings.temperature > 0 and form is None
        loop, events, stop = asyncio.get_running_loop(), asyncio.Queue[Event](), threading.Event()

        def send(event: Event) -> None:
            if not stop.is_set():  # later the loop may be closed
                loop.call_soon_threadsafe(events.put_nowait, event)

        # Not a thread of a pool, because the program waits for those at its end.
        threading.Thread(target=self._write, args=(tuple(messages), sampled, send, stop), daemon=True).start()
        try:
            while True:
                event = await events.get()
                if isinstance(event, ModelError):
                    raise event
                yield event
                if isinstance(event, Reply):
                    return
        finally:
            stop.set()

    def _write(
        self, messages: Sequence[Message], sampled: bool, send: Callable[[Event], None], stop: threading.Event
    ) -> None:
        with self._free:
            if stop.is_set():
                return
            try:
                send(self._reply(messages, sampled, send, stop))
            except ModelError as error:
                send(error)
            except Exception as error:  # out of memory, or whatever a model's code raises
                first = str(error).strip().partition("\n")[0]
                send(ModelError(f"{self.name} failed: {type(error).__name__}: {first}"))

    def _reply(
        self, messages: Sequence[Message], sampled: bool, send: Callable[[Event], None], stop: threading.Event
    ) -> Reply:
        encoded = self._encoded(messages)
        length = int(encoded["input_ids"].shape[1])
        room = self._window - length
        if room < 1:
            raise ContextTooLong(
                f"{self.name}: the text has {length} tokens, but the model's window is {self._window}; lower"
                " respond.context_tokens, or raise respond.model.window_tokens",
                self._window,
            )
        pieces = _Pieces(self._tokenizer, send)
        with torch.inference_mode():
            written = self._model.generate(
                **encoded,
                max_new_tokens=min(self._settings.max_tokens, room),
                do_sample=sampled,
                temperature=self._settings.temperature if sampled else None,
                top_p=self._settings.top_p if sampled else None,
                top_k=0 if sampled else None,
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
        chat = [{"role": one.role, "content": one.content} for one in messages]
        options = {"add_generation_prompt": True, "return_dict": True, "return_tensors": "pt"}
        try:
            encoded = self._tokenizer.apply_chat_template(chat, **options)
        except Exception as error:  # some templates reject the system role with an error of their own
            if chat[0]["role"] != "system" or len(chat) < 2:
                raise ModelError(f"{self.name}: its chat template cannot write this conversation: {error}") from error
            first = {"role": chat[1]["role"], "content": f"{chat[0]['content']}\n\n{chat[1]['content']}"}
            encoded = self._tokenizer.apply_chat_template([first, *chat[2:]], **options)
        return {name: encoded[name].to(self._device) for name in ("input_ids", "attention_mask")}


class _Pieces(TextStreamer):
    """Sends words as soon as they are complete, and collects them."""

    def __init__(self, tokenizer: Any, send: Callable[[Event], None]) -> None:
        super().__init__(tokenizer, skip_prompt=True, skip_special_tokens=True)
        self._send = send
        self.text = ""

    def on_finalized_text(self, text: str, stream_end: bool = False) -> None:  # noqa: ARG002
        self.text += text
        if text:
            self._send(text)


class _Stopped(StoppingCriteria):
    """Stops the generation after the caller has left."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop

    def __call__(self, input_ids: Any, scores: Any, **_: Any) -> Any:  # noqa: ARG002
        return torch.full((input_ids.shape[0],), self._stop.is_set(), dtype=torch.bool, device=input_ids.device)


def _device() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def _placed(model: Any, device: str, settings: ModelSettings) -> Any:
    """Move the model to its device, in the configured or the best precision."""
    precision = settings.precision
    if precision == "auto":
        precision = "int8" if device == "cpu" else "float16"
    if precision == "int8":
        if device != "cpu":
            raise SettingsError("respond.model.precision=int8 is for machines without a GPU; leave it at auto")
        return _quantised(model).eval()
    if precision == "full":
        return model.to(device=device, dtype=torch.float32).eval()
    # bfloat16 weights of some families exceed the range of float16, so they are kept if the GPU supports them.
    own = model.dtype == torch.bfloat16 and settings.precision == "auto" and _has_bfloat16(device)
    return model.to(device=device, dtype=torch.bfloat16 if own else torch.float16).eval()


def _has_bfloat16(device: str) -> bool:
    return device == "cuda" and torch.cuda.is_bf16_supported()


def _quantised(model: Any) -> Any:
    """Quantise linear layers to 8 bits, the rest stays at 32. torch warns that this API will move."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for parent in list(model.modules()):
            for name, child in list(parent.named_children()):
                if type(child) is torch.nn.Linear:
                    one = torch.nn.Sequential(child.float())
                    small = torch.ao.quantization.quantize_dynamic(one, {torch.nn.Linear}, dtype=torch.qint8)
                    setattr(parent, name, small[0])
    return model.float()
