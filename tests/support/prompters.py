"""A person at the keyboard, for tests: answers from a list, and keeps what was asked."""

from __future__ import annotations

from dataclasses import dataclass, field

from specttui.host.prompts import HostKeyQuestion, SecretQuestion


@dataclass
class ScriptedPrompter:
    """Implements `specttui.host.prompts.Prompter`. Runs out of answers as if the user cancelled."""

    accepts_host_keys: bool = False
    answers: list[str | None] = field(default_factory=list)
    host_key_questions: list[HostKeyQuestion] = field(default_factory=list)
    questions: list[SecretQuestion] = field(default_factory=list)

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        """The scripted decision."""
        self.host_key_questions.append(question)
        return self.accepts_host_keys

    async def ask_secret(self, question: SecretQuestion) -> str | None:
        """The next scripted answer."""
        self.questions.append(question)
        return self.answers.pop(0) if self.answers else None
