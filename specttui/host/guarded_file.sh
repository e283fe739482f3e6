# One step on a guarded file. At every instant the file is whole: contents only ever change by renaming a complete,
# synced file over it. session_step.sh goes before this.

facts() { stat -c '%u %g %a' -- "$1" 2>/dev/null || stat -f '%u %g %Lp' "$1"; }

need_file() {
  [ -e "$real" ] || fail gone "$real"
  [ -f "$real" ] || fail not_a_file "$real"
  [ -r "$real" ] || fail unreadable "$real"
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

# inspect: changes nothing.
step_inspect() {
  locate
  say_around
  say now_s "$(date +%s)"
}

# adopt: go on with what a dead session left: its lock becomes ours; half-written files are of no use to anybody.
step_adopt() {
  locate
  need_file
  take_lock
  remove_temporaries
  say_around
  say now_s "$(date +%s)"
}

remove_temporaries() {
  for left in "$real".specttui-*.tmp; do
    [ ! -e "$left" ] || rm -f -- "$left" || fail write "$left"
  done
}

# fetch BACKUP: the bytes of a backup.
step_fetch() {
  [ -r "$1" ] || fail no_backup "$1"
  printf 'data=\0'
  cat -- "$1"
}

# is_one_of SOUGHT EACH...
is_one_of() {
  sought=$1
  shift
  for each in "$@"; do [ "$each" != "$sought" ] || return 0; done
  return 1
}

# clean ORIGINAL MISTAKEN...: the file holds the original again: remove what we and dead sessions left for its sake,
# also what one took for the original when it was another's change.
step_clean() {
  locate
  need_file
  [ "$(sha_of "$real")" = "$1" ] || fail changed "$(sha_of "$real")"
  take_lock
  [ "$(sha_of "$real")" = "$1" ] || fail changed "$(sha_of "$real")"
  remove_temporaries
  for left in "$real".specttui-*.orig; do
    [ -e "$left" ] || continue
    if is_one_of "$(sha_of "$left")" "$@"; then rm -f -- "$left" || fail write "$left"
    else say kept "$left"
    fi
  done
  for record in "$cache/files/$key".*; do
    [ -e "$record" ] || continue
    if is_one_of "$(sed -n 's/^original=//p' "$record" | head -n 1)" "$@"; then rm -f -- "$record"; fi
  done
  remove_bytecode
  release
}

case $step in
  read | back_up | replace | inspect | fetch | clean | adopt) "step_$step" "$@" ;;
  beat) locate; take_lock ;;
  release) locate gone; release ;;
  bytecode) locate; remove_bytecode ;;
  *) fail step "$step" ;;
esac
exit 0
