"""The text of a `systemctl` that really starts and stops a scratch manager's units.

What is loaded changes with `daemon-reload` only, as in systemd. The user's manager is reached as the
real one, through the folder that `XDG_RUNTIME_DIR` names.
"""

from __future__ import annotations

PROGRAM = '''\
#!{python} -S
import glob, json, os, shlex, signal, socket, subprocess, sys, threading, time

root, home = {root!r}, {home!r}
words = sys.argv[1:]
with open(root + "/calls", "a") as calls:
    calls.write(json.dumps(words) + "\\n")
scope = "user" if words[:1] == ["--user"] else "system"
runtime = os.environ.get("XDG_RUNTIME_DIR", "")
if scope == "user":
    words = words[1:]
    if not runtime:
        sys.exit("Failed to connect to bus: $DBUS_SESSION_BUS_ADDRESS and $XDG_RUNTIME_DIR not defined")
    if not os.path.exists(runtime + "/systemd/private"):
        sys.exit("Failed to connect to bus: No medium found")
    kept_in = runtime + "/systemd/kept"
    paths = [home + "/.config/systemd/user.control", runtime + "/systemd/user.control",
             runtime + "/systemd/transient", home + "/.config/systemd/user", root + "/etc/systemd/user",
             runtime + "/systemd/user", root + "/run/systemd/user", "/usr/lib/systemd/user"]
    files = home + "/.config/systemd/user"
else:
    kept_in = root + "/state"
    paths = [root + "/etc/systemd/system.control", root + "/run/systemd/system.control",
             root + "/run/systemd/transient", root + "/etc/systemd/system", root + "/run/systemd/system",
             "/usr/lib/systemd/system"]
    files = root + "/etc/systemd/system"
verb = words[0]
options = [w for w in words[1:] if w.startswith("--") and w != "--"]
names = [w for w in words[1:] if not w.startswith("--")]

def kept(name, default):
    try:
        with open(kept_in + "/" + name) as file:
            return json.load(file)
    except OSError:
        return default

def keep(name, value):
    partial = kept_in + "/" + name + ".%d" % threading.get_native_id()
    with open(partial, "w") as file:
        json.dump(value, file)
    os.rename(partial, kept_in + "/" + name)

def load(unit):
    """Settings by name, lists where a setting may be repeated; an empty one resets it."""
    drop_ins = [f for p in paths for f in glob.glob(p + "/" + unit + ".d/*.conf")]
    settings = {{"DropInPaths": sorted(drop_ins, key=os.path.basename), "ExecStart": [], "Environment": []}}
    for file in [files + "/" + unit, *settings["DropInPaths"]]:
        for line in open(file).read().splitlines():
            name, equals, value = line.partition("=")
            if not equals or line.startswith("#"):
                continue
            if name in ("ExecStart", "Environment"):
                settings[name] = settings[name] + [value] if value else []
            else:
                settings[name] = value
    return settings

def loaded(unit):
    return kept("loaded-" + unit, None) or load(unit)

def alive(pid):
    try:
        return open("/proc/%d/stat" % pid).read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False

def state(unit):
    return kept("state-" + unit, {{"manager": 0, "main": 0, "restarts": 0, "failed": False}})

def journal(unit, connection):
    """What journald does with a unit's output: an entry for each line."""
    field = "_SYSTEMD_USER_UNIT" if scope == "user" else "_SYSTEMD_UNIT"
    for line in connection.makefile("rb"):
        text = line.rstrip(b"\\n").decode("utf-8", "surrogateescape")
        stamp = "s=%s;i=%x" % (root[-4:], time.time_ns())
        entry = json.dumps({{"__CURSOR": stamp, "MESSAGE": text, field: unit}}) + "\\n"
        fd = os.open(root + "/journal", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        os.write(fd, entry.encode())
        os.close(fd)

def output(unit, settings):
    """Where a unit's output goes: a file that it names, else the journal's socket."""
    kind, _, path = settings.get("StandardError", "journal").partition(":")
    if kind == "append":
        return open(path, "ab")
    ours, theirs = socket.socketpair()
    threading.Thread(target=journal, args=(unit, ours), daemon=True).start()
    return theirs

def run(unit):
    """What systemd is to one unit: starts its command, and starts it again as `Restart` says."""
    settings = loaded(unit)
    env = {{"PATH": "/usr/bin:/bin", "INVOCATION_ID": os.urandom(8).hex(),
           {variable!r}: scope + "/" + unit, {root_variable!r}: root}}
    for item in settings["Environment"]:
        env.update(word.partition("=")[::2] for word in shlex.split(item))
    log = output(unit, settings)
    now = {{"manager": os.getpid(), "main": 0, "restarts": 0, "failed": False}}
    while True:
        process = subprocess.Popen(shlex.split(settings["ExecStart"][-1]), env=env, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log, start_new_session=True)
        keep("state-" + unit, dict(now, main=process.pid))
        code = process.wait()
        again = settings.get("Restart") == "always" or (settings.get("Restart") == "on-failure" and code)
        if os.path.exists(kept_in + "/stopping-" + unit) or not again:
            time.sleep(0.2)  # the last words reach the journal
            keep("state-" + unit, dict(now, manager=0, failed=code != 0))
            return
        now["restarts"] += 1
        time.sleep(float(settings.get("RestartSec", "0.1")))
        if os.path.exists(kept_in + "/stopping-" + unit):
            keep("state-" + unit, dict(now, manager=0))
            return

if verb == "show" and "--property=UnitPath" in options:
    print(" ".join(paths))
elif verb == "show":
    unit, now, settings = names[-1], state(names[-1]), loaded(names[-1])
    active = "active" if alive(now["main"]) and now["manager"] else "failed" if now["failed"] else "inactive"
    print("Id=" + unit, "ActiveState=" + active, "Result=success", "User=" + settings.get("User", ""),
          "Transient=" + settings.get("Transient", "no"), "NRestarts=%d" % now["restarts"],
          "MainPID=%d" % (now["main"] if active == "active" else 0),
          "DropInPaths=" + " ".join(settings["DropInPaths"]), sep="\\n")
elif verb == "daemon-reload":
    for file in glob.glob(files + "/*.service"):
        unit = os.path.basename(file)
        keep("loaded-" + unit, load(unit))
elif verb in ("start", "restart", "stop"):
    unit, stopping = names[-1], kept_in + "/stopping-" + names[-1]
    if verb in ("stop", "restart"):
        open(stopping, "w").close()
        now = state(unit)
        if alive(now["main"]):
            os.kill(now["main"], signal.SIGTERM)
        while alive(now["manager"]):
            time.sleep(0.02)
    if verb in ("start", "restart"):
        if os.path.exists(stopping):
            os.remove(stopping)
        again = ["--user"] if scope == "user" else []
        subprocess.Popen([sys.argv[0], *again, "run", unit], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        while not alive(state(unit)["main"]):
            time.sleep(0.02)
elif verb == "run":
    run(names[-1])
'''
