# One step on a guarded file: POSIX sh with coreutils or busybox. Values come as arguments, never as script text.
#
#   sh -c THIS sh STEP PATH SESSION NONCE WHO TAKE_OVER [arguments of the step]
#
# Answers `name=value` records, each ended by NUL; the record `data=` is followed by raw bytes to the end. A step
# that cannot be done answers `error=CODE`, exits with 10, and leaves the file as it was. At every instant the
# file is whole: contents only ever change by renaming a complete, synced file over it.

export LC_ALL=C
umask 077
step=$1 path=$2 session=$3 nonce=$4 who=$5 take_over=$6
shift 6

# A lock whose owner gave no sign of life for so long counts as left behind by a dead session.
stale_s=120

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
facts() { stat -c '%u %g %a' -- "$1" 2>/dev/null || stat -f '%u %g %Lp' "$1"; }
mtime_of() { stat -c %Y -- "$1" 2>/dev/null || stat -f %m "$1"; }

locate() {
  # The dot keeps line breaks at the end of a name, which $() would cut off.
  real=$(readlink -fn -- "$path" 2>/dev/null && printf .) || real=
  real=${real%.}
  [ -n "$real" ] || fail gone "$path"
  dir=${real%/*}
  [ -n "$dir" ] || dir=/
  # A name of its own for every step: one whose connection broke may still be running beside its repetition.
  temporary=$real.specttui-$session.$nonce.tmp
  key=$(printf %s "$real" | sha)
  case $key in ????????????????????????????????????????????????????????????????) ;; *) fail no_sha '' ;; esac
  cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/specttui
  lock=$cache/locks/$key
  journal=$cache/files/$key.$session
  # Where the cache folder cannot be written, the backup and the marker in the file must do.
  mkdir -p "$cache/locks" "$cache/files" 2>/dev/null && [ -w "$cache/locks" ] && [ -w "$cache/files" ] || journal=
}

need_file() {
  [ -e "$real" ] || fail gone "$real"
  [ -f "$real" ] || fail not_a_file "$real"
  [ -r "$real" ] || fail unreadable "$real"
}

# lock_state: sets owner, owner_who, age_s; an unfinished lock counts from the age of its folder.
lock_state() {
  owner='' owner_who='' since=''
  if [ -r "$lock/owner" ]; then read -r owner since owner_who <"$lock/owner" || :; fi
  [ -n "$since" ] || since=$(mtime_of "$lock" 2>/dev/null) || since=0
  age_s=$(($(date +%s) - since))
}

take_lock() {
  [ -n "$journal" ] || return 0
  if ! mkdir "$lock" 2>/dev/null; then
    lock_state
    if [ "$owner" != "$session" ]; then
      if [ "$take_over" != yes ] && [ "$age_s" -lt "$stale_s" ]; then refuse_lock; fi
      break_lock "$owner" || refuse_lock
    fi
  fi
  beat
  lock_state
  [ "$owner" = "$session" ] || refuse_lock
}

refuse_lock() { say owner "$owner"; say who "$owner_who"; say age_s "$age_s"; fail locked "$real"; }

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

beat() {
  printf '%s %s %s\n' "$session" "$(date +%s)" "$who" >"$lock/owner.$session" &&
    mv -f "$lock/owner.$session" "$lock/owner"
}

# note STATE BEFORE NEW ORIGINAL BACKUP: what recovery needs, from any machine: while a replacement is under way
# the file hashes to BEFORE or to NEW. The path goes last, as it may hold newlines.
note() {
  [ -n "$journal" ] || return 0
  printf 'session=%s\nstate=%s\nbefore=%s\nnew=%s\noriginal=%s\nbackup=%s\ntime_s=%s\npath=%s' \
    "$session" "$1" "$2" "$3" "$4" "$5" "$(date +%s)" "$real" >"$journal.new" && mv -f "$journal.new" "$journal"
}

# write_temporary: from standard input, into a file that did not exist before, all of it on the disk.
write_temporary() {
  rm -f -- "$temporary"
  (set -C; : >"$temporary") || fail write "$temporary"
  if ! dd of="$temporary" bs=65536 conv=notrunc,fsync; then
    rm -f -- "$temporary"
    fail write "$temporary"
  fi
}

# same_attributes FILE: owner, group and mode must be the original's; lists and labels where cp can copy them.
same_attributes() {
  cp --attributes-only --preserve=all -- "$real" "$1" 2>/dev/null || :
  # shellcheck disable=SC2046 # three numbers, to be split
  set -- "$1" $(facts "$real")
  chown "$2:$3" "$1" 2>/dev/null || :
  chmod "$4" "$1" || :
  if [ "$(facts "$1")" != "$2 $3 $4" ]; then
    rm -f -- "$1"
    fail owner "$2:$3 $4"
  fi
}

# A folder is synced where the tool can do it, so that the rename outlives a power failure.
sync_folder() { sync -- "$dir" 2>/dev/null || :; }

# Python trusts whole seconds of mtime and the size: an edit within a second would run old bytecode.
remove_bytecode() {
  left=0
  for source in "$real" "$path"; do
    folder=${source%/*} name=${source##*/}
    [ "$folder" != "$source" ] || folder=.
    for compiled in "$folder/__pycache__/${name%.py}".*.pyc; do
      [ -e "$compiled" ] || continue
      rm -f -- "$compiled" 2>/dev/null || left=$((left + 1))
    done
  done
  say bytecode_left "$left"
}

step_read() {
  locate
  need_file
  # shellcheck disable=SC2046 # six numbers, to be split
  set -- $(stat -c '%u %g %a %s %Y %h' -- "$real" 2>/dev/null || stat -f '%u %g %Lp %z %m %l' "$real")
  [ "$4" -le 16777216 ] || fail too_big "$4"
  say resolved "$real"
  say uid "$1"; say gid "$2"; say mode "$3"; say mtime_s "$5"; say links "$6"
  say owner "$(stat -c %U -- "$real" 2>/dev/null || stat -f %Su "$real")"
  if [ -w "$real" ]; then say writable yes; else say writable no; fi
  if [ -w "$dir" ]; then say folder_writable yes; else say folder_writable no; fi
  say sha256 "$(sha_of "$real")"
  printf 'data=\0'
  cat -- "$real"
}

# back_up EXPECTED
step_back_up() {
  locate
  need_file
  take_lock
  backup=$real.specttui-$session.$(printf %.12s "$1").orig
  if [ -e "$backup" ]; then
    [ "$(sha_of "$backup")" = "$1" ] || fail backup_differs "$backup"
  else
    modified_s=$(mtime_of "$real")
    write_temporary <"$real"
    if [ "$(sha_of "$temporary")" != "$1" ]; then
      rm -f -- "$temporary"
      fail changed "$(sha_of "$real")"
    fi
    same_attributes "$temporary"
    touch -d "@$modified_s" -- "$temporary" 2>/dev/null || :
    if ! mv -f -- "$temporary" "$backup"; then
      rm -f -- "$temporary"
      fail write "$backup"
    fi
    sync_folder
  fi
  note backed-up "$1" "$1" "$1" "$backup"
  say backup "$backup"
}

# replace EXPECTED NEW ORIGINAL BACKUP MTIME: the new bytes come on standard input; an empty MTIME means now.
step_replace() {
  locate
  need_file
  take_lock
  now=$(sha_of "$real")
  if [ "$now" != "$2" ]; then
    [ "$now" = "$1" ] || fail changed "$now"
    if [ "$2" != "$3" ]; then
      [ -r "$4" ] && [ "$(sha_of "$4")" = "$3" ] || fail no_backup "$4"
    fi
    write_temporary
    if [ "$(sha_of "$temporary")" != "$2" ]; then
      rm -f -- "$temporary"
      fail cut_short "$real"
    fi
    same_attributes "$temporary"
    if [ -n "$5" ]; then touch -d "@$5" -- "$temporary" 2>/dev/null || :; else touch -- "$temporary"; fi
    note replacing "$1" "$2" "$3" "$4"
    now=$(sha_of "$real")
    if [ "$now" != "$1" ]; then
      rm -f -- "$temporary"
      fail changed "$now"
    fi
    if ! mv -f -- "$temporary" "$real"; then
      rm -f -- "$temporary"
      fail write "$real"
    fi
    sync_folder
  fi
  remove_bytecode
  now=$(sha_of "$real")
  [ "$now" = "$2" ] || fail read_back "$now"
  note replaced "$1" "$2" "$3" "$4"
  say sha256 "$now"
}

# inspect: what is there, ours or a dead session's.
step_inspect() {
  locate
  now_s=$(date +%s)
  say resolved "$real"
  if [ -f "$real" ] && [ -r "$real" ]; then say sha256 "$(sha_of "$real")"; else say sha256 ''; fi
  for left in "$real".specttui-*; do
    [ -e "$left" ] || continue
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
    say lock_owner "$owner"; say lock_who "$owner_who"; say lock_age_s "$age_s"
  fi
  say now_s "$now_s"
}

# fetch BACKUP: the bytes of a backup.
step_fetch() {
  [ -r "$1" ] || fail no_backup "$1"
  printf 'data=\0'
  cat -- "$1"
}

# clean ORIGINAL: the file holds the original again: remove what we and dead sessions left for its sake.
step_clean() {
  locate
  need_file
  take_lock
  [ "$(sha_of "$real")" = "$1" ] || fail changed "$(sha_of "$real")"
  for left in "$real".specttui-*.tmp; do
    [ ! -e "$left" ] || rm -f -- "$left" || fail write "$left"
  done
  for left in "$real".specttui-*.orig; do
    [ -e "$left" ] || continue
    if [ "$(sha_of "$left")" != "$1" ]; then say kept "$left"
    else rm -f -- "$left" || fail write "$left"
    fi
  done
  for record in "$cache/files/$key".*; do
    if [ -e "$record" ] && grep -q "^original=$1\$" "$record"; then rm -f -- "$record"; fi
  done
  remove_bytecode
  release
}

release() {
  [ -d "$lock" ] || return 0
  lock_state
  [ "$owner" = "$session" ] && rm -rf "$lock"
  return 0
}

# list: every record of a guarded file on this host; PATH is not used.
step_list() {
  cache=${XDG_CACHE_HOME:-${HOME:-/nonexistent}/.cache}/specttui
  for record in "$cache/files"/*; do
    [ -r "$record" ] || continue
    case $record in *.new) continue ;; esac
    say_journal "$record"
  done
  say now_s "$(date +%s)"
}

case $step in
  read | back_up | replace | inspect | fetch | clean | list) "step_$step" "$@" ;;
  beat) locate; take_lock ;;
  release) locate; release ;;
  bytecode) locate; remove_bytecode ;;
  *) fail step "$step" ;;
esac
exit 0
