import asyncio

from support.pilots import opened, program, screen_text, settle
from support.scripted_session import ScriptedSession
from support.scripted_snapshots import empty
from textual.widgets import Input

from specttui.host.prompts import HostKeyQuestion, SecretQuestion
from specttui.ui.prompter import ScreenPrompter
from specttui.ui.screens.ask import AskScreen
from specttui.ui.screens.confirm import ConfirmScreen

KEY = HostKeyQuestion("gpu-host", 22, "ssh-ed25519", "SHA256:abc[def]/ghi", "/home/me/.ssh/known_hosts")
SIZE = (80, 24)


def prompting():
    prompter = ScreenPrompter()
    return prompter, program(ScriptedSession(empty()), prompter=prompter)


async def test_the_fingerprint_is_shown_and_no_is_the_default():
    prompter, app = prompting()
    async with app.run_test(size=SIZE) as pilot:
        asked = asyncio.create_task(prompter.confirm_host_key(KEY))
        dialog = await opened(pilot, ConfirmScreen)
        assert dialog.focused.id == "no"
        assert "fingerprint  SHA256:abc[def]/ghi" in screen_text(pilot)
        assert "/home/me/.ssh/known_hosts" in screen_text(pilot)
        await pilot.press("enter")
        assert await asked is False


async def test_yes_and_escape():
    prompter, app = prompting()
    async with app.run_test(size=SIZE) as pilot:
        for key, answer in (("y", True), ("escape", False)):
            asked = asyncio.create_task(prompter.confirm_host_key(KEY))
            await opened(pilot, ConfirmScreen)
            await pilot.press(key)
            assert await asked is answer
            await settle(pilot, lambda: app.screen is app.main)


async def test_a_secret_is_hidden_and_taken_as_it_is():
    prompter, app = prompting()
    async with app.run_test(size=SIZE) as pilot:
        asked = asyncio.create_task(prompter.ask_secret(SecretQuestion("Login", "Password for [root]:")))
        dialog = await opened(pilot, AskScreen)
        assert dialog.query_one(Input).password
        await pilot.press(*"s q ", "enter")
        assert await asked == "s q "


async def test_a_secret_can_be_shown_be_empty_and_be_cancelled():
    prompter, app = prompting()
    async with app.run_test(size=SIZE) as pilot:
        for key, answer in (("enter", ""), ("escape", None)):
            asked = asyncio.create_task(prompter.ask_secret(SecretQuestion("Login", "Code", echo=True)))
            dialog = await opened(pilot, AskScreen)
            assert not dialog.query_one(Input).password
            await pilot.press(key)
            assert await asked == answer
            await settle(pilot, lambda: app.screen is app.main)


async def test_without_a_screen_nothing_is_accepted():
    prompter = ScreenPrompter()
    assert await prompter.confirm_host_key(KEY) is False
    assert await prompter.ask_secret(SecretQuestion("Login", "Password")) is None
