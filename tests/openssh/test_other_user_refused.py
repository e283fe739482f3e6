"""A server of another account that cannot be restarted: said beforehand, and nothing is stopped."""

from __future__ import annotations

import pytest
from support.accounts import PASSWORD, Account
from support.fake_sglang import FakeServer, alive
from support.foreign_desk import ASKING, FREE, Desk, all_of
from support.foreign_server import server_of

from specttui.errors import LaunchError, ServerStartError
from specttui.host.found import FoundServer
from specttui.host.managers import NO_COMMANDS, ManagerCommands
from specttui.host.managers.choose import Ways
from specttui.host.managers.way import WayOptions
from specttui.session.launches import Launches
from specttui.session.restart_advice import RestartAdvice

pytestmark = pytest.mark.openssh


async def refused(desk: Desk, server: FakeServer, *, ask: bool = False) -> tuple[FoundServer, LaunchError]:
    """What a restart is refused with, before anything of the server is stopped."""
    found = await desk.find(server, ask=ask)
    restart = desk.control.restart(found.manager, found.launch, port=0, label="", base=None)
    with pytest.raises(LaunchError) as error:
        await restart.prepare()
    with pytest.raises(LaunchError):
        await restart.stop(found, desk.steps.append)
    assert [alive(pid) for pid in all_of(server)] == [True] * 4
    assert desk.steps == []
    return found, error.value


async def test_an_account_that_may_not_use_sudo(engineer: Account, owner: Account):
    desk = Desk(engineer, PASSWORD)
    with server_of(owner, engineer.folder / "server") as server:
        found, error = await refused(desk, server, ask=True)
    assert "This account may not use sudo" in found.obstacles[0].text
    assert error.title == f"The server runs as {owner.name}, and this account is {engineer.name}"
    assert error.cause.startswith("sudo could not be used: This account may not use sudo for this.")
    assert error.remedy == (
        f"Log in as {owner.name} or root, or give the host's profile its own stop and start commands "
        "(docs/restarting.md)."
    )
    assert PASSWORD not in f"{error}{found.obstacles}"
    assert desk.secrets_told() == []


async def test_a_password_that_is_not_given(engineer: Account, owner: Account):
    engineer.may(ASKING)
    desk = Desk(engineer)
    with server_of(owner, engineer.folder / "server") as server:
        _, error = await refused(desk, server)
    assert error.cause == "No password was given."
    assert error.remedy.startswith("Give your password when you are asked, log in as ")


async def test_a_profile_without_sudo(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer, mode="no")
    with server_of(owner, engineer.folder / "server") as server:
        found, error = await refused(desk, server)
    assert found.obstacles[0].remedy.startswith("Set `sudo` in the host's profile, or log in as ")
    assert error.cause == "sudo is not used on this host."
    assert not [command for command in desk.remote.commands if "sudo" in command]


async def test_a_folder_that_the_owner_cannot_enter_any_more(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer)
    with server_of(owner, engineer.folder / "server") as server:
        found = await desk.find(server)
        launch = found.launch.model_copy(update={"cwd": str(engineer.home)})
        restart = desk.control.restart(found.manager, launch, port=0, label="", base=None)
        with pytest.raises(LaunchError) as error:
            await restart.prepare()
        assert [alive(pid) for pid in all_of(server)] == [True] * 4
    assert error.value.title == f"The server cannot be started as {owner.name}"
    assert error.value.cause == f"{engineer.home} cannot be entered"


async def test_the_confirm_screen_says_it_and_a_start_command_of_the_profile_overrides_it(
    engineer: Account, owner: Account
):
    desk = Desk(engineer)
    with server_of(owner, engineer.folder / "server") as server:
        found = await desk.find(server)
    launches = Launches()
    launches.found(found.launch, None, "0.5.12")
    diff = launches.edited(())

    def advice(commands: ManagerCommands) -> RestartAdvice:
        ways = Ways(desk.remote, commands, WayOptions(), desk.sudo)
        return RestartAdvice(desk.remote, launches, ways, lambda: found.obstacles)

    ours, own = advice(NO_COMMANDS), advice(ManagerCommands(start=("/opt/start",)))
    assert ours.of(diff, found.manager).errors == (str(found.obstacles[0]),)
    with pytest.raises(LaunchError) as error:
        await ours.check(diff, retry_hung=False)
    assert error.value.cause == found.obstacles[0].text
    assert error.value.remedy.startswith("Look again (f5) and give your password for sudo")
    assert own.of(diff, found.manager).errors == ()
    await own.check(diff, retry_hung=False)


async def test_a_sudo_that_fails_after_the_stop_is_a_failed_start(engineer: Account, owner: Account):
    engineer.may(FREE)
    desk = Desk(engineer)
    with server_of(owner, engineer.folder / "server") as server:
        found = await desk.find(server)
        restart = desk.control.restart(found.manager, found.launch, port=0, label="", base=None)
        await restart.prepare()
        engineer.may("")
        with pytest.raises(ServerStartError) as error:
            await restart.start(None, lambda _: None)
    assert error.value.title == f"The server could not be started as {owner.name}"
    assert error.value.remedy.startswith("No server runs.")
