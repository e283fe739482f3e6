"""The text of a `journalctl` that reads a scratch journal, with the manners of the real one.

journalctl(1): following begins with the last ten entries unless `--no-tail`, `--lines`, or a cursor says
otherwise; fields of more than 4096 bytes are null in JSON without `--all`; `--unit` takes system units,
`--user-unit` the user's; an account outside of the journal's groups sees its own entries only.
"""

from __future__ import annotations

PROGRAM = """\
#!{python} -S
import argparse, json, os, sys, time

root = {root!r}
with open(root + "/journal-calls", "a") as calls:
    calls.write(json.dumps(sys.argv[1:]) + "\\n")
parser = argparse.ArgumentParser(prog="journalctl", allow_abbrev=False)
parser.add_argument("-f", "--follow", action="store_true")
parser.add_argument("-a", "--all", action="store_true")
parser.add_argument("-n", "--lines")
parser.add_argument("--no-tail", action="store_true")
parser.add_argument("--no-pager", action="store_true")
parser.add_argument("-o", "--output", default="short")
parser.add_argument("--output-fields", default="")
parser.add_argument("--after-cursor")
parser.add_argument("-u", "--unit")
parser.add_argument("--user-unit")
args = parser.parse_args()
field, unit = ("_SYSTEMD_UNIT", args.unit) if args.unit else ("_SYSTEMD_USER_UNIT", args.user_unit)
own_only = os.path.exists(root + "/own-entries-only")
if own_only:
    print("Hint: You are currently not seeing messages from other users and the system.\\n"
          "      Users in groups 'adm', 'systemd-journal' can see all messages.\\n"
          "      Pass -q to turn off this notice.", file=sys.stderr, flush=True)

def entries():
    try:
        with open(root + "/journal") as journal:
            found = [json.loads(line) for line in journal if line.endswith("\\n")]
    except FileNotFoundError:
        return []
    return [e for e in found if e.get(field) == unit and not (own_only and "_SYSTEMD_UNIT" in e)]

def encoded(value):
    data = value.encode("utf-8", "surrogateescape")
    if len(data) > 4096 and not args.all:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return list(data)
    return text if all(c >= " " or c in "\\t\\n" for c in text) else list(data)

def show(entry):
    if args.output == "cat":
        print(entry["MESSAGE"], flush=True)
        return
    shown = args.output_fields.split(",") if args.output_fields else entry.keys()
    chosen = {{name: encoded(value) for name, value in entry.items() if name in shown}}
    meta = {{"__CURSOR": entry["__CURSOR"], "_BOOT_ID": "b", "__REALTIME_TIMESTAMP": "1"}}
    print(json.dumps(dict(meta, **chosen)), flush=True)

now = entries()
if args.after_cursor is not None:
    places = [e["__CURSOR"] for e in now]
    begin = places.index(args.after_cursor) + 1 if args.after_cursor in places else 0
elif args.lines is not None and args.lines != "all":
    begin = max(0, len(now) - int(args.lines))
else:
    begin = max(0, len(now) - 10) if args.follow and not args.no_tail else 0
while True:
    for entry in now[begin:]:
        show(entry)
    begin = max(begin, len(now))
    if not args.follow:
        break
    time.sleep(0.05)
    now = entries()
"""
