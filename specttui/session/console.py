"""Asks a connection's questions in the terminal, for the commands without a screen."""

from __future__ import annotations

import asyncio
import getpass
import sys

from specttui.host.prompts import HostKeyQuestion, SecretQuestion
from specttui.session.printing import plain, say


class ConsolePrompter:
    """A `Prompter` on standard input and standard error; where nobody sits there, the answer is no."""

    async def confirm_host_key(self, question: HostKeyQuestion) -> bool:
        """Show the key's fingerprint; True for "yes" typed in full."""
        if not sys.stdin.isatty():
            return False
        say(
            f"The {question.key_type} key of {question.host}, port {question.port}, is not known.\n"
            f"Its fingerprint is {question.fingerprint}.",
            stream=sys.stderr,
        )
        answer = await asyncio.to_thread(input, "Accept it and remember it? Type yes or no: ")
        return answer.strip().lower() == "yes"

    async def ask_secret(self, question: SecretQuestion) -> str | None:
        """Ask without showing what is typed, unless the server wants it shown; None where nobody sits."""
        if not sys.stdin.isatty():
            return None
        ask = input if question.echo else getpass.getpass
        try:
            return await asyncio.to_thread(ask, plain(f"{question.title}: {question.prompt} "))
        except EOFError:
            return None
