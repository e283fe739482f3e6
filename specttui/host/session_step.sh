# What every step needs: POSIX sh with coreutils or busybox. The script of the step follows, in one text with this:
#
#   sh -c THIS sh STEP PATH SESSION NONCE WHO TAKE_OVER [arguments of the step]
#
# Values come as arguments, never as script text. Answers `name=value` records, each ended by NUL; the record
# `data=` is followed by raw bytes to the end. A step that cannot be done answers `error=CODE`, exits with 10, and
# leaves the file as it was.

export LC_ALL=C
umask 077
step=$1 path=$2 session=$3 nonce=$4 who=$5 take_over=$6
shift 6

# A lock whose owner gave no sign of life for so long counts as left behind by a dead session.
stale_s=120
cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/specttui
line_end='
'

say() { printf '%s=%s\0' "$1" "$2"; }
say_journal() { text=$(cat -- "$1" && printf .); say journal "${text%.}"; }
fail() { say error "$1"; say detail "$2"; exit 10; }

sha() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum
  elif command -v shasum >/dev/null 2>&1; then shasum -a 256
  else openssl dgst -sha256 -r
  fi | cut -c1-64
}
sha_of() { sha <"$1"; }
mtime_of() { stat -c %Y -- "$1" 2>/dev/null || stat -f %m "$1"; }

# locate [GONE]: sets real, lock and the like; with GONE the path may be of something that is no longer there.
locate() {
  # The dot keeps line breaks at the end of a name, which $() would cut off.
  real=$(readlink -fn -- "$path" 2>/dev/null && printf .) || real=
  real=${real%.}
  [ -n "$real" ] || [ -z "${1-}" ] || real=$path
  [ -n "$real" ] || fail gone "$path"
  dir=${real%/*}
  [ -n "$dir" ] || dir=/
  # A name of its own for every step: one whose connection broke may still be running beside its repetition.
  temporary=$real.specttui-$session.$nonce.tmp
  key=$(printf %s "$real" | sha)
  case $key in ????????????????????????????????????????????????????????????????) ;; *) fail no_sha '' ;; esac
  lock=$cache/locks/$key
  journal=$cache/files/$key.$session
  # Where the cache folder cannot be written, the backup and the marker in the file must do.
  mkdir -p "$cache/locks" "$cache/files" 2>/dev/null && [ -w "$cache/locks" ] && [ -w "$cache/files" ] || journal=
}

# lock_state: sets owner, owner_who, age_s (since its last sign of life) and held_s (since it was taken); an
# unfinished lock counts from the age of its folder.
lock_state() {
  owner='' owner_who='' since='' taken=''
  if [ -r "$lock/owner" ]; then read -r owner since owner_who <"$lock/owner" || :; fi
  if [ -r "$lock/taken" ]; then read -r taken <"$lock/taken" || :; fi
  [ -n "$since" ] || since=$(mtime_of "$lock" 2>/dev/null) || since=0
  age_s=$(($(date +%s) - since))
  held_s=$(($(date +%s) - ${taken:-$since}))
}

lives() { [ "$age_s" -lt "$stale_s" ]; }

take_lock() {
  [ -n "$journal" ] || return 0
  if ! mkdir "$lock" 2>/dev/null; then
    lock_state
    if [ "$owner" != "$session" ]; then
      if [ "$take_over" != yes ] && lives; then refuse_lock; fi
      break_lock "$owner" || refuse_lock
    fi
  fi
  beat
  lock_state
  [ "$owner" = "$session" ] || refuse_lock
}

refuse_lock() {
  say owner "$owner"; say who "$owner_who"; say age_s "$age_s"; say held_s "$held_s"
  fail locked "$real"
}

# Two sessions may find the same stale lock: the one that moves away a lock of somebody else puts it back.
break_lock() {
  aside=$lock.$session
  rm -rf "$aside"
  mv "$lock" "$aside" 2>/dev/null || return 1
  moved=''
  if [ -r "$aside/owner" ]; then read -r moved _ <"$aside/owner" || :; fi
  if [ "$moved" != "$1" ]; then mv "$aside" "$lock" 2>/dev/null; return 1; fi
  rm -rf "$aside"
  mkdir "$lock" 2>/dev/null
}

# The file `taken` says since when, and what is locked: others find it from there.
beat() {
  [ -e "$lock/taken" ] || printf '%s\n%s' "$(date +%s)" "$real" >"$lock/taken"
  printf '%s %s %s\n' "$session" "$(date +%s)" "$who" >"$lock/owner.$session" &&
    mv -f "$lock/owner.$session" "$lock/owner"
}

release() {
  [ -d "$lock" ] || return 0
  lock_state
  [ "$owner" = "$session" ] && rm -rf "$lock"
  return 0
}

# say_around: what is there, ours or a dead session's.
say_around() {
  say resolved "$real"
  if [ -f "$real" ] && [ -r "$real" ]; then say sha256 "$(sha_of "$real")"; else say sha256 ''; fi
  for left in "$real".specttui-*; do
    [ -n "$real" ] && [ -e "$left" ] || continue
    say file "$left"
    say file_sha256 "$(sha_of "$left")"
    say file_mtime_s "$(mtime_of "$left")"
    say file_ctime_s "$(stat -c %Z -- "$left" 2>/dev/null || stat -f %c "$left")"
  done
  for record in "$cache/files/$key".*; do
    [ -r "$record" ] || continue
    case $record in *.new) continue ;; esac
    say_journal "$record"
  done
  if [ -d "$lock" ]; then
    lock_state
    say lock_folder "$lock"; say lock_owner "$owner"; say lock_who "$owner_who"
    say lock_age_s "$age_s"; say lock_held_s "$held_s"
    if lives; then say lock_lives yes; else say lock_lives no; fi
  fi
}

